"""Which pods are asked for when an operator sees a job for the first time in its term, and later in it.

A pod that lost its labels before is in no watch. It must be found before another attempt begins beside it.
"""

from __future__ import annotations

import msgspec
import pytest

from paddlejob.api import Condition, Job
from paddlejob.core import Pod, observe
from paddlejob.core.children import ConfigMap
from paddlejob.core.pods import pod
from paddlejob.kube.events import Removed, Seen
from paddlejob.kube.store import Store
from paddlejob.operator.doubts import Doubts
from tests.builders import NOW_TEXT, a_job

BOTH = ("train-worker-0", "train-worker-1")


class Sight:
    """A job of two workers, and the stores of an operator that has just begun to lead."""

    def __init__(self, **status: object) -> None:
        jobs: Store[Job] = Store()
        self.pods: Store[Pod] = Store()
        config_maps: Store[ConfigMap] = Store()
        self.doubts = Doubts(jobs, self.pods, config_maps, lambda _, __: None)
        self._jobs = jobs
        self.job = a_job().with_workers(2).build()
        # No status of ours is without conditions.
        ours = (Condition(type="Running", status="False", last_transition_time=NOW_TEXT),)
        self.now(phase="Pending", conditions=ours, **status)

    def now(self, **status: object) -> None:
        self.job = msgspec.structs.replace(self.job, status=msgspec.structs.replace(self.job.status, **status))
        self._jobs.apply_event(Seen(self.job))

    def appears(self, index: int) -> Pod:
        made = msgspec.convert(pod(self.job, observe(self.job).slots[index]), Pod)
        self.pods.apply_event(Seen(made))
        return made

    def loses_its_labels(self, index: int) -> None:
        """To who watches by labels it looks as if it were gone."""
        self.pods.apply_event(Removed(self.appears(index)))

    def leaves(self, index: int, **meta: object) -> None:
        """The watch, in the state that it was last seen in."""
        made = self.appears(index)
        last = msgspec.structs.replace(made, metadata=msgspec.structs.replace(made.metadata, **meta))
        self.pods.apply_event(Seen(last))
        self.pods.apply_event(Removed(last))

    def asks(self) -> tuple[str, ...]:
        """Whom it asks for, and nobody is there."""
        names = self.doubts.about(self.job)
        for name in names:
            self.doubts.settle(self.job, name)
        return names


def test_of_a_job_that_nobody_began_no_pod_is_asked_for() -> None:
    sight = Sight()
    assert sight.asks() == ()
    sight.appears(0)
    sight.appears(1)
    sight.now(phase="Starting")
    assert sight.asks() == ()
    sight.now(phase="Restarting", attempt=1)
    assert sight.asks() == ()


def test_one_pod_that_lost_its_labels_tells_that_others_may_have_before() -> None:
    """As in campaign 301: one lost them while nobody led, another after the new leader had read all pods."""
    sight = Sight()
    sight.loses_its_labels(1)
    assert sight.asks() == BOTH


def test_it_may_tell_so_later_and_only_once() -> None:
    sight = Sight()
    assert sight.asks() == ()
    sight.loses_its_labels(1)
    assert sight.asks() == BOTH
    sight.loses_its_labels(1)
    assert sight.asks() == ("train-worker-1",)


def test_another_attempt_begins_only_when_all_pods_of_the_one_before_are_known() -> None:
    """Whoever made the first of them in this term may have been kept from the others, by a quota for instance."""
    sight = Sight()
    assert sight.asks() == ()
    sight.appears(0)
    assert sight.asks() == ()
    sight.now(phase="Restarting", attempt=1)
    assert sight.asks() == ("train-worker-1",)
    assert sight.asks() == ()


@pytest.mark.parametrize("phase", ["Starting", "Running"])
def test_a_new_term_asks_again(phase: str) -> None:
    sight = Sight()
    sight.now(phase=phase)
    assert sight.asks() == BOTH
    assert sight.asks() == ()
    sight.doubts.new_term()
    assert sight.asks() == BOTH


# The last that was told of a pod before it left the watch, and whether it must be asked for.
LAST_TOLD: dict[str, tuple[dict[str, object], bool]] = {
    "nothing of an end": ({}, True),
    "it has time to end": ({"deletion_timestamp": NOW_TEXT, "deletion_grace_period_seconds": 30}, True),
    "it goes at once": ({"deletion_timestamp": NOW_TEXT, "deletion_grace_period_seconds": 0}, False),
    "it goes when somebody lets it": (
        {"deletion_timestamp": NOW_TEXT, "deletion_grace_period_seconds": 0, "finalizers": ("example.com/keep",)},
        True,
    ),
}


@pytest.mark.parametrize("case", LAST_TOLD)
def test_a_pod_that_left_the_watch_is_asked_for_unless_it_had_to_go(case: str) -> None:
    """As in campaign 321: a pod lost its labels while we deleted it, and was taken for gone while it still ran."""
    meta, asked = LAST_TOLD[case]
    sight = Sight()
    sight.appears(0)
    sight.now(phase="Starting")
    sight.asks()
    sight.leaves(1, **meta)
    assert sight.asks() == (("train-worker-1",) if asked else ())
