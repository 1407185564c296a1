"""What a user writes under `spec` of a PaddleJob.

The CRD's schema is generated from these types: defaults, enums, minimums, descriptions and CEL rules stand
here and nowhere else. Refuses by itself only what a type can refuse; the rest is the API server's work.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from paddlejob.api import rules
from paddlejob.api.names import ROLES, RoleName

Mode = Literal["PS", "Collective", "Single"]
Network = Literal["PodIP", "Service", "Host"]
Intranet = Literal[Network, "HostNetwork"]
CleanPodPolicy = Literal["Always", "Never", "OnFailure", "OnCompletion", "Running"]
# OnFailed stands in manifests for paddle-operator 0.3.
WrittenCleanPodPolicy = Literal[CleanPodPolicy, "OnFailed"]
HangAction = Literal["Tell", "Restart"]
# One file in `profiles` for each.
ProfileName = Literal[
    "model-fit",
    "paddlenlp",
    "paddleocr",
    "paddleseg",
    "paddledetection",
    "plain",
]
NETWORKS: tuple[Network, ...] = get_args(Network)
CLEAN_POD_POLICIES: tuple[CleanPodPolicy, ...] = get_args(CleanPodPolicy)

# The one place where a dict of Any is right: a pod template belongs to Kubernetes and passes through.
PodTemplate = Annotated[dict[str, Any], Meta(extra_json_schema={"x-pod-template": True})]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
AtLeastOne = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Gloo = Annotated[int, Meta(ge=0, le=2)]
# An API server passes on a fraction that is nearly whole as it is.
Quantities = dict[str, int | float | str]


def described(text: str) -> Meta:
    return Meta(description=text)


class Role(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    replicas: Annotated[Count, described("The number of pods in this role.")] = 1
    requests: Annotated[
        AtLeastOne | None, described("The fewest replicas of an elastic job; defaults to replicas.")
    ] = None
    limits: Annotated[AtLeastOne | None, described("The most replicas of an elastic job; defaults to replicas.")] = None
    template: Annotated[PodTemplate, described("The pod template, as in any Kubernetes workload.")] = {}

    @property
    def wanted(self) -> int:
        """How many pods: never more than the limit, nor than any job may have, which an old API server lets pass."""
        most = rules.MOST_PODS if self.limits is None else self.limits
        return min(self.replicas, most, rules.MOST_PODS)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most pods of an elastic job."""
        return self.requests or self.wanted, self.limits or self.wanted


class SchedulingPolicy(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    min_available: Annotated[AtLeastOne | None, described("The fewest pods that start together; all by default.")] = (
        None
    )
    queue: Annotated[str | None, described("The scheduler's queue.")] = None
    priority_class: Annotated[str | None, described("Priority class of the pod group.")] = None
    min_resources: Annotated[
        Quantities | None, described("The least resources of the group; by default the sum over its pods.")
    ] = None


class ProgressPolicy(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    profile: Annotated[
        ProfileName | None,
        described("The program that trains, by whose output progress is known; by default the one that it looks like."),
    ] = None
    pattern: Annotated[
        Annotated[str, Meta(max_length=rules.LONGEST_PATTERN)] | None,
        described(
            "A regular expression (RE2) for lines of your own, in place of a profile; its named groups may be"
            " step, total, epoch, epochs, percent, loss, speed, eta, and metrics of other names."
        ),
    ] = None


class HangPolicy(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    action: Annotated[
        HangAction, described("What to do when nothing moves any more: tell it, or restart the whole job.")
    ] = "Tell"
    after_seconds: Annotated[
        AtLeastOne | None, described("How long nothing moves until then; by default learned from the job's own steps.")
    ] = None


class PaddleJobSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    worker: Annotated[
        Role | None,
        described("The workers that train. A job ends when all of them have succeeded."),
        rules.validations(rules.ROLE),
    ] = None
    ps: Annotated[
        Role | None,
        described("Parameter servers: with them the job runs in PS mode."),
        rules.validations(rules.ROLE),
    ] = None
    heter: Annotated[Role | None, described("Heterogeneous workers of a PS job."), rules.validations(rules.ROLE)] = None
    with_gloo: Annotated[Gloo, described("Gloo in PS jobs: 0 off, 1 between workers, 2 workers and servers.")] = 1
    intranet: Annotated[
        Intranet,
        described("How pods find each other: by pod address, by Service name, or on the host's network."),
    ] = "PodIP"
    clean_pod_policy: Annotated[
        WrittenCleanPodPolicy | None,
        described("Which pods are deleted when the job has ended. Running (the default): those that still run."),
    ] = None
    clean_policy: Annotated[WrittenCleanPodPolicy | None, described("Another spelling of cleanPodPolicy.")] = None
    scheduling_policy: Annotated[SchedulingPolicy | None, described("Gang scheduling.")] = None
    elastic: Annotated[Count | None, described("1: workers may come and go while training (Collective only).")] = None
    suspend: Annotated[
        bool, described("While true the job has no pods; afterwards it starts again from the beginning.")
    ] = False
    backoff_limit: Annotated[Count, described("How many times the whole job may restart after its program failed.")] = 0
    active_deadline_seconds: Annotated[
        AtLeastOne | None, described("The longest the job may run, counted from its start.")
    ] = None
    starting_deadline_seconds: Annotated[
        AtLeastOne | None, described("The longest the job may wait before it is Running.")
    ] = None
    ttl_seconds_after_finished: Annotated[
        Count | None, described("How many seconds after its end the job is deleted.")
    ] = None
    progress: Annotated[
        ProgressPolicy | None, described("How to read from its output how far the job is; needed only where it fails.")
    ] = None
    hang: Annotated[HangPolicy | None, described("Watch for a job that hangs.")] = None
    managed_by: Annotated[
        str | None, described("The controller that runs this job, if another than the operator of this cluster.")
    ] = None
    # Known only so that it is refused in words: a field that nobody knows would be dropped, and the data with it.
    sample_set_ref: Annotated[
        dict[str, str] | None, described("Not supported: mount the claim of the SampleSet as a volume.")
    ] = None

    @property
    def mode(self) -> Mode:
        # Zero servers are no servers: workers of a PS job without any would each train alone.
        if self.ps is not None and self.ps.replicas > 0:
            return "PS"
        several = self.worker is not None and self.worker.replicas > 1
        return "Collective" if several or self.is_elastic else "Single"

    @property
    def is_elastic(self) -> bool:
        return bool(self.elastic)

    @property
    def network(self) -> Network:
        return "Host" if self.intranet == "HostNetwork" else self.intranet

    @property
    def cleaning(self) -> CleanPodPolicy:
        written = self.clean_pod_policy or self.clean_policy or "Running"
        return "OnFailure" if written == "OnFailed" else written

    @property
    def roles(self) -> tuple[tuple[RoleName, Role], ...]:
        """The roles this job has, servers first."""
        named: list[tuple[RoleName, Role | None]] = [(name, getattr(self, name)) for name in ROLES]
        return tuple((name, role) for name, role in named if role is not None)
