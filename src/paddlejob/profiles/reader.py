"""From lines to readings: what one line tells, together with what the lines before it have told.

Owns what is remembered between lines, such as the epoch that a program names once. Where numbers could mean two things,
none is told: no progress is better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeVar

from paddlejob.core import Reading
from paddlejob.profiles.profile import Compiled
from paddlejob.profiles.values import duration, number, sane, whole

T = TypeVar("T")
TOLD = {"step", "total", "epoch", "epochs", "percent", "loss", "speed", "cost", "eta"}
MOST_METRICS = 8
# Of a name in a user's own pattern.
LONGEST_NAME = 40


class Reader:
    """Of one life of one container. `candidates`: the programs that it may run, the most particular first."""

    def __init__(self, candidates: Sequence[Compiled]) -> None:
        self._candidates = candidates
        self._names_epochs = False
        self._first_epoch: int | None = None
        self._counts: Literal["run", "epoch"] | None = None
        self.forget()

    def forget(self) -> None:
        """Lines were missed: what stood in them is not known any more. How the program counts is."""
        self._epoch: int | None = None
        self._epochs: int | None = None
        self._total: int | None = None
        self._before: tuple[int, int] | None = None
        self._paused: bool | None = None

    def read(self, line: str, at: datetime) -> Reading | None:
        for place, program in enumerate(self._candidates):
            if not program.may_know(line):
                continue
            self._paused = _or(program.turns(line), self._paused)
            if self._paused:
                return None
            found = program.find(line)
            # Of a heading alone, such as an epoch, nobody knows yet which program has printed it.
            if found is not None and (told := self._reading(program, found, at)) is not None:
                self._candidates = self._candidates[: place + 1]  # nothing less particular from now on
                return told
        return None

    def _reading(self, program: Compiled, found: dict[str, str], at: datetime) -> Reading | None:
        self._note_epoch(program, whole(found.get("epoch")))
        self._epochs = _or(whole(found.get("epochs")), self._epochs)
        if not {"step", "epoch", "percent", "loss"} & found.keys():
            self._total = _or(whole(found.get("total")), self._total)  # a heading
            return None
        step, total = self._place(program, found)
        if program.profile.last_step:
            self._learn_total(step)
        loss, cost = number(found.get("loss")), number(found.get("cost"))
        if step is None and "loss" not in found:
            return None
        return Reading(
            at=at,
            step=step,
            total=total,
            epoch=self._epoch,
            epochs=self._epochs,
            loss=loss,
            diverged=loss is None and "loss" in found,
            metrics=_metrics(found),
            speed=number(found.get("speed")) or (1 / cost if cost and cost > 0 else None),
            eta=duration(found.get("eta")),
        )

    def _note_epoch(self, program: Compiled, epoch: int | None) -> None:
        if epoch is None:
            return
        self._names_epochs = True
        if self._first_epoch is None or epoch == 0:
            self._first_epoch = min(epoch, program.profile.first_epoch)  # many count from 0, whatever we know
        self._epoch = epoch - self._first_epoch + 1

    def _place(self, program: Compiled, found: dict[str, str]) -> tuple[int | None, int | None]:
        """Steps done and to do, over all epochs, as far as they can be told."""
        if "percent" in found:
            percent = number(found["percent"])
            return (int(percent), 100) if percent is not None and 0 <= percent <= 100 else (None, None)
        counts, step, total = program.profile.counts, whole(found.get("step")), whole(found.get("total"))
        if "step" not in found:
            return self._epochs_alone(found) if counts == "either" else (None, None)
        if step is None:
            return None, None
        step += 1 - program.profile.first_step
        total = _or(total, self._total)
        if total is not None and step > total:
            return None, None
        if counts == "either":
            counts = self._judged(step, total)
        if counts == "run":
            return step, total
        if counts == "either" or self._epoch is None or total is None or not self._is_epoch(self._epoch):
            return None, None
        return sane((self._epoch - 1) * total + step), sane(self._epochs * total) if self._epochs else None

    def _learn_total(self, step: int | None) -> None:
        """From the last step of the epoch before."""
        epoch, before = self._epoch, self._before
        if epoch is not None and self._epochs and before is not None and before[0] == epoch - 1 > 0:
            whole_epochs = before[1] % before[0] == 0
            self._total = sane(self._epochs * (before[1] // before[0])) if whole_epochs else None
        self._before = None if epoch is None or step is None else (epoch, step)

    def _is_epoch(self, epoch: int) -> bool:
        return 1 <= epoch <= (self._epochs or epoch)

    def _epochs_alone(self, found: dict[str, str]) -> tuple[int | None, int | None]:
        """Where no step was ever told. An epoch that has a loss already is over."""
        known = self._counts is not None or self._before is not None
        if known or self._epoch is None or self._epochs is None or not self._is_epoch(self._epoch):
            return None, None
        return self._epoch - (0 if "loss" in found else 1), self._epochs

    def _judged(self, step: int, total: int | None) -> Literal["run", "epoch", "either"]:
        """Whether steps go on from one epoch to the next: by how they fit the epochs."""
        if self._epoch is None and not self._names_epochs:
            return "run"
        if self._epochs == 1:
            return "run"
        if self._counts is None and self._epoch is not None and total:
            goes_on = self._before is not None and self._epoch > self._before[0]
            if self._epochs and not self._epoch - 1 <= step / total * self._epochs <= self._epoch:
                self._counts = "epoch"
            elif goes_on and self._before is not None:
                self._counts = "run" if step > self._before[1] else "epoch"
            self._before = self._epoch, step
        return self._counts or "either"


def _metrics(found: dict[str, str]) -> dict[str, float]:
    values = ((name, number(text)) for name, text in sorted(found.items()) if name not in TOLD)
    kept = [(name[:LONGEST_NAME], value) for name, value in values if value is not None]
    return dict(kept[:MOST_METRICS])


def _or(new: T | None, old: T | None) -> T | None:
    return old if new is None else new
