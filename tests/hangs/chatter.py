"""What a program says while it does something that takes its time on a busy machine: a process of its own says it,
because whoever imports PaddlePaddle cannot."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def chatter(words: str) -> Iterator[None]:
    with subprocess.Popen(["sh", "-c", 'while echo "$0"; do sleep 2; done', words]) as speaker:
        try:
            yield
        finally:
            speaker.kill()
