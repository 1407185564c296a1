"""Volcano's PodGroups without Volcano: the kind, the operator's rights to it, and a hand that admits every group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json

GROUP = "scheduling.volcano.sh"
RIGHTS = Path(__file__).parents[2] / "deploy" / "v1" / "scheduling-volcano.yaml"
ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"podgroups.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
        "scope": "Namespaced",
        "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}],
    },
}


@contextmanager
def defined(plane: ControlPlane) -> Iterator[None]:
    plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(DEFINITION))
    plane.kubectl("apply", "-f", str(RIGHTS))
    wait_until(lambda: plane.kubectl("get", f"podgroups.{GROUP}", "--all-namespaces", "--output=name") == "")
    yield
    plane.kubectl("delete", "-f", str(RIGHTS))
    plane.kubectl("delete", "customresourcedefinition", f"podgroups.{GROUP}")


def admit(desk: Desk) -> None:
    """Every group of the desk's namespace that waits."""
    path = f"/apis/{GROUP}/v1beta1/namespaces/{desk.namespace}/podgroups"
    for group in desk.api.get(path)["items"]:
        if not group.get("status"):
            desk.api.merge(f"{path}/{group['metadata']['name']}", {"status": {"phase": "Inqueue"}})
