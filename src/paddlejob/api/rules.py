"""CEL rules of the CRD: what the API server itself refuses, and the sentence it answers with.

Only rules that no type can express stand here. Every message says what to do.
"""

from __future__ import annotations

from typing import Any

from msgspec import Meta

Rule = dict[str, str]

_TEMPLATE = "a role needs a container: give template.spec.containers one named paddle, with the image to run"

ROLE: tuple[Rule, ...] = (
    {
        "rule": "has(self.template) && has(self.template.spec) && has(self.template.spec.containers)"
        " && size(self.template.spec.containers) > 0",
        "message": _TEMPLATE,
    },
    {
        "rule": "!has(self.requests) || self.requests <= self.replicas",
        "message": "requests is the least number of replicas: set it to replicas or below",
    },
    {
        "rule": "!has(self.limits) || self.replicas <= self.limits",
        "message": "limits is the largest number of replicas: set it to replicas or above",
    },
)


def _unchanged(field: str) -> str:
    return f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"


_FIXED = "cannot be changed after creation: delete the job and create it again"

SPEC: tuple[Rule, ...] = (
    {
        "rule": "has(self.worker) && self.worker.replicas >= 1",
        "message": "a job without workers never ends: set spec.worker with replicas of 1 or more",
    },
    {
        "rule": "!(has(self.ps) && has(self.elastic) && self.elastic > 0)",
        "message": "elastic jobs have no parameter servers: remove spec.ps or spec.elastic",
    },
    {
        "rule": "!has(self.heter) || self.heter.replicas == 0 || (has(self.ps) && self.ps.replicas > 0)",
        "message": "heter workers belong to a job with parameter servers: set spec.ps, or remove spec.heter",
    },
    {
        "rule": "!(has(self.elastic) && self.elastic > 0)"
        " || !has(self.worker) || (has(self.worker.requests) && has(self.worker.limits))",
        "message": "set worker.requests and worker.limits: the least and the most replicas of an elastic job",
    },
    {
        "rule": "!(has(self.cleanPodPolicy) && has(self.cleanPolicy)) || self.cleanPodPolicy == self.cleanPolicy",
        "message": "cleanPolicy is another spelling of cleanPodPolicy: set only cleanPodPolicy",
    },
    {"rule": _unchanged("ps"), "message": f"spec.ps {_FIXED}"},
    {"rule": _unchanged("heter"), "message": f"spec.heter {_FIXED}"},
    {
        "rule": "!has(self.worker) || !has(oldSelf.worker) || ("
        + " && ".join(_unchanged(f"worker.{field}") for field in ("template", "requests", "limits"))
        + ")",
        "message": f"spec.worker {_FIXED} (only replicas of an elastic job may change)",
    },
    {
        "rule": "!has(self.worker) || !has(oldSelf.worker) || self.worker.replicas == oldSelf.worker.replicas"
        " || (has(self.elastic) && self.elastic > 0)",
        "message": "spec.worker.replicas can change only in elastic jobs: create a new job",
    },
    {
        "rule": " && ".join(_unchanged(field) for field in ("withGloo", "intranet", "elastic", "schedulingPolicy")),
        "message": f"spec.withGloo, intranet, elastic and schedulingPolicy {_FIXED}",
    },
)


def _longest(role: str) -> str:
    most = f"(has(self.spec.{role}.limits) ? self.spec.{role}.limits : self.spec.{role}.replicas)"
    return (
        f"(has(self.spec) && has(self.spec.{role}) && {most} > 0"
        f" ? size(self.metadata.name) + {len(role) + 2} + size(string({most} - 1)) : 0)"
    )


ROOT: tuple[Rule, ...] = (
    {
        "rule": "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "message": "metadata.name becomes part of host names: use lower-case letters, digits and '-',"
        " begin with a letter, end with a letter or digit, no dots",
    },
    {
        "rule": " && ".join(f"{_longest(role)} <= 63" for role in ("ps", "worker", "heter")),
        "message": "metadata.name is too long: the longest pod name, <name>-worker-<index>, may have 63 characters",
    },
)


def validations(rules: tuple[Rule, ...]) -> Meta:
    """The rules as an annotation of the type that they guard."""
    extra: dict[str, Any] = {"x-kubernetes-validations": [dict(rule) for rule in rules]}
    return Meta(extra_json_schema=extra)
