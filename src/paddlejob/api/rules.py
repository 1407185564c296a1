"""What is refused at submission and no type can express: each rule as CEL for the API server, as a predicate for this
machine, and with the one sentence that both answer with. Every message says what to do.

Both forms see a job whose fields have their types and defaults; samples in tests/api prove that they agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from paddlejob.api import patterns
from paddlejob.api.names import LONGEST_NAME, ROLES, RoleName, pod_name

if TYPE_CHECKING:
    from paddlejob.api.job import Job
    from paddlejob.api.spec import PaddleJobSpec, Role

T = TypeVar("T")
BESIDE_WORKERS = tuple(role for role in ROLES if role != "worker")
MOST_PODS = 10_000
LONGEST_PATTERN = 1000
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


class Rule(msgspec.Struct, Generic[T], frozen=True):
    """`holds` says in Python what `cel` says; `reads` are the fields that it judges, the one to blame first."""

    message: str
    reads: tuple[str, ...]
    cel: str
    holds: Callable[[T], bool]


class Transition(msgspec.Struct, frozen=True):
    """What may not change after creation. Only an API server sees a change, so it is told in CEL alone."""

    message: str
    cel: str


class Broken(msgspec.Struct, frozen=True):
    """A rule that a job breaks, and the fields that it reads, from the root of the document."""

    message: str
    reads: tuple[str, ...]


def broken(job: Job) -> Iterator[Broken]:
    """All rules that the job breaks, in the order in which they stand here."""
    yield from _broken(ROOT, job, "")
    yield from _broken(SPEC, job.spec, "spec.")
    for name, role in job.spec.roles:
        yield from _broken(ROLE, role, f"spec.{name}.")


def _broken(rules: tuple[Rule[T], ...], judged: T, prefix: str) -> Iterator[Broken]:
    for rule in rules:
        if not rule.holds(judged):
            yield Broken(rule.message, tuple(prefix + field for field in rule.reads))


def _pod(role: Role) -> dict[str, Any]:
    found = role.template.get("spec")
    return found if isinstance(found, dict) else {}


ENDS: Rule[Role] = Rule(
    "a pod with restartPolicy Always never ends: set template.spec.restartPolicy to Never or OnFailure",
    ("template.spec.restartPolicy",),
    "!has(self.template) || !has(self.template.spec) || !has(self.template.spec.restartPolicy)"
    " || self.template.spec.restartPolicy != 'Always'",
    lambda role: _pod(role).get("restartPolicy") != "Always",
)

ROLE: tuple[Rule[Role], ...] = (
    Rule(
        "a role needs a container: give template.spec.containers one named paddle, with the image to run",
        ("template.spec.containers",),
        "has(self.template) && has(self.template.spec) && has(self.template.spec.containers)"
        " && size(self.template.spec.containers) > 0",
        lambda role: bool(_pod(role).get("containers")),
    ),
    ENDS,
    Rule(
        "requests is the smallest number of replicas: set it to replicas or below",
        ("requests", "replicas"),
        "!has(self.requests) || self.requests <= self.replicas",
        lambda role: role.requests is None or role.requests <= role.replicas,
    ),
    Rule(
        "limits is the largest number of replicas: set it to replicas or above",
        ("limits", "replicas"),
        "!has(self.limits) || self.replicas <= self.limits",
        lambda role: role.limits is None or role.replicas <= role.limits,
    ),
)

HAS_WORKERS: Rule[PaddleJobSpec] = Rule(
    "a job without workers never ends: set spec.worker with replicas of 1 or more",
    ("worker.replicas",),
    "has(self.worker) && self.worker.replicas >= 1",
    lambda spec: spec.worker is not None and spec.worker.replicas >= 1,
)
ELASTIC_WITHOUT_SERVERS: Rule[PaddleJobSpec] = Rule(
    "elastic jobs have no parameter servers: remove spec.ps or spec.elastic",
    ("elastic", "ps"),
    "!(has(self.ps) && has(self.elastic) && self.elastic > 0)",
    lambda spec: not (spec.ps and spec.elastic),
)
HETER_WITH_SERVERS: Rule[PaddleJobSpec] = Rule(
    "heter workers belong to a job with parameter servers: set spec.ps, or remove spec.heter",
    ("heter.replicas", "ps.replicas"),
    "!has(self.heter) || self.heter.replicas == 0 || (has(self.ps) && self.ps.replicas > 0)",
    lambda spec: not (spec.heter and spec.heter.replicas) or bool(spec.ps and spec.ps.replicas),
)


def _most(role: RoleName) -> str:
    """How many pods of this role there may ever be, in CEL."""
    grows = f"has(self.{role}.limits) && self.{role}.limits > self.{role}.replicas"
    return f"(has(self.{role}) ? ({grows} ? self.{role}.limits : self.{role}.replicas) : 0)"


AT_MOST: Rule[PaddleJobSpec] = Rule(
    f"a job may have at most {MOST_PODS} pods: set fewer replicas, and limits of no more",
    tuple(f"{role}.{field}" for field in ("replicas", "limits") for role in ("worker", *BESIDE_WORKERS)),
    " + ".join(_most(role) for role in ROLES) + f" <= {MOST_PODS}",
    lambda spec: sum(max(role.replicas, role.limits or 0) for _, role in spec.roles) <= MOST_PODS,
)

# For an integer an API server takes 1.0 and even 1.0000000001, which we could not read. A rule that reads it does not.
_NUMBERS = (
    "withGloo",
    "elastic",
    "backoffLimit",
    "activeDeadlineSeconds",
    "startingDeadlineSeconds",
    "ttlSecondsAfterFinished",
)
WHOLE_NUMBERS: Rule[PaddleJobSpec] = Rule(
    "numbers of a job are whole: set 1, not 1.0",
    (*_NUMBERS, "schedulingPolicy.minAvailable", "hang.afterSeconds"),
    " && ".join(f"(!has(self.{name}) || self.{name} >= 0)" for name in _NUMBERS)
    + " && (!has(self.schedulingPolicy) || !has(self.schedulingPolicy.minAvailable)"
    " || self.schedulingPolicy.minAvailable >= 0)"
    " && (!has(self.hang) || !has(self.hang.afterSeconds) || self.hang.afterSeconds >= 0)",
    lambda _: True,  # the types say it
)

NO_SAMPLE_SETS: Rule[PaddleJobSpec] = Rule(
    "sampleSetRef is not supported: remove it, and mount the claim that has the SampleSet's name as a volume of"
    " template.spec",
    ("sampleSetRef",),
    "!has(self.sampleSetRef)",
    lambda spec: spec.sample_set_ref is None,
)

# What a pattern must tell at least one of, in CEL's dialect and in Python's.
_TELLING = r"\x28\?P?<(step|epoch|percent|loss)>"


def _pattern(spec: PaddleJobSpec) -> str | None:
    return spec.progress.pattern if spec.progress else None


# The API server's own regular expressions are those of RE2 too: one that it cannot compile is an error of the rule.
READABLE_PATTERN: Rule[PaddleJobSpec] = Rule(
    r"progress.pattern is read by RE2 and names what it finds: use groups such as epoch (?P<epoch>\d+), at least one of"
    " step, epoch, percent and loss, and neither look-around nor back-references",
    ("progress.pattern",),
    f"!has(self.progress) || !has(self.progress.pattern) || (self.progress.pattern.matches(r'{_TELLING}')"
    " && ''.matches(self.progress.pattern) in [true, false])",
    lambda spec: (
        (found := _pattern(spec)) is None or (re.search(_TELLING, found) is not None and patterns.is_readable(found))
    ),
)
ONE_WAY_TO_READ: Rule[PaddleJobSpec] = Rule(
    "progress.pattern is in place of a profile: set only one of them",
    ("progress.pattern", "progress.profile"),
    "!has(self.progress) || !has(self.progress.pattern) || !has(self.progress.profile)",
    lambda spec: _pattern(spec) is None or spec.progress is None or spec.progress.profile is None,
)

SPEC: tuple[Rule[PaddleJobSpec], ...] = (
    HAS_WORKERS,
    ELASTIC_WITHOUT_SERVERS,
    HETER_WITH_SERVERS,
    Rule(
        "cleanPolicy is another spelling of cleanPodPolicy: set only cleanPodPolicy",
        ("cleanPolicy", "cleanPodPolicy"),
        "!(has(self.cleanPodPolicy) && has(self.cleanPolicy)) || self.cleanPodPolicy == self.cleanPolicy",
        lambda spec: not (spec.clean_pod_policy and spec.clean_policy) or spec.clean_pod_policy == spec.clean_policy,
    ),
    AT_MOST,
    WHOLE_NUMBERS,
    NO_SAMPLE_SETS,
    READABLE_PATTERN,
    ONE_WAY_TO_READ,
)


def _longest(role: RoleName) -> str:
    """The length of the longest name of this role's pods, in CEL."""
    most = f"(has(self.spec.{role}.limits) ? self.spec.{role}.limits : self.spec.{role}.replicas)"
    return (
        f"(has(self.spec) && has(self.spec.{role}) && {most} > 0"
        f" ? size(self.metadata.name) + {len(role) + 2} + size(string({most} - 1)) : 0)"
    )


def _pod_names_fit(job: Job) -> bool:
    most = [(name, role.replicas if role.limits is None else role.limits) for name, role in job.spec.roles]
    return all(len(pod_name(job.metadata.name, name, n - 1)) <= LONGEST_NAME for name, n in most if n)


ROOT: tuple[Rule[Job], ...] = (
    Rule(
        "metadata.name becomes part of host names: use lower-case letters, digits and '-',"
        " begin with a letter, end with a letter or digit, no dots",
        ("metadata.name",),
        f"self.metadata.name.matches('^{_NAME.pattern}$')",
        lambda job: _NAME.fullmatch(job.metadata.name) is not None,
    ),
    Rule(
        "metadata.name is too long: the longest pod name, <name>-worker-<index>, may have 63 characters",
        ("metadata.name", *(f"spec.{role}.{field}" for role in ROLES for field in ("replicas", "limits"))),
        " && ".join(f"{_longest(role)} <= {LONGEST_NAME}" for role in ROLES),
        _pod_names_fit,
    ),
)


def _unchanged(field: str) -> str:
    return f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"


_FIXED = "cannot be changed after creation: delete the job and create it again"

TRANSITIONS: tuple[Transition, ...] = (
    *(Transition(f"spec.{role} {_FIXED}", _unchanged(role)) for role in BESIDE_WORKERS),
    Transition(
        f"spec.worker {_FIXED} (only replicas of an elastic job may change)",
        "!has(self.worker) || !has(oldSelf.worker) || ("
        + " && ".join(_unchanged(f"worker.{field}") for field in ("template", "requests", "limits"))
        + ")",
    ),
    Transition(
        "spec.worker.replicas can change only in elastic jobs: create a new job",
        "!has(self.worker) || !has(oldSelf.worker) || self.worker.replicas == oldSelf.worker.replicas"
        " || (has(self.elastic) && self.elastic > 0)",
    ),
    Transition(
        "the replicas of an elastic job change between worker.requests and worker.limits: create it with both",
        "!has(self.worker) || !has(oldSelf.worker) || !has(self.elastic) || self.elastic == 0"
        " || self.worker.replicas == oldSelf.worker.replicas"
        " || (self.worker.replicas > oldSelf.worker.replicas ? has(self.worker.limits) : has(self.worker.requests))",
    ),
    Transition(
        f"spec.withGloo, intranet, elastic, schedulingPolicy, progress, hang and managedBy {_FIXED}",
        " && ".join(
            _unchanged(field)
            for field in ("withGloo", "intranet", "elastic", "schedulingPolicy", "progress", "hang", "managedBy")
        ),
    ),
)


def written(rules: tuple[Rule[Any] | Transition, ...]) -> list[dict[str, str]]:
    """The rules as they stand in a CRD."""
    return [{"rule": rule.cel, "message": rule.message} for rule in rules]


def validations(rules: tuple[Rule[Any] | Transition, ...]) -> Meta:
    """The rules as an annotation of the type that they guard."""
    extra: dict[str, Any] = {"x-kubernetes-validations": written(rules)}
    return Meta(extra_json_schema=extra)
