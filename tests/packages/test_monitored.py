"""What the Prometheus Operator is given is what its CRDs allow: by the chart, and by deploy/monitoring."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane, KubectlFailed
from tests.packages.helm import Helm
from tests.packages.prometheus_operator import crds

MONITORING = Path(__file__).parents[2] / "deploy" / "monitoring"
ON = {"enabled": True}


@pytest.fixture(scope="module")
def monitored(empty: ControlPlane) -> ControlPlane:
    empty.install(*crds("servicemonitors", "prometheusrules"))
    return empty


@pytest.mark.timeout(300)
def test_a_release_that_is_watched(administrator: Helm, monitored: ControlPlane) -> None:
    values = {
        "serviceMonitor": {**ON, "interval": "30s"},
        "prometheusRule": ON,
        "dashboard": ON,
        "crd": {"keep": False},
    }
    administrator.install(values=values)
    kinds = "servicemonitor,prometheusrule,configmap"
    found = monitored.kubectl("-n", OPERATOR_NAMESPACE, "get", kinds, "-o", "name")
    for name in ("servicemonitor.monitoring.coreos.com/paddle-operator", "configmap/paddle-operator-dashboard"):
        assert name in found
    selected = monitored.kubectl("-n", OPERATOR_NAMESPACE, "get", "service", "-l", selector(monitored), "-o", "name")
    assert selected == "service/paddle-controller-manager-metrics\n"
    administrator.uninstall()
    found = monitored.kubectl("-n", OPERATOR_NAMESPACE, "get", kinds, "-o", "name")
    assert "paddle-operator" not in found


def selector(cluster: ControlPlane) -> str:
    path = f"/apis/monitoring.coreos.com/v1/namespaces/{OPERATOR_NAMESPACE}/servicemonitors/paddle-operator"
    labels = cluster.api.get(path)["spec"]["selector"]["matchLabels"]
    return ",".join(f"{key}={value}" for key, value in labels.items())


@pytest.mark.parametrize("name", ["service-monitor.yaml", "prometheus-rule.yaml"])
def test_the_manifests_are_taken_and_a_mistake_in_them_would_not_be(monitored: ControlPlane, name: str) -> None:
    text = (MONITORING / name).read_text().replace(f"namespace: {OPERATOR_NAMESPACE}", "namespace: default")
    strictly = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
    assert monitored.kubectl(*strictly, stdin=text)
    with pytest.raises(KubectlFailed, match="misspelt"):
        monitored.kubectl(*strictly, stdin=text.replace("spec:", "spec:\n  misspelt: 1"))
