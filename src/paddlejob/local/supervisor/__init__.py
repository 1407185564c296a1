"""All that is loaded in the supervisor's process. It imports nothing else of ours and next to nothing of Python's.

Every run waits for its start, and every container begins as a fork of it. A contract in pyproject.toml says what it may
import.
"""
