"""What the operator says about a job under `status`.

Its size does not grow with the number of pods, but for gaps in `succeeded_indexes`: at most 33 KB, for a while.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from paddlejob.api.names import RoleName
from paddlejob.api.spec import Mode

Phase = Literal[
    "Pending",
    "Starting",
    "Running",
    "Restarting",
    "Scaling",
    "Suspended",
    "Completed",
    "Failed",
    "Terminating",
]
FinalPhase = Literal["Completed", "Failed"]
FINAL: tuple[FinalPhase, ...] = get_args(FinalPhase)
ConditionType = Literal["Running", "Completed", "Failed", "Suspended", "Stalled"]
ConditionStatus = Literal["True", "False", "Unknown"]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class RoleStatus(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    pending: int = 0
    starting: int = 0
    running: int = 0
    failed: int = 0
    succeeded: int = 0
    unknown: int = 0
    ready: Annotated[str, Meta(description="Running pods and desired pods, such as 1/2.")] = ""

    @property
    def total(self) -> int:
        return self.pending + self.starting + self.running + self.failed + self.succeeded + self.unknown


class Condition(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    type: ConditionType
    status: ConditionStatus
    reason: str = ""
    message: str = ""
    last_transition_time: Time = ""
    observed_generation: int = 0


class Failure(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The first pod that failed, and what it said last."""

    pod: str
    exit_code: int | None = None
    reason: str = ""
    message: str = ""


class World(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What is remembered of an elastic job's workers. Each attempt begins a new one."""

    attempt: int = 0
    replicas: Annotated[int | None, Meta(description="The number of workers it was last scaled to.")] = None
    scalings: Annotated[int, Meta(description="How many times that number changed.")] = 0
    comebacks: Annotated[int, Meta(description="How many times a worker that had exited was replaced.")] = 0
    completed: Annotated[Time | None, Meta(description="When the launcher was seen to have completed.")] = None
    forgotten: Annotated[bool, Meta(description="Whether the job's keys were removed from etcd.")] = False


class NodeRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A node on which attempts of the job failed, hung or were disrupted; each attempt counts once."""

    name: str
    failures: int = 0
    hangs: int = 0
    disruptions: int = 0
    last_time: Annotated[Time, Meta(description="When that was seen last.")] = ""
    avoided_until: Annotated[Time | None, Meta(description="Until then new pods prefer other nodes.")] = None

    @property
    def total(self) -> int:
        return self.failures + self.hangs + self.disruptions


class Mark(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Where training was at a moment."""

    step: int
    at: Time


class Progress(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """How far the training is, as its own output says it."""

    at: Annotated[Time, Meta(description="When the line was printed that says so.")] = ""
    summary: Annotated[
        str, Meta(description="How far it is in a word: a percentage, or a step where no total is known.")
    ] = ""
    step: Annotated[int | None, Meta(description="Steps done, over all epochs.")] = None
    total: Annotated[int | None, Meta(description="Steps to do, over all epochs.")] = None
    percent: int | None = None
    epoch: int | None = None
    loss: float | None = None
    metrics: dict[str, float] = {}
    speed: Annotated[float | None, Meta(description="Steps a second, lately.")] = None
    eta: Annotated[Time | None, Meta(description="When it will be at the end, if it goes on like this.")] = None
    attempt: Annotated[int, Meta(description="The attempt that this is about.")] = 0
    begun: Annotated[
        Mark | None,
        Meta(description="Where the program was when it was first heard: the speed on average is from there."),
    ] = None


class HangStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What is known of the pauses of the training, and of the one that is too long."""

    longest_pause: Annotated[int, Meta(description="Seconds of the longest pause after which it moved on.")] = 0
    attempt: Annotated[int, Meta(description="The attempt that hangs.")] = 0
    since: Annotated[Time | None, Meta(description="Since when nothing has moved; not set while it moves.")] = None
    worker: Annotated[str, Meta(description="The worker that fell silent first.")] = ""
    line: Annotated[str, Meta(description="What it printed last.")] = ""


Counted = Literal["accelerators", "pods"]
UsageState = Literal["waiting", "starting", "training"]


class Usage(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What the job has used: its devices, or its pods where it asks for none, times the seconds in each state.

    What has passed since `since` is not in the sums yet: whoever shows them adds it.
    """

    of: Annotated[Counted, Meta(description="What is counted: pods where the job asks for no accelerator.")] = "pods"
    amount: Annotated[int, Meta(description="How many of them the job has, or waits for, now.")] = 0
    state: Annotated[UsageState | None, Meta(description="What it does with them now; nothing, if not set.")] = None
    since: Annotated[Time | None, Meta(description="Since when; what came before is in the sums.")] = None
    waiting: Annotated[int, Meta(description="Seconds before all pods were placed.")] = 0
    starting: Annotated[int, Meta(description="Seconds before all of them ran.")] = 0
    training: Annotated[int, Meta(description="Seconds of training, in the present attempt or the one at the end.")] = 0
    lost: Annotated[int, Meta(description="Seconds of training in attempts that did not complete.")] = 0


class Status(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    phase: Phase | None = None
    mode: Mode | None = None
    ps: RoleStatus | None = None
    worker: RoleStatus | None = None
    heter: RoleStatus | None = None
    start_time: Time | None = None
    completion_time: Time | None = None
    observed_generation: int = 0
    elastic: Literal["NONE", "DOING", "DONE", "ERROR"] | None = None
    world: World | None = None
    restarts: Annotated[int, Meta(description="Restarts after a failure of the program.")] = 0
    disruptions: Annotated[int, Meta(description="Restarts after something outside the program took a pod.")] = 0
    disruptions_in_a_row: Annotated[
        int | None, Meta(description="Disruptions without a long quiet run between them; each makes the pauses longer.")
    ] = None
    newest_pod_time: Annotated[
        Time | None,
        Meta(description="When the newest pod was made that was there as a pod was last replaced after a disruption."),
    ] = None
    hangs: Annotated[int, Meta(description="Restarts because nothing moved any more.")] = 0
    attempt: Annotated[int, Meta(description="How many times the whole job was started again.")] = 0
    next_attempt_time: Annotated[
        Time | None, Meta(description="The earliest time at which the next attempt may begin.")
    ] = None
    launched: Annotated[
        bool | None,
        Meta(description="Some pods run, and the others have been made: one that is missing from then on is lost."),
    ] = None
    succeeded_indexes: Annotated[
        str | None, Meta(description="The workers that have succeeded in this attempt, such as 0-3,7.")
    ] = None
    adopted: Annotated[
        bool | None, Meta(description="The pods of this attempt were made by another operator, and run on as they are.")
    ] = None
    replacing: Annotated[
        tuple[str, ...], Meta(description="UIDs of the few pods that are being replaced while the others stay.")
    ] = ()
    hang: HangStatus | None = None
    usage: Usage | None = None
    nodes: Annotated[
        tuple[NodeRecord, ...],
        Meta(description="Where attempts failed, hung or were disrupted: the eight nodes in trouble last."),
    ] = ()
    progress: Progress | None = None
    conditions: tuple[Condition, ...] = ()
    reason: str = ""
    message: str = ""
    failure: Failure | None = None

    def condition(self, type_: ConditionType) -> Condition | None:
        return next((condition for condition in self.conditions if condition.type == type_), None)

    def role(self, role: RoleName) -> RoleStatus | None:
        found: RoleStatus | None = getattr(self, role)
        return found

    @property
    def is_of_another(self) -> bool:
        """Whether another operator wrote it: none of ours is without conditions."""
        return self.phase is not None and not self.conditions

    @property
    def finished(self) -> bool:
        return self.phase in FINAL


def as_json(status: Status) -> dict[str, Any]:
    """The status as it stands in the API: what is not set is not there."""
    raw: dict[str, Any] = msgspec.to_builtins(status)
    return {name: value for name, value in raw.items() if value not in (None, "", [], ())}
