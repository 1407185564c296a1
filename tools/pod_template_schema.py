"""Writes the structural schema of a pod template, taken from the API server's own OpenAPI document.

The CRD holds it three times and must stay below the 256 KiB that plain `kubectl apply` accepts, so everything
that validates nothing is dropped: descriptions, defaults, merge keys. Run it as `python -m
tools.pod_template_schema`; without --kubeconfig it starts the control plane of the tests.
"""

import argparse
import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.cluster.binaries import find_binaries
from tests.cluster.control_plane import ControlPlane

OUTPUT = Path(__file__).parents[1] / "src" / "paddlejob" / "api" / "pod_template.schema.json"
LARGEST = 75_000

Schema = dict[str, Any]

# Kubernetes reads these from several JSON types; the forms are those that controller-gen writes.
_DECIMAL = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = rf"^(\+|-)?{_DECIMAL}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_DECIMAL}))?$"
_NUMBER_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_SPECIAL: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "anyOf": _NUMBER_OR_STRING,
        "pattern": _QUANTITY,
        "x-kubernetes-int-or-string": True,
    },
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
}
_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_POD_SPEC = "io.k8s.api.core.v1.PodSpec"

_KEPT = ("type", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def pod_template(document: Schema) -> Schema:
    """The structural schema of PodTemplateSpec in an OpenAPI v3 document of the API group core/v1."""
    return _inline("io.k8s.api.core.v1.PodTemplateSpec", document["components"]["schemas"])


def _inline(name: str, schemas: Schema) -> Schema:
    if name in _SPECIAL:
        return deepcopy(_SPECIAL[name])
    schema = _structural(schemas[name], schemas)
    if name == _OBJECT_META:
        # A pod's owner is its job, and its fields are managed by the server: neither is the user's to write.
        for field in ("managedFields", "ownerReferences"):
            del schema["properties"][field]
        schema["properties"]["creationTimestamp"]["nullable"] = True
    if name == _POD_SPEC:
        # A rule of the job says better what is missing.
        schema["required"] = [field for field in schema.get("required", []) if field != "containers"]
        if not schema["required"]:
            del schema["required"]
    return schema


def _structural(schema: Schema, schemas: Schema) -> Schema:
    if "$ref" in schema:
        return _inline(schema["$ref"].rpartition("/")[2], schemas)
    if "allOf" in schema:
        # OpenAPI's way to put a description beside a reference.
        (only,) = schema["allOf"]
        return _structural(only, schemas)
    result = {key: schema[key] for key in _KEPT if key in schema}
    if "properties" in schema:
        result["properties"] = {key: _structural(each, schemas) for key, each in schema["properties"].items()}
    if "required" in schema:
        result["required"] = sorted(schema["required"])
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = _structural(schema[key], schemas)
    return result


def _document(kubeconfig: Path | None) -> Schema:
    path = "/openapi/v3/api/v1"
    binaries = find_binaries(lambda line: print(line, file=sys.stderr))
    if kubeconfig is not None:
        command = [str(binaries.kubectl), f"--kubeconfig={kubeconfig}", "get", "--raw", path]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    else:
        with TemporaryDirectory() as folder, ControlPlane(binaries, Path(folder)) as control_plane:
            text = control_plane.api.text("GET", path)
    document: Schema = json.loads(text)
    return document


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, help="a running cluster to ask, instead of one of our own")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    schema = pod_template(_document(options.kubeconfig))
    text = json.dumps(schema, sort_keys=True, separators=(",", ":")) + "\n"
    if len(text) > LARGEST:
        print(f"the schema has {len(text)} bytes, three of it do not fit under 256 KiB", file=sys.stderr)
        return 1
    options.output.write_text(text)
    print(f"{options.output.name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
