"""What is remembered of refusals: asked again later and later, forgotten when the spec changes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import Status
from paddlejob.core import Create, Delete, Plan, Refusal, Touch
from paddlejob.operator.memory import Memory
from tests.builders import NOW, a_job

TRIED = Plan(status=Status(), actions=(Create("Pod", "train-worker-0", {}),))
REFUSED = (Refusal("Pod", "train-worker-0", "QuotaExceeded", "exceeded quota", NOW),)
TAKEN = (Refusal("Pod", "train-worker-0", "NameTaken", "taken", NOW),)


def delays(memory: Memory, refused: tuple[Refusal, ...], rounds: int) -> list[float]:
    job = a_job().build()
    seen = []
    for _ in range(rounds):
        memory.remember(job, TRIED, refused)
        seen.append((memory.refusals(job)[0].retry_at - NOW) / timedelta(seconds=1))
    return seen


def test_each_round_waits_twice_as_long_up_to_a_minute() -> None:
    assert delays(Memory(), REFUSED, 7) == [2, 4, 8, 16, 32, 60, 60]


def test_a_name_is_asked_for_again_soon() -> None:
    assert delays(Memory(), TAKEN, 4) == [2, 4, 5, 5]


def test_success_clears_the_memory_and_the_delay() -> None:
    memory, job = Memory(), a_job().build()
    delays(memory, REFUSED, 3)
    assert memory.remember(job, TRIED, ())
    assert memory.refusals(job) == ()
    assert delays(memory, REFUSED, 1) == [2]


def test_a_name_that_is_taken_stays_so_when_another_was_free() -> None:
    memory, job = Memory(), a_job().build()
    memory.remember(job, TRIED, TAKEN)
    other = Plan(status=Status(), actions=(Create("Pod", "train-worker-1", {}),))
    memory.remember(job, other, ())
    assert [one.name for one in memory.refusals(job)] == ["train-worker-0"]


OTHER_POD = Plan(status=Status(), actions=(Create("Pod", "train-worker-1", {}),))
OTHER_KIND = Plan(status=Status(), actions=(Create("Service", "train-worker-0", {}),))
OTHER_VERB = Plan(status=Status(), actions=(Delete("Pod", "train-worker-1", "uid"), Touch("train-worker-1", "a", "b")))


def test_what_went_ahead_and_passed_lets_the_others_follow() -> None:
    memory, job = Memory(), a_job().build()
    memory.remember(job, TRIED, REFUSED)
    assert memory.remember(job, OTHER_POD, ())
    assert memory.refusals(job) == ()


@pytest.mark.parametrize("tried", [OTHER_KIND, OTHER_VERB], ids=["another kind", "other verbs"])
def test_what_passed_of_another_sort_says_nothing(tried: Plan) -> None:
    memory, job = Memory(), a_job().build()
    memory.remember(job, TRIED, REFUSED)
    assert not memory.remember(job, tried, ())
    assert [one.name for one in memory.refusals(job)] == ["train-worker-0"]


RELEASES = Plan(status=Status(), releases=True)
HELD = (Refusal("PaddleJob", "train", "Invalid", "no", NOW, verb="patch"),)


def test_a_finalizer_that_cannot_be_removed_is_remembered_once_until_it_is_gone() -> None:
    memory, job = Memory(), a_job().build()
    for times in (1, 2, 3):
        memory.remember(job, RELEASES, HELD)
        assert [one.times for one in memory.refusals(job)] == [times]
    assert memory.remember(job, RELEASES, ())
    assert memory.refusals(job) == ()


def test_every_sort_has_its_own_delay() -> None:
    memory, job = Memory(), a_job().build()
    assert delays(memory, REFUSED, 3) == [2, 4, 8]
    memory.remember(job, OTHER_VERB, (replace(REFUSED[0], verb="delete"),))
    assert (memory.refusals(job)[-1].retry_at - NOW) == timedelta(seconds=2)


def test_what_often_passes_by_itself_is_tried_again_soon() -> None:
    failed = (replace(REFUSED[0], reason="ServerError"),)
    assert delays(Memory(), failed, 4) == [0.25, 0.5, 1, 2]


def test_a_status_that_is_refused_waits_ever_longer_until_it_is_written() -> None:
    memory, job = Memory(), a_job().build()
    assert memory.pause_before_status(job, NOW) == 0
    assert [memory.status_refused(job, REFUSED[0], NOW) for _ in range(3)] == [2, 4, 8]
    assert memory.pause_before_status(job, NOW + timedelta(seconds=5)) == 3
    memory.status_written(job, 5.0, only_counts=False)
    assert memory.pause_before_status(job, NOW) == 0


def test_a_round_without_creates_changes_nothing() -> None:
    memory, job = Memory(), a_job().build()
    memory.remember(job, TRIED, REFUSED)
    before = memory.refusals(job)
    assert not memory.remember(job, Plan(status=Status()), ())
    assert memory.refusals(job) == before


def test_a_changed_spec_deserves_a_new_try() -> None:
    memory = Memory()
    memory.remember(a_job().at_generation(1).build(), TRIED, REFUSED)
    assert memory.refusals(a_job().at_generation(2).build()) == ()


def test_mere_counts_wait_ever_longer_and_anew_after_a_phase() -> None:
    memory, job = Memory(), a_job().build()
    assert memory.pause_before_counts(job, 5.0, patient=True) == 0
    pauses: list[float] = []
    for _ in range(6):
        memory.status_written(job, 5.0, only_counts=bool(pauses))
        pauses.append(memory.pause_before_counts(job, 5.0, patient=True))
    assert pauses == [30, 60, 120, 240, 240, 240]
    assert memory.pause_before_counts(job, 5.75, patient=False) == 0.25
    memory.status_written(job, 6.0, only_counts=False)
    assert memory.pause_before_counts(job, 6.5, patient=True) == 29.5
    memory.forget(job.metadata.uid)
    assert memory.pause_before_counts(job, 6.5, patient=True) == 0


def test_mere_words_are_written_soon_at_first_and_then_ever_more_rarely() -> None:
    memory, job = Memory(), a_job().build()
    assert memory.pause_before_words(job, 5.0) == 0
    pauses: list[float] = []
    for _ in range(6):
        memory.status_written(job, 5.0, only_counts=bool(pauses))
        pauses.append(memory.pause_before_words(job, 5.0))
    assert pauses == [1, 4, 16, 64, 64, 64]
    memory.status_written(job, 6.0, only_counts=False)
    assert memory.pause_before_words(job, 6.5) == 0.5
