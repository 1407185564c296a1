"""The CustomResourceDefinition, generated from the types: nothing in it is written twice.

`definition()` is for today's clusters; `definition_v1beta1()` for Kubernetes 1.15 and older, which know neither
CEL nor defaults. The pod template's schema is Kubernetes' own, taken from an API server by `make generate`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from paddlejob.api import rules
from paddlejob.api.job import Job
from paddlejob.api.names import GROUP, KIND, PLURAL, SHORT_NAME, SINGULAR, VERSION

Schema = dict[str, Any]

NAMES: Schema = {
    "kind": KIND,
    "listKind": f"{KIND}List",
    "plural": PLURAL,
    "singular": SINGULAR,
    "shortNames": [SHORT_NAME],
    "categories": ["all"],
}
COLUMNS: tuple[tuple[str, str, str, int], ...] = (
    ("Status", "string", ".status.phase", 0),
    ("Mode", "string", ".status.mode", 0),
    ("PS", "string", ".status.ps.ready", 0),
    ("Worker", "string", ".status.worker.ready", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("Progress", "string", ".status.progress.summary", 0),
    ("ETA", "string", ".status.progress.eta", 0),
    ("Restarts", "integer", ".status.restarts", 1),
    ("Reason", "string", ".status.reason", 1),
)
SUBRESOURCES: Schema = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.worker.replicas",
        "statusReplicasPath": ".status.worker.running",
    },
}


def definition() -> Schema:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": NAMES,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema()},
                    "subresources": SUBRESOURCES,
                    "additionalPrinterColumns": _columns("jsonPath"),
                }
            ],
        },
    }


def definition_v1beta1() -> Schema:
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "versions": [{"name": VERSION, "served": True, "storage": True}],
            "names": NAMES,
            "scope": "Namespaced",
            "subresources": SUBRESOURCES,
            "additionalPrinterColumns": _columns("JSONPath"),
            "validation": {"openAPIV3Schema": _without_newer_words(schema())},
        },
    }


def schema() -> Schema:
    """The structural schema of a whole PaddleJob."""
    generated = msgspec.json.schema(Job)
    structural = _structural(generated, generated["$defs"])
    properties = structural["properties"]
    return {
        "type": "object",
        "description": "A PaddlePaddle training job.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {"description": "What to run.", **properties["spec"]},
            "status": {"description": "The current state of the job.", **_without_defaults(properties["status"])},
        },
        "x-kubernetes-validations": rules.written(rules.ROOT),
    }


def _columns(path_key: str) -> list[Schema]:
    return [
        {"name": name, "type": kind, path_key: path, **({"priority": priority} if priority else {})}
        for name, kind, path, priority in COLUMNS
    ]


@cache
def _pod_template() -> Schema:
    text = Path(__file__).with_name("pod_template.schema.json").read_bytes()
    loaded: Schema = msgspec.json.decode(text)
    # Where a format is asked for, API servers take a list as well. Nobody reads these two.
    for field in ("creationTimestamp", "deletionTimestamp"):
        loaded["properties"]["metadata"]["properties"][field].pop("format", None)
    return loaded


def _structural(node: Schema, defs: Schema) -> Schema:
    """JSON Schema as msgspec writes it, in the dialect that CRDs demand: no references, no null, a type everywhere."""
    node = dict(node)
    if reference := node.pop("$ref", None):
        node = {**defs[reference.removeprefix("#/$defs/")], **node}
    if "null" in [choice.get("type") for choice in node.get("anyOf", ())]:
        (choice,) = (option for option in node.pop("anyOf") if option.get("type") != "null")
        return _structural({**choice, **node}, defs)
    if node.pop("x-pod-template", False):
        return {**_pod_template(), **({"description": node["description"]} if "description" in node else {})}
    if [choice.get("type") for choice in node.get("anyOf", ())] == ["integer", "number", "string"]:
        node |= {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    for dropped in ("title", "$defs"):
        node.pop(dropped, None)
    if node.get("default") in (None, "", {}, []) or isinstance(node["default"], dict):
        node.pop("default", None)
    if not node.get("required"):
        node.pop("required", None)
    if "enum" in node:
        node["type"] = "string"
    if node.get("type") == "integer":
        node["format"] = "int32" if node.get("maximum") == 2**31 - 1 else "int64"
    if "properties" in node:
        node["properties"] = {name: _structural(child, defs) for name, child in node["properties"].items()}
    for inner in ("items", "additionalProperties"):
        if isinstance(node.get(inner), dict):
            node[inner] = _structural(node[inner], defs)
    return node


def _without_defaults(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_defaults(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {name: _without_defaults(value) for name, value in node.items() if name != "default"}


def _without_newer_words(node: Any) -> Any:
    """Drops what API servers before 1.16 do not understand: CEL, defaults and the template's long schema."""
    if isinstance(node, list):
        return [_without_newer_words(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {name: value for name, value in node.items() if name != "default" and not name.startswith("x-")}
    if "template" in kept.get("properties", ()):
        kept["properties"] = {**kept["properties"], "template": {"type": "object"}}
    return {name: _without_newer_words(value) for name, value in kept.items()}
