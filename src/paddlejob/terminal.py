"""What pods print, made safe for a person's terminal: text, and colours where they are wanted; nothing else.

A pod may print whatever it likes: cursor movements, a cleared screen, a new window title, another answer to a question
that nobody asked. Nothing of that may reach the terminal of whoever looks at its output.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"""
    (?P<colour> \x1b\[ [0-9;:]* m )
    | (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?                                # any other control sequence
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] ) .*? (?: \x07 | \x1b\\ | \x9c | \Z )  # a string for the terminal itself
    | \x1b [ -/]* [0-~]?
    | [\x00-\x1f\x7f-\x9f\u2028\u2029]
    """,
    re.VERBOSE | re.DOTALL,
)


def newest(line: str) -> str:
    """Of a line that was written over and over, as a progress bar does it, what stood there last.

    >>> newest("10%\\r20%\\r")
    '20%'
    """
    if "\r" not in line:
        return line
    return next((state for state in reversed(line.split("\r")) if state.strip()), "")


def plain(line: str) -> str:
    """One line without any control character; a tab becomes spaces.

    >>> plain("\\x1b[2J\\x1b[31mred\\x1b[0m\\tand\\x07 loud")
    'red     and loud'
    """
    return _cleaned(line, "")


def coloured(line: str) -> str:
    """The same, but colours (SGR) stay: for a terminal only.

    >>> coloured("\\x1b[2J\\x1b[31mred\\x1b[0m")
    '\\x1b[31mred\\x1b[0m'
    """
    return _cleaned(line, r"\g<colour>")


def lines(text: str) -> list[str]:
    """Several lines, each plain, and each as it stood last."""
    return [plain(line) for line in text.rstrip("\n").split("\n")] if text else []


def _cleaned(line: str, kept: str) -> str:
    line = newest(line)
    return line if line.isprintable() else _SEQUENCE.sub(kept, line.expandtabs())
