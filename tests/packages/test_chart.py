"""What the chart renders: by default the objects of deploy/v1, and with every value what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packages.helm import Helm, HelmFailed, Json

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = ROOT / "charts" / "paddle-operator"
KEPT = {"helm.sh/resource-policy": "keep"}

EVERYTHING: Json = {
    "image": {"repository": "registry.example.com/operator", "tag": "1.2.3", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "replicas": 3,
    "namespaces": ["team-a", "team-b"],
    "scheduling": {"default": "volcano", "rights": ["kueue", "volcano"]},
    "progress": True,
    "etcd": {"server": "10.0.0.7:2379", "allowedAddresses": ["169.254.0.7", "127.0.0.0/8"]},
    "portRange": "30000,31000",
    "concurrency": 16,
    "logFormat": "text",
    "args": ["--metrics-bind-address=:9000"],
    "resources": {"limits": {"memory": "1Gi"}},
    "nodeSelector": {"pool": "system"},
    "tolerations": [{"key": "system", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "system-cluster-critical",
    "podLabels": {"team": "training", "app.kubernetes.io/name": "stays ours"},
    "podAnnotations": {"note": "read me"},
    "serviceMonitor": {"enabled": True, "interval": "15s", "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "dashboard": {"enabled": True, "labels": {"grafana_dashboard": "yes"}},
}


def deployed(*files: str) -> list[Json]:
    made = [one for file in files for one in yaml.safe_load_all((DEPLOY / file).read_text()) if one]
    return [one for one in made if one["kind"] != "Namespace"]  # helm makes that one, when it is told to


def by_name(objects: list[Json]) -> dict[tuple[str, str, str], Json]:
    named = {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in objects}
    assert len(named) == len(objects), "two objects of one name"
    return named


def without_keep(objects: list[Json]) -> list[Json]:
    """What only helm reads, and only of the CRD."""
    for one in objects:
        if one["kind"] == "CustomResourceDefinition":
            assert one["metadata"].pop("annotations") == KEPT
    return objects


def one(objects: list[Json], kind: str) -> Json:
    (found,) = [each for each in objects if each["kind"] == kind]
    return found


def test_by_default_it_renders_what_deploy_v1_holds(helm: Helm) -> None:
    rendered = without_keep(helm.template())
    assert by_name(rendered) == by_name(deployed("v1/crd.yaml", "v1/operator.yaml"))


def test_for_one_namespace_it_renders_the_one_namespace_manifest(helm: Helm) -> None:
    rendered = without_keep(helm.template({"namespaces": ["paddle-system"]}))
    assert by_name(rendered) == by_name(deployed("v1/crd.yaml", "v1/operator-namespaced.yaml"))


def test_monitoring_is_what_deploy_monitoring_holds(helm: Helm) -> None:
    on = {"enabled": True}
    rendered = helm.template({"serviceMonitor": on, "prometheusRule": on, "dashboard": on, "crd": {"install": False}})
    found, held = (
        by_name(rendered),
        by_name(deployed("monitoring/service-monitor.yaml", "monitoring/prometheus-rule.yaml")),
    )
    assert {key: found[key] for key in held} == held
    dashboard = found["ConfigMap", "paddle-system", "paddle-operator-dashboard"]
    assert dashboard["data"] == {"paddle-operator.json": (DEPLOY / "monitoring/dashboard.json").read_text()}
    assert dashboard["metadata"]["labels"] == {"grafana_dashboard": "1"}


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["default", "everything"])
def test_lint_finds_nothing(helm: Helm, values: Json) -> None:
    said = helm("lint", "--strict", str(CHART), helm.file(values))
    assert "0 chart(s) failed" in said
    assert "[WARNING]" not in said


OWN_RIGHTS = ("", "-volcano", "-kueue", "-progress")


def test_everything_at_once(helm: Helm) -> None:
    objects = helm.template(EVERYTHING)
    deployment = one(objects, "Deployment")
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    assert deployment["spec"]["replicas"] == 3
    assert container["image"] == "registry.example.com/operator:1.2.3"
    assert container["imagePullPolicy"] == "Always"
    assert container["args"] == [
        "operator",
        "--leader-elect",
        "--log-format=text",
        "--namespace=team-a",
        "--namespace=team-b",
        "--scheduling=volcano",
        "--progress",
        "--etcd-server=10.0.0.7:2379",
        "--allow-etcd-address=169.254.0.7",
        "--allow-etcd-address=127.0.0.0/8",
        "--port-range=30000,31000",
        "--kube-api-concurrency=16",
        "--metrics-bind-address=:9000",
    ]
    assert container["resources"]["limits"] == {"memory": "1Gi"}
    assert pod["metadata"] == {
        "labels": {"team": "training", "app.kubernetes.io/name": "paddle-operator"},
        "annotations": {"note": "read me"},
    }
    for name in ("imagePullSecrets", "nodeSelector", "tolerations", "affinity", "priorityClassName"):
        assert pod["spec"][name] == EVERYTHING[name], name
    roles = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]) for each in objects if "Role" in each["kind"]
    }
    assert roles == {
        ("paddle-system", "paddle-operator-lease"),
        *((where, f"paddle-operator{of}") for where in ("team-a", "team-b") for of in OWN_RIGHTS),
        *((None, f"paddle-operator-{of}-paddle-system") for of in ("volcano", "kueue")),
    }
    monitor, rule = one(objects, "ServiceMonitor"), one(objects, "PrometheusRule")
    assert monitor["spec"]["endpoints"] == [{"port": "metrics", "interval": "15s"}]
    assert monitor["metadata"]["labels"] == rule["metadata"]["labels"] == {"release": "prometheus"}
    assert one(objects, "ConfigMap")["metadata"]["labels"] == {"grafana_dashboard": "yes"}


SCHEDULERS = sorted(file.stem.removeprefix("scheduling-") for file in (DEPLOY / "v1").glob("scheduling-*.yaml"))


def test_the_rights_for_schedulers_are_those_of_their_manifests(helm: Helm) -> None:
    assert len(SCHEDULERS) >= 4
    found = by_name(helm.template({"scheduling": {"rights": SCHEDULERS}}))
    held = by_name(deployed(*(f"v1/scheduling-{name}.yaml" for name in SCHEDULERS)))
    assert {key: found[key] for key in held} == held


def test_the_right_to_read_logs_is_that_of_its_manifest(helm: Helm) -> None:
    held = by_name(deployed("v1/progress.yaml"))
    found = by_name(helm.template({"progress": True}))
    assert {key: found[key] for key in held} == held
    assert not held.keys() & by_name(helm.template({})).keys()


def test_for_some_namespaces_only_definitions_are_read_cluster_wide(helm: Helm) -> None:
    objects = helm.template({"scheduling": {"rights": SCHEDULERS}, "namespaces": ["jobs"]})
    whole = [rule for each in objects if each["kind"] == "ClusterRole" for rule in each["rules"]]
    assert {resource for rule in whole for resource in rule["resources"]} == {"customresourcedefinitions"}
    assert all(rule["resourceNames"] and set(rule["verbs"]) == {"list", "watch"} for rule in whole)


def image(objects: list[Json]) -> Any:
    return one(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]


def kinds(objects: list[Json]) -> set[str]:
    return {each["kind"] for each in objects}


DIGEST = "sha256:" + "0123456789abcdef" * 4
CASES: dict[str, tuple[Json, Callable[[list[Json]], bool]]] = {
    "a digest wins over the tag": (
        {"image": {"tag": "1.0", "digest": DIGEST}},
        lambda made: image(made) == f"paddlepaddle/paddle-operator@{DIGEST}",
    ),
    "one replica can be drained": ({"replicas": 1}, lambda made: "PodDisruptionBudget" not in kinds(made)),
    "the CRD is somebody else's": (
        {"crd": {"install": False}},
        lambda made: "CustomResourceDefinition" not in kinds(made),
    ),
    "the CRD goes with the release": (
        {"crd": {"keep": False}},
        lambda made: "annotations" not in one(made, "CustomResourceDefinition")["metadata"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_single_values(helm: Helm, case: str) -> None:
    values, holds = CASES[case]
    assert holds(helm.template(values))


def test_it_goes_to_the_namespace_of_the_release(helm: Helm) -> None:
    objects = helm.template({"namespaces": ["jobs"]}, namespace="elsewhere")
    where = {each["metadata"].get("namespace") for each in objects if each["kind"] != "CustomResourceDefinition"}
    assert where == {"elsewhere", "jobs"}
    subjects = [each["subjects"][0]["namespace"] for each in objects if each["kind"] == "RoleBinding"]
    assert set(subjects) == {"elsewhere"}


REFUSED: dict[str, tuple[Json, str]] = {
    "a misspelt value": ({"replica": 1}, "replica"),
    "a misspelt value within another": ({"image": {"name": "a"}}, "name"),
    "replicas as text": ({"replicas": "2"}, "replicas"),
    "fewer than none": ({"replicas": -1}, "replicas"),
    "an unknown format": ({"logFormat": "xml"}, "logFormat"),
    "a namespace that cannot be": ({"namespaces": ["Team A"]}, "namespaces"),
    "a scheduler that is none": ({"scheduling": {"default": "yarn"}}, "scheduling"),
    "an etcd without a port": ({"etcd": {"server": "10.0.0.7"}}, "etcd"),
    "a range of one number": ({"portRange": "30000"}, "portRange"),
    "half a digest": ({"image": {"digest": "sha256:0123"}}, "digest"),
    "an argument that is no flag": ({"args": ["operator"]}, "args"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_and_named(helm: Helm, case: str) -> None:
    values, named = REFUSED[case]
    with pytest.raises(HelmFailed, match=f"(?s)values don't meet the specifications.*{named}"):
        helm.template(values)
