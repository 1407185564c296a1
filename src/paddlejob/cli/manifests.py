"""The operator's manifests as this package carries them: those of deploy/v1, for the cluster or for one namespace."""

from __future__ import annotations

from copy import deepcopy
from importlib import resources
from typing import Any

import yaml

NAMESPACE = "paddle-system"
Json = dict[str, Any]


def operator_objects() -> list[Json]:
    """deploy/v1/operator.yaml, of which `make generate` keeps a copy beside this file."""
    text = resources.files("paddlejob.cli").joinpath("operator.yaml").read_text()
    return [one for one in yaml.safe_load_all(text) if one]


def namespaced(objects: list[Json], namespace: str = NAMESPACE) -> list[Json]:
    """The same operator in and for one namespace: Roles only, and told to watch that namespace."""
    made = [_moved(one, namespace) for one in deepcopy(objects)]
    for one in made:
        if one["kind"] in ("ClusterRole", "ClusterRoleBinding"):
            one["kind"] = one["kind"].removeprefix("Cluster")
            one["metadata"]["namespace"] = namespace
            if "roleRef" in one:
                one["roleRef"]["kind"] = "Role"
        if one["kind"] == "Deployment":
            container(one)["args"].append(f"--namespace={namespace}")
    return made


def container(deployment: Json) -> Json:
    found: Json = deployment["spec"]["template"]["spec"]["containers"][0]
    return found


def _moved(one: Json, namespace: str) -> Json:
    if one["kind"] == "Namespace":
        one["metadata"]["name"] = namespace
    for place in (one["metadata"], *one.get("subjects", ())):
        if "namespace" in place:
            place["namespace"] = namespace
    return one
