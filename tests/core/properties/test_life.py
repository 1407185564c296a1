"""A state machine that plays with `plan`: pods appear, end, are deleted, nodes vanish, people change their mind, the
operator dies between two writes, time jumps. Whatever it does, the invariants below hold after every step.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from paddlejob.api import Job
from paddlejob.core import Plan
from paddlejob.core.groups import VolcanoPodGroup
from paddlejob.core.times import after, moment
from tests.core.strategies import EXAMPLES, runnable_jobs
from tests.core.world import World, attempt_of, cut

which = st.integers(0, 5)
HAPPENINGS = ["place", "start", "succeed", "fail", "evict", "delete", "lose", "reap", "move"]
few_seconds = st.integers(1, 60)


class Life(RuleBasedStateMachine):
    @initialize(job=runnable_jobs(), active=st.none() | few_seconds, starting=st.none() | few_seconds)
    def begin(self, job: Job, active: int | None, starting: int | None) -> None:
        self.world = World(job)
        self.world.ask(active_deadline_seconds=active, starting_deadline_seconds=starting)
        self.limit = job.spec.backoff_limit
        self.end: str | None = None

    # The operator.

    @rule()
    def look(self) -> None:
        self.world.turn()

    @rule()
    def look_twice_and_let_all_start(self) -> None:
        self.world.run()

    @rule(done=which)
    def die_before_the_status_is_written(self, done: int) -> None:
        made = self.world.plan()
        self.world.apply(replace(cut(made, done), status=self.world.job.status))

    @rule(done=which)
    def die_after_the_status_is_written(self, done: int) -> None:
        made = self.world.plan()
        self.world.apply(cut(made, done))

    # Programs, nodes and people.

    @rule(
        what=st.sampled_from(["place", "start", "succeed", "fail", "evict", "delete", "lose", "reap", "move"]), at=which
    )
    def something_happens_to_a_pod(self, what: str, at: int) -> None:
        names = [name for name in sorted(self.world.pods) if what != "succeed" or "worker" in name]
        if names:
            getattr(self.world, what)(names[at % len(names)])

    @rule(share=st.integers(1, 3))
    def a_node_vanishes(self, share: int) -> None:
        for name in sorted(self.world.pods)[::share]:
            self.world.lose(name)

    @rule(at=which)
    def a_program_fails_while_all_run(self, at: int) -> None:
        self.world.run()
        for name in sorted(self.world.pods)[at : at + 2]:
            self.world.fail(name)
        self.world.turn()

    @rule(suspend=st.sampled_from([False, False, True]))
    def somebody_suspends_or_resumes(self, suspend: bool) -> None:
        self.world.ask(suspend=suspend)

    @rule(limit=st.integers(0, 3))
    def somebody_changes_the_limit(self, limit: int) -> None:
        self.world.ask(backoff_limit=limit)
        self.limit = max(self.limit, limit)

    @rule(ttl=st.none() | st.integers(0, 60))
    def somebody_changes_the_time_to_live(self, ttl: int | None) -> None:
        self.world.ask(ttl_seconds_after_finished=ttl)

    @rule(seconds=st.sampled_from([0.3, 1, 7, 60, 4000]))
    def time_goes_on(self, seconds: float) -> None:
        self.world.now += timedelta(seconds=seconds)

    @rule()
    def time_jumps_to_the_next_timer(self) -> None:
        self.world.wait()

    @rule(determined=st.integers(0, 9))
    def somebody_deletes_the_job(self, determined: int) -> None:
        if determined == 9:
            self.world.remove()

    @rule(room=st.booleans())
    def a_queue_is_full_or_has_room(self, room: bool) -> None:
        if room:
            self.world.admit()
        else:
            self.world.room = False

    # What always holds.

    @invariant()
    def pods_of_two_attempts_never_live_together(self) -> None:
        assert len({attempt_of(pod) for pod in self.world.pods.values()}) <= 1

    @invariant()
    def there_are_never_more_pods_than_asked_for(self) -> None:
        asked = sum(role.replicas for _, role in self.world.job.spec.roles)
        assert len(self.world.pods) <= asked

    @invariant()
    def a_final_phase_is_never_left(self) -> None:
        status = self.world.job.status
        assert self.end is None or status.phase == self.end
        self.end = status.phase if status.finished else None

    @invariant()
    def no_more_restarts_than_allowed(self) -> None:
        assert self.world.job.status.restarts <= self.limit

    @invariant()
    def no_pause_is_longer_than_six_minutes(self) -> None:
        written = self.world.plan().status.next_attempt_time
        assert written is None or moment(written) <= self.world.now + timedelta(minutes=6, seconds=1)

    @invariant()
    def no_pod_is_made_before_its_group_is_admitted(self) -> None:
        made = self.world.plan()
        if self.world.job.spec.scheduling_policy and not self.world.job.metadata.labels:
            groups = self.world.children[VolcanoPodGroup.kind].values()
            admitted = {attempt_of(one) for one in groups if one.admitted}
            wanted = self.world.job.status.attempt
            assert wanted in admitted or not any(one.kind == "Pod" for one in made.creates)

    @invariant()
    def an_end_leaves_no_group(self) -> None:
        copy = World(self.world.job, [one for found in self.world.children.values() for one in found.values()])
        if copy.job.status.finished and copy.job.metadata.deletion_timestamp is None:
            copy.turn()
            assert not copy.children[VolcanoPodGroup.kind]

    @invariant()
    def a_suspended_job_gets_no_pods(self) -> None:
        if self.world.job.spec.suspend and self.world.job.status.phase == "Suspended":
            assert not self.world.plan().creates

    @invariant()
    def whoever_waits_for_a_timer_is_woken(self) -> None:
        if self.world.job.metadata.deletion_timestamp is not None:
            return
        made = self.world.plan()
        due = [at for at in timers(self.world.job, made) if at > self.world.now]
        assert not due or (made.wake_at is not None and made.wake_at <= min(due))

    @invariant()
    def a_still_world_settles(self) -> None:
        """No live-lock: a copy of the world in which nothing else happens comes to rest."""
        copy = World(self.world.job, [one for found in self.world.children.values() for one in found.values()])
        copy.now = self.world.now
        copy.settle()
        if copy.job.status.phase == "Suspended":
            assert all(pod.deleting for pod in copy.pods.values())

    def teardown(self) -> None:
        """Left alone, with pods that do their work, it comes to an end."""
        if not hasattr(self, "world") or self.world.job.metadata.deletion_timestamp is not None:
            return
        self.world.ask(suspend=False)
        self.world.admit()
        for _ in range(30):
            self.world.empty()
            self.world.run()
            for name in [one for one in sorted(self.world.pods) if "worker" in one]:
                self.world.succeed(name)
            self.world.turn()
            if self.world.job.status.finished:
                return
            self.world.wait()
        raise AssertionError(f"no end in sight: {self.world.job.status}")


def timers(job: Job, made: Plan) -> list[datetime]:
    """All that the spec and the status promise to do at a time, worked out from them alone."""
    spec, status, found = job.spec, made.status, []
    if status.finished:
        if spec.ttl_seconds_after_finished is not None and status.completion_time and job.status.finished:
            found.append(after(moment(status.completion_time), spec.ttl_seconds_after_finished))
        return found
    if spec.active_deadline_seconds is not None and status.start_time:
        found.append(after(moment(status.start_time), spec.active_deadline_seconds))
    if status.next_attempt_time:
        found.append(moment(status.next_attempt_time))
    return found


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=EXAMPLES * 2 // 5, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
