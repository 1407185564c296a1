"""Environments in which the package is installed for real: with PaddlePaddle 2.6, with 3.x, and without.

What takes long (Paddle, our dependencies) is kept in the user's cache. A test gets a copy of it, installs our wheel as
a user does, and throws it away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.environments import PADDLE, PADDLE_3, python_of
from tools.installer import copy, install

RELEASES = (PADDLE, PADDLE_3, None)


@contextmanager
def environment(release: str | None, wheel: Path) -> Iterator[Path]:
    """A fresh environment in which this wheel is installed, beside PaddlePaddle unless None; gone afterwards."""
    source = python_of(f"sdk-{release or 'none'}").parents[1]
    with tempfile.TemporaryDirectory(prefix="run-", dir=source.parent) as place:
        made = Path(place) / "env"
        copy(source, made)
        install(made, wheel)
        yield made
