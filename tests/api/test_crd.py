"""The CustomResourceDefinition: what `kubectl get` prints, what is refused, and the shape that API servers demand.

A real API server judges it in tests/cluster; here stands what must hold before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from paddlejob.api import crd, rules

Schema = dict[str, Any]
KUBECTL_APPLY_LIMIT = 256 * 1024


@pytest.fixture(scope="module")
def definition() -> Schema:
    return crd.definition()


@pytest.fixture(scope="module")
def version(definition: Schema) -> Schema:
    (only,) = definition["spec"]["versions"]
    found: Schema = only
    return found


@pytest.fixture(scope="module")
def schema(version: Schema) -> Schema:
    found: Schema = version["schema"]["openAPIV3Schema"]
    return found


@pytest.fixture(scope="module")
def spec(schema: Schema) -> Schema:
    found: Schema = schema["properties"]["spec"]["properties"]
    return found


def test_the_resource_is_named(definition: Schema) -> None:
    assert definition["metadata"]["name"] == "paddlejobs.batch.paddlepaddle.org"
    assert definition["spec"]["scope"] == "Namespaced"
    assert definition["spec"]["names"] == {
        "kind": "PaddleJob",
        "listKind": "PaddleJobList",
        "plural": "paddlejobs",
        "singular": "paddlejob",
        "shortNames": ["pdj"],
        "categories": ["all"],
    }


def test_kubectl_get_prints_the_users_columns(version: Schema) -> None:
    columns = version["additionalPrinterColumns"]
    assert [one["name"].upper() for one in columns if not one.get("priority")] == [
        "STATUS",
        "MODE",
        "PS",
        "WORKER",
        "AGE",
        "PROGRESS",
        "ETA",
    ]
    assert [one["name"].upper() for one in columns if one.get("priority")] == ["RESTARTS", "REASON"]


def test_every_column_is_a_field(version: Schema, schema: Schema) -> None:
    for column in version["additionalPrinterColumns"]:
        _, *path = column["jsonPath"].split(".")
        if path[0] == "metadata":
            continue
        node = schema
        for name in path:
            node = node["properties"][name]
        assert node["type"] == column["type"]


def test_status_and_scale_are_subresources(version: Schema, schema: Schema) -> None:
    assert version["subresources"]["status"] == {}
    scale = version["subresources"]["scale"]
    assert scale["specReplicasPath"] == ".spec.worker.replicas"
    assert scale["statusReplicasPath"] == ".status.worker.running"
    assert schema["properties"]["status"]["properties"]["worker"]["properties"]["running"]["type"] == "integer"


def test_enums(spec: Schema, schema: Schema) -> None:
    policies = {"Always", "Never", "OnFailure", "OnFailed", "OnCompletion", "Running"}
    assert set(spec["intranet"]["enum"]) == {"PodIP", "Service", "Host", "HostNetwork"}
    assert set(spec["cleanPodPolicy"]["enum"]) == set(spec["cleanPolicy"]["enum"]) == policies
    phases = schema["properties"]["status"]["properties"]["phase"]["enum"]
    assert {"Pending", "Starting", "Running", "Completed", "Failed", "Terminating"} <= set(phases)


def test_defaults(spec: Schema) -> None:
    assert {name: field["default"] for name, field in spec.items() if "default" in field} == {
        "withGloo": 1,
        "intranet": "PodIP",
        "suspend": False,
        "backoffLimit": 0,
    }
    assert spec["worker"]["properties"]["replicas"]["default"] == 1


def test_minimums(spec: Schema) -> None:
    assert {name: field["minimum"] for name, field in spec.items() if "minimum" in field} == {
        "withGloo": 0,
        "elastic": 0,
        "backoffLimit": 0,
        "activeDeadlineSeconds": 1,
        "startingDeadlineSeconds": 1,
        "ttlSecondsAfterFinished": 0,
    }
    assert spec["withGloo"]["maximum"] == 2
    role = spec["worker"]["properties"]
    assert {name: role[name]["minimum"] for name in ("replicas", "requests", "limits")} == {
        "replicas": 0,
        "requests": 1,
        "limits": 1,
    }


def test_every_field_of_the_spec_is_described(spec: Schema) -> None:
    assert [name for name, field in spec.items() if not field.get("description")] == []


def test_rules_stand_where_they_guard(schema: Schema, spec: Schema) -> None:
    assert schema["x-kubernetes-validations"] == rules.written(rules.ROOT)
    assert schema["properties"]["spec"]["x-kubernetes-validations"] == rules.written((*rules.SPEC, *rules.TRANSITIONS))
    for role in ("ps", "worker", "heter"):
        assert spec[role]["x-kubernetes-validations"] == rules.written(rules.ROLE)


ALL_RULES: list[rules.Rule[Any] | rules.Transition] = [*rules.ROOT, *rules.SPEC, *rules.TRANSITIONS, *rules.ROLE]


@pytest.mark.parametrize("rule", ALL_RULES, ids=[one.message[:40] for one in ALL_RULES])
def test_a_rule_says_what_to_do(rule: rules.Rule[Any] | rules.Transition) -> None:
    advice = ("set ", "use ", "create ", "remove ", "give ", "may have ")
    assert any(word in rule.message for word in advice)
    assert "\n" not in rule.message
    assert rule.cel.count("(") == rule.cel.count(")")


REFUSED = {
    "no workers": "a job without workers never ends",
    "no container": "a role needs a container",
    "a pod that never ends": "restartPolicy Always never ends",
    "too many pods": "at most 10000 pods",
    "requests above replicas": "requests is the smallest number",
    "limits below replicas": "limits is the largest number",
    "servers in an elastic job": "elastic jobs have no parameter servers",
    "a name that is no label": "becomes part of host names",
    "a name too long": "metadata.name is too long",
    "servers changed": "spec.ps cannot be changed",
    "workers changed": "spec.worker cannot be changed",
    "replicas changed": "spec.worker.replicas can change only in elastic jobs",
    "replicas changed beyond bounds": "change between worker.requests and worker.limits",
    "network changed": "intranet, elastic, schedulingPolicy, progress, hang and managedBy cannot be changed",
    "a pattern that nobody can read": "progress.pattern is read by RE2",
    "a pattern and a profile": "progress.pattern is in place of a profile",
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED.keys())
def test_there_is_a_rule_against(words: str) -> None:
    assert len([rule for rule in ALL_RULES if words in rule.message]) == 1


def test_every_field_that_a_rule_reads_exists(schema: Schema, spec: Schema) -> None:
    roots: tuple[tuple[tuple[rules.Rule[Any], ...], Schema], ...] = (
        (rules.ROOT, schema),
        (rules.SPEC, schema["properties"]["spec"]),
        (rules.ROLE, spec["worker"]),
    )
    for guarding, node in roots:
        for path in (path for rule in guarding for path in rule.reads if not path.startswith("metadata.")):
            found = node
            for name in path.split("."):
                found = found["properties"][name]


def nodes(node: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema in a schema, with its path."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(node.get(word), dict):
            yield from nodes(node[word], f"{path}[{word}]")


KNOWN = {
    *("type", "format", "description", "default", "enum", "required", "properties", "items", "additionalProperties"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "anyOf", "nullable"),
    *("x-kubernetes-validations", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"),
}


def test_every_node_has_a_type(schema: Schema) -> None:
    loose = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
    untyped = [path for path, node in nodes(schema) if "type" not in node and not any(node.get(word) for word in loose)]
    assert untyped == []


def test_no_word_that_structural_schemas_forbid(schema: Schema) -> None:
    assert {word for _, node in nodes(schema) for word in node} <= KNOWN
    both = [path for path, node in nodes(schema) if "properties" in node and "additionalProperties" in node]
    assert both == []
    assert [path for path, node in nodes(schema) if node.get("type") == "array" and "items" not in node] == []


def test_types_in_a_choice_only_for_numbers_or_text(schema: Schema) -> None:
    choices = [node for _, node in nodes(schema) if "anyOf" in node]
    assert all(node["x-kubernetes-int-or-string"] for node in choices)


def test_what_is_required_exists(schema: Schema) -> None:
    for path, node in nodes(schema):
        assert set(node.get("required", ())) <= node.get("properties", {}).keys(), path


def test_keys_of_lists_are_required_or_have_a_default(schema: Schema) -> None:
    for path, node in nodes(schema):
        items = node.get("items", {})
        given = {*items.get("required", ()), *(k for k, v in items.get("properties", {}).items() if "default" in v)}
        assert set(node.get("x-kubernetes-list-map-keys", ())) <= given, path


def test_the_template_is_kubernetes_own(spec: Schema) -> None:
    template = spec["worker"]["properties"]["template"]
    container = template["properties"]["spec"]["properties"]["containers"]["items"]["properties"]
    assert {"image", "command", "args", "env", "envFrom", "resources", "volumeMounts"} <= container.keys()
    assert template["description"] == "The pod template, as in any Kubernetes workload."
    for role in ("ps", "heter"):
        assert spec[role]["properties"]["template"] == template


def test_status_has_no_defaults(schema: Schema) -> None:
    assert [path for path, node in nodes(schema["properties"]["status"]) if "default" in node] == []


def test_plain_kubectl_apply_accepts_its_size(definition: Schema) -> None:
    assert len(msgspec.json.encode(definition)) < KUBECTL_APPLY_LIMIT


def test_generating_twice_gives_the_same() -> None:
    assert crd.definition() == crd.definition()
    assert crd.definition_v1beta1() == crd.definition_v1beta1()


def test_old_clusters_get_no_word_that_they_do_not_know() -> None:
    old = crd.definition_v1beta1()
    assert old["apiVersion"] == "apiextensions.k8s.io/v1beta1"
    schema = old["spec"]["validation"]["openAPIV3Schema"]
    words = {word for _, node in nodes(schema) for word in node}
    assert "default" not in words
    assert not [word for word in words if word.startswith("x-")]
    assert b"x-kubernetes" not in msgspec.json.encode(old)


def test_old_clusters_know_the_same_fields(spec: Schema) -> None:
    old = crd.definition_v1beta1()["spec"]
    fields = old["validation"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert fields.keys() == spec.keys()
    assert fields["worker"]["properties"]["template"] == {"type": "object"}
    assert fields["intranet"]["enum"] == spec["intranet"]["enum"]
    assert [one["JSONPath"] for one in old["additionalPrinterColumns"]] == [path for _, _, path, _ in crd.COLUMNS]
    assert (old["version"], old["subresources"]) == ("v1", crd.SUBRESOURCES)
