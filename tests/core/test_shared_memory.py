"""/dev/shm of the training container: 64 MiB kill Paddle's DataLoader workers, so it gets a volume in memory."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.core import observe
from paddlejob.core.pods import pod
from tests.builders import Template, a_job, a_ps_job, a_template

OURS = {"name": "paddle-shared-memory", "mountPath": "/dev/shm"}


def made(template: Template) -> dict[str, Any]:
    job = a_job().template(template).build()
    spec: dict[str, Any] = pod(job, observe(job).slots[0])["spec"]
    return spec


def limited(memory: object) -> Template:
    return a_template(resources={"limits": {"memory": memory}})


LIMITS: dict[str, tuple[Template, dict[str, Any]]] = {
    "no limit": (a_template(), {"medium": "Memory"}),
    "a limit": (limited("8Gi"), {"medium": "Memory", "sizeLimit": "8Gi"}),
    "a limit that is a number": (limited(1024), {"medium": "Memory", "sizeLimit": 1024}),
    "a limit of nothing, which is none": (limited("0"), {"medium": "Memory"}),
    "a request only": (a_template(resources={"requests": {"memory": "8Gi"}}), {"medium": "Memory"}),
    "limits that are no mapping": (a_template(resources={"limits": "much"}), {"medium": "Memory"}),
}


@pytest.mark.parametrize(("template", "source"), LIMITS.values(), ids=LIMITS.keys())
def test_it_is_bounded_by_the_memory_of_the_training_container(template: Template, source: dict[str, Any]) -> None:
    spec = made(template)
    assert spec["volumes"] == [{"name": "paddle-shared-memory", "emptyDir": source}]
    assert spec["containers"][0]["volumeMounts"] == [OURS]


def test_servers_have_it_too() -> None:
    job = a_ps_job().build()
    for slot in observe(job).slots:
        assert pod(job, slot)["spec"]["containers"][0]["volumeMounts"] == [OURS]


def test_the_users_volumes_stay_and_only_the_training_container_gets_ours() -> None:
    data = {"name": "data", "mountPath": "/data"}
    template = a_template(spec={"volumes": [{"name": "data", "hostPath": {"path": "/data"}}]}, volumeMounts=[data])
    template["spec"]["containers"].append({"name": "side", "volumeMounts": [data]})
    spec = made(template)
    assert [one["name"] for one in spec["volumes"]] == ["data", "paddle-shared-memory"]
    assert [one["volumeMounts"] for one in spec["containers"]] == [[data, OURS], [data]]


def mounted(path: str) -> Template:
    volumes = [{"name": "own", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]
    return a_template(spec={"volumes": volumes}, volumeMounts=[{"name": "own", "mountPath": path}])


OWN: dict[str, Template] = {
    "mounted there": mounted("/dev/shm"),
    "mounted there, with a slash": mounted("/dev/shm/"),
    "mounted around it": mounted("/dev"),
    "the node's": a_template(spec={"hostIPC": True}),
}


@pytest.mark.parametrize("template", OWN.values(), ids=OWN.keys())
def test_what_the_user_has_there_is_left_alone(template: Template) -> None:
    spec = made(template)
    assert spec.get("volumes") == template["spec"].get("volumes")
    assert spec["containers"][0].get("volumeMounts") == template["spec"]["containers"][0].get("volumeMounts")


def test_what_is_mounted_beside_it_does_not_count() -> None:
    spec = made(mounted("/dev/shm-of-mine"))
    assert [one["name"] for one in spec["volumes"]] == ["own", "paddle-shared-memory"]


def test_a_volume_of_the_same_name_is_the_one_that_is_mounted() -> None:
    own = {"name": "paddle-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}
    spec = made(a_template(spec={"volumes": [own]}))
    assert spec["volumes"] == [own]
    assert spec["containers"][0]["volumeMounts"] == [OURS]
