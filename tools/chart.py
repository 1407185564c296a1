"""What the chart and the Prometheus Operator get of what is written elsewhere: rights and alerts, in other shapes.

What is outside a chart's folder does not go with it, so tools/generate.py writes these copies into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paddlejob.cli.manifests import NAMESPACE

Json = dict[str, Any]

DEFINITIONS = "apiextensions.k8s.io"


def rights(objects: Iterable[Json]) -> Json:
    """The rules of each role, by a short name. The chart makes Roles or ClusterRoles of them: what can only be had for
    the whole cluster stands apart."""
    made = {}
    for one in objects:
        if one["kind"] in ("ClusterRole", "Role"):
            name = one["metadata"]["name"]
            whole = [rule for rule in one["rules"] if rule["apiGroups"] == [DEFINITIONS]]
            rules = [rule for rule in one["rules"] if rule not in whole]
            made[name.removeprefix("paddle-operator-").removeprefix("paddle-")] = {
                "name": name,
                "rules": rules,
                **({"clusterWide": whole} if whole else {}),
            }
    return made


def prometheus_rule(alerts: Json) -> Json:
    """The alerts as the Prometheus Operator wants them."""
    metadata = {"name": "paddle-operator", "namespace": NAMESPACE}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": metadata, "spec": alerts}
