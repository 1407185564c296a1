"""What a pod asks for, as schedulers count it."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.core.pod_resources import pod_resources
from paddlejob.core.quantities import amounts


def asks(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}}


def limited(**limits: str) -> dict[str, Any]:
    return {"resources": {"limits": limits}}


SIDECAR = {"restartPolicy": "Always"}
PODS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "containers are added": ({"containers": [asks(cpu="1"), asks(cpu="500m")]}, {"cpu": "1500m"}),
    "a limit counts as a request where there is none": (
        {"containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "nvidia.com/gpu": 2}}}]},
        {"cpu": "1", "nvidia.com/gpu": "2"},
    ),
    "an init container that needs more": (
        {"initContainers": [asks(cpu="4", memory="1")], "containers": [asks(cpu="1", memory="2")]},
        {"cpu": "4", "memory": "2"},
    ),
    "init containers run one after the other": (
        {"initContainers": [asks(cpu="4"), asks(cpu="3")], "containers": [limited(cpu="1")]},
        {"cpu": "4"},
    ),
    "a sidecar runs beside the containers": (
        {"initContainers": [{**asks(cpu="2"), **SIDECAR}], "containers": [asks(cpu="1")]},
        {"cpu": "3"},
    ),
    "a sidecar runs beside the init containers after it": (
        {"initContainers": [{**asks(cpu="2"), **SIDECAR}, asks(cpu="4")], "containers": [asks(cpu="1")]},
        {"cpu": "6"},
    ),
    "a sidecar does not run beside an init container before it": (
        {"initContainers": [asks(cpu="4"), {**asks(cpu="2"), **SIDECAR}], "containers": [asks(cpu="1")]},
        {"cpu": "4"},
    ),
    "the overhead of its runtime comes on top": (
        {"containers": [asks(cpu="1")], "overhead": {"cpu": "250m", "memory": "1Mi"}},
        {"cpu": "1250m", "memory": "1Mi"},
    ),
    "what is asked for the pod as a whole wins": (
        {"containers": [asks(cpu="1", memory="1")], **asks(cpu="8")},
        {"cpu": "8", "memory": "1"},
    ),
    "odd templates ask for nothing": ({"containers": "none", "initContainers": [1], "overhead": []}, {}),
}


@pytest.mark.parametrize(("spec", "asked"), PODS.values(), ids=PODS.keys())
def test_of_a_pod(spec: dict[str, Any], asked: dict[str, str]) -> None:
    assert pod_resources({"spec": spec}) == amounts(asked)


def test_no_template_asks_for_nothing() -> None:
    assert pod_resources({}) == {}
