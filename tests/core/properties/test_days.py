"""Simulated days of training: no uneven day is taken for a hang, and a training that stops is told in time.

Steps last unevenly; programs warm up, evaluate and save for long, at the ends of epochs or every so many steps; they
log every few steps only; whoever listens does so now and then, and sometimes in vain. What a day may hold is what
docs/failures.md says: ordinary steps differ by a factor of less than three, and what comes for the first time comes at
the end of an epoch or at a round step.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from datetime import datetime, timedelta

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddlejob.api import HangPolicy, Job, Mark, Progress
from paddlejob.core import Observed, observe
from paddlejob.core.hang import hang_listens, hang_looked_at, watched
from paddlejob.core.observe import Listening, Reading, Said
from paddlejob.core.pauses import FACTOR, LEAST, PATIENCE, PERIODS, SHORTEST_PERIOD
from paddlejob.core.times import moment, timestamp
from tests.builders import NOW, a_job, pods_of
from tests.core.strategies import EXAMPLES

A_DAY = 24 * 3600.0
KEPT = 64
periods = st.sampled_from([0, *(one for one in PERIODS if SHORTEST_PERIOD <= one <= 5000)])


class Program(msgspec.Struct, frozen=True):
    """How one program trains. Times in seconds."""

    seed: int
    step: float
    logs_every: int
    warm_up: float
    evaluates_every: int
    evaluation: float
    saves_every: int
    save: float
    epoch: int
    """Steps; 0: it has none, and does not know its end."""
    between_epochs: float

    def told(self, until: float) -> list[tuple[float, int]]:
        """When it tells which step."""
        dice, at, done, lines = random.Random(self.seed), self.warm_up, 0, []
        while at < until:
            now, done = done, done + self.logs_every
            at += self.logs_every * self.step * dice.uniform(0.6, 1.7)
            for every, pause in (
                (self.evaluates_every, self.evaluation),
                (self.saves_every, self.save),
                (self.epoch, self.between_epochs),
            ):
                if every and done // every > now // every:
                    # What comes between two lines is part of the pause between them.
                    at += pause * dice.uniform(0.6, 1.7)
            lines.append((at, done))
        return lines


programs = st.builds(
    Program,
    seed=st.integers(0, 2**32),
    step=st.floats(0.05, 30),
    logs_every=st.integers(1, 50),
    warm_up=st.floats(0, 3600),
    evaluates_every=periods,
    evaluation=st.floats(0, 1000),
    saves_every=periods,
    save=st.floats(0, 300),
    epoch=st.integers(0, 2000),
    between_epochs=st.floats(0, 1000),
).filter(lambda one: one.step * one.logs_every >= 5)


class Watching:
    """One worker that runs a program, and somebody who listens to it every `pause` seconds, as an operator would."""

    def __init__(self, program: Program, pause: float, deaf: random.Random | None) -> None:
        told = program.told(A_DAY)
        self.lines, steps = [at for at, _ in told], [step for _, step in told]
        total = program.epoch * (steps[-1] // program.epoch + 2) if program.epoch and steps else None
        epochs = total // program.epoch if total else None
        self.readings = [
            Reading(at=self.time(at), step=step, total=total, epochs=epochs)
            for at, step in zip(self.lines, steps, strict=True)
        ]
        self.pause, self._deaf = pause, deaf
        self.job: Job = a_job().asking(hang=HangPolicy()).in_phase("Running").build()
        self._pods = [one.running().build() for one in pods_of(self.job).values()]
        self._said: Said | None = None

    def time(self, at: float) -> datetime:
        return NOW + timedelta(seconds=at)

    def look(self, at: float, stopped: float) -> float | None:
        """Listen and look; the moment of the next look, if the plan wants one."""
        heard = bisect_right(self.lines, min(at, stopped))
        readings = tuple(self.readings[max(0, heard - KEPT) : heard])
        changed = readings[-1].at if readings else None
        if self._deaf is not None and self._deaf.random() < 0.2:
            before = self._said or Said(at=self.time(at))
            self._said = replace(before, at=self.time(at), error="the kubelet does not answer")
        else:
            self._said = Said(at=self.time(at), changed=changed, lines=("a line",), readings=readings)
        if readings and self.job.status.progress is None:
            begun = Mark(step=readings[0].step or 0, at=timestamp(readings[0].at))
            self.job = replace(self.job, status=replace(self.job.status, progress=Progress(begun=begun)))
        seen = self.seen()
        self.job = replace(self.job, status=watched(self.job, self.job.status, seen))
        assert not hang_listens(self.job, seen, self.time(at)) or self._deaf is not None or self.hangs
        wakes = hang_looked_at(self.job, self.job.status, seen, self.time(at))
        return None if wakes is None else (wakes - NOW).total_seconds()

    def seen(self) -> Observed:
        found = observe(self.job, self._pods)
        said = {} if self._said is None else {self._pods[0].metadata.uid: self._said}
        return replace(found, said=said, listening=Listening(every=timedelta(seconds=self.pause)))

    @property
    def hangs(self) -> bool:
        return self.job.status.hang is not None and self.job.status.hang.since is not None

    def until(self, end: float, stopped: float = A_DAY) -> float | None:
        """When it was told to hang, if it was; looks are further apart while nothing can happen."""
        at, regular = 0.0, 0.0
        while at < end:
            wakes = self.look(at, stopped)
            if self.hangs:
                return at
            if at >= regular:
                regular = at + self.pause
            at = min(regular, wakes) if wakes is not None and wakes > at else regular
        return None


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(programs, st.sampled_from([60.0, 120.0, 240.0]), st.none() | st.randoms(use_true_random=False))
def test_no_uneven_day_is_taken_for_a_hang(program: Program, pause: float, deaf: random.Random | None) -> None:
    watching = Watching(program, pause, deaf)
    assert watching.until(A_DAY - 1) is None, watching.job.status.hang


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(programs, st.sampled_from([15.0, 60.0]), st.floats(0.1, 1.0))
def test_a_training_that_stops_is_told_within_three_times_its_longest_pause(
    program: Program, pause: float, share: float
) -> None:
    program = replace(program, evaluates_every=0, saves_every=0, warm_up=60.0)
    watching = Watching(program, pause, None)
    stopped = 3600 + share * (A_DAY / 4)
    heard = bisect_right(watching.lines, stopped)
    told = watching.until(2 * A_DAY, stopped)
    if heard <= 6:
        return  # hardly a step was told: nobody can know
    assert told is not None
    longest = max(later - one for one, later in zip(watching.lines[:heard], watching.lines[1:heard], strict=False))
    last = watching.lines[heard - 1]
    assert told <= last + max(LEAST, PATIENCE, FACTOR * (longest + 1)) + pause
    hang = watching.job.status.hang
    assert hang is not None
    assert abs((moment(hang.since or "") - watching.time(last)).total_seconds()) <= 1
