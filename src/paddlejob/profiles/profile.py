"""One program: its regular expressions, and what the numbers count that they find. A file of its name has them as data.

Groups are named step, total, epoch, epochs, percent, loss, speed (steps a second), cost (seconds a step) and eta; any
other is a metric. In a file, {number} and {whole} stand for numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import msgspec

from paddlejob.api import patterns
from paddlejob.api.spec import ProfileName, ProgressPolicy

NUMBER = r"(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:nan|inf))"
WHOLE = r"\d[\d,]*"

Counts = Literal["run", "epoch", "either"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    lines: tuple[str, ...]
    """In each line the first that is found counts; it may tell only a part, and lines after it the rest."""
    words: tuple[str, ...] = ()
    """A line with none of these is none of this program's: nothing else need be looked for in it."""
    loss: str = ""
    """Where else in such a line a loss may be."""
    no_training: tuple[str, ...] = ()
    """Lines that tell steps of something else, and say so."""
    pause: str = ""
    resume: str = ""
    """Lines between which steps are told of something else, such as an evaluation."""
    counts: Counts = "run"
    """What step and total count: the whole run, or each epoch anew; or it has to be found out."""
    last_step: bool = False
    """Whether the last step of every epoch is told: then it tells how many an epoch has."""
    first_epoch: int = 1
    first_step: int = 1
    """How the first of all steps is numbered when it is told; done by then."""


class Compiled:
    """A profile, ready to be matched."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._lines = [patterns.compiled(one) for one in profile.lines]
        self._no_training = [patterns.compiled(one) for one in profile.no_training]
        self._loss, self._pause, self._resume = (
            patterns.compiled(one) if one else None for one in (profile.loss, profile.pause, profile.resume)
        )

    def may_know(self, line: str) -> bool:
        """Whether it is worth looking. To see that it is not costs next to nothing."""
        return not self.profile.words or any(word in line for word in self.profile.words)

    def turns(self, line: str) -> bool | None:
        """Whether it goes on with something else from here, or with the training; None: as before."""
        if self._pause is not None and self._pause.search(line):
            return True
        return False if self._resume is not None and self._resume.search(line) else None

    def find(self, line: str) -> dict[str, str] | None:
        """By the name of the group; None if this program does not print such lines, or they tell nothing."""
        for one in self._lines:
            if (match := one.search(line)) is not None:
                if any(other.search(line) for other in self._no_training):
                    return None
                found = {name: text for name, text in match.groupdict().items() if text is not None}
                if self._loss is not None and "loss" not in found and (also := self._loss.search(line)) is not None:
                    found |= {name: text for name, text in also.groupdict().items() if text is not None}
                return found or None
        return None


@cache
def profile(name: ProfileName) -> Compiled:
    text = files(__package__).joinpath(f"{name}.yaml").read_text("utf-8")
    import yaml  # noqa: PLC0415 - only who reads profiles pays for it

    read = msgspec.convert(yaml.safe_load(text), Profile)
    whole = tuple(_filled_in(one) for one in read.lines)
    return Compiled(msgspec.structs.replace(read, lines=whole, loss=_filled_in(read.loss)))


def profiles() -> tuple[Compiled, ...]:
    """All of them, the most particular first: a line that several know is for the first of these."""
    return tuple(profile(name) for name in get_args(ProfileName))


def own(pattern: str) -> Compiled:
    """Of a user's regular expression; raises `ValueError` if it is none."""
    return Compiled(Profile(lines=(pattern,), counts="either"))


def asked(policy: ProgressPolicy | None) -> Sequence[Compiled]:
    """By what a job wants to be read; raises `ValueError` if that is no pattern."""
    if policy is not None and policy.pattern is not None:
        return (own(policy.pattern),)
    return (profile(policy.profile),) if policy is not None and policy.profile is not None else profiles()


def _filled_in(pattern: str) -> str:
    return pattern.replace("{number}", NUMBER).replace("{whole}", WHOLE)
