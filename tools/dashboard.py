"""The Grafana dashboard, described panel by panel; tools/generate.py writes it as deploy/monitoring/dashboard.json.

It asks only for metrics that the operator has, of which a test makes sure. Both replicas know all jobs, and only the
leader acts: what both tell is shown once, and the queue is that of the leader.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

WIDTH, HEIGHT = 12, 8
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
HERE = 'namespace=~"$namespace"'


@dataclass(frozen=True)
class Query:
    expr: str
    legend: str


@dataclass(frozen=True)
class Panel:
    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = "short"
    stacked: bool = False
    kind: str = "timeseries"
    width: int = WIDTH
    height: int = HEIGHT


def _quantiles(metric: str) -> tuple[Query, ...]:
    rate = f"sum by (le) (rate({metric}_bucket{{{HERE}}}[$__rate_interval]))"
    return tuple(Query(f"histogram_quantile({share}, {rate})", f"p{share * 100:g}") for share in (0.5, 0.9, 0.99))


def _phase(phases: str) -> str:
    return f'sum(max by (phase) (paddlejob_jobs{{{HERE}, phase=~"{phases}"}})) or vector(0)'


PANELS = (
    Panel(
        "Leader",
        "Replicas that act: 1, except for some seconds when another takes over.",
        (Query(f"sum(paddlejob_leader{{{HERE}}})", "leaders"),),
        kind="stat",
        width=6,
        height=4,
    ),
    Panel("Running", "Jobs that train.", (Query(_phase("Running"), "jobs"),), kind="stat", width=6, height=4),
    Panel(
        "Not running yet",
        "Jobs that wait, start, restart or scale. `kubectl get pdj -A -o wide` says what holds a job up.",
        (Query(_phase("New|Pending|Starting|Restarting|Scaling"), "jobs"),),
        kind="stat",
        width=6,
        height=4,
    ),
    Panel(
        "Failed", "Failed jobs that still exist.", (Query(_phase("Failed"), "jobs"),), kind="stat", width=6, height=4
    ),
    Panel(
        "Jobs by phase",
        "All jobs that exist, those that ended included.",
        (Query(f"max by (phase) (paddlejob_jobs{{{HERE}}})", "{{phase}}"),),
        stacked=True,
    ),
    Panel(
        "From creation to Running",
        "Of the jobs that began to run: how long they had waited.",
        _quantiles("paddlejob_time_to_running_seconds"),
        unit="s",
    ),
    Panel(
        "Jobs waiting to be looked at",
        "The leader's queue. If it stays high, raise --kube-api-concurrency.",
        (Query(f"max(paddlejob_queue_depth{{{HERE}}} and paddlejob_leader == 1)", "jobs"),),
    ),
    Panel("Time to look at one job", "Reconciles of the leader.", _quantiles("paddlejob_reconcile_seconds"), unit="s"),
    Panel(
        "API calls by verb and resource",
        "What the operator asks of the API server.",
        (
            Query(
                f"sum by (verb, resource) (rate(paddlejob_api_calls_total{{{HERE}}}[$__rate_interval]))",
                "{{verb}} {{resource}}",
            ),
        ),
        unit="reqps",
        stacked=True,
    ),
    Panel(
        "API calls that were refused or failed",
        "By result; 0: no answer. 403 at create: a quota, or a missing right. 409: made already, or changed since.",
        (
            Query(
                "sum by (code, verb, resource) "
                f'(rate(paddlejob_api_calls_total{{{HERE}, code!~"2.."}}[$__rate_interval]))',
                "{{code}} {{verb}} {{resource}}",
            ),
        ),
        unit="reqps",
    ),
    Panel(
        "Failed reconciles",
        "Each is tried again after a pause; the log names the job.",
        (Query(f"sum(rate(paddlejob_reconcile_errors_total{{{HERE}}}[$__rate_interval]))", "errors"),),
        unit="cps",
    ),
    Panel(
        "Unreadable objects and skipped changes",
        "Should be zero. The log names the objects.",
        (
            Query(f"sum(increase(paddlejob_unreadable_objects_total{{{HERE}}}[$__rate_interval]))", "unreadable"),
            Query(f"sum(increase(paddlejob_skipped_changes_total{{{HERE}}}[$__rate_interval]))", "skipped: a defect"),
        ),
    ),
)


def dashboard() -> str:
    made = {
        "title": "PaddlePaddle operator",
        "uid": "paddle-operator",
        "tags": ["paddlepaddle", "kubernetes"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_source(), _namespace()]},
        "annotations": {"list": []},
        "panels": [_panel(number, *placed) for number, placed in enumerate(_placed(), 1)],
    }
    return json.dumps(made, indent=2) + "\n"


def _source() -> Json:
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _namespace() -> Json:
    """Of the operator, not of jobs: no metric names those. Empty where the scrape gives none, and then all match."""
    return {
        "name": "namespace",
        "label": "Namespace of the operator",
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": "label_values(paddlejob_leader, namespace)", "refId": "namespaces"},
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _placed() -> list[tuple[Panel, int, int]]:
    """From left to right, row by row; all panels of a row are equally high."""
    placed, x, y = [], 0, 0
    for panel in PANELS:
        if x + panel.width > 2 * WIDTH:
            raise ValueError(f"{panel.title} does not fit into its row")
        placed.append((panel, x, y))
        x += panel.width
        if x == 2 * WIDTH:
            x, y = 0, y + panel.height
    return placed


def _panel(number: int, panel: Panel, x: int, y: int) -> Json:
    drawn: Json = {"fillOpacity": 20 if panel.stacked else 0, "showPoints": "never"}
    if panel.stacked:
        drawn["stacking"] = {"mode": "normal", "group": "A"}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": drawn if panel.kind == "timeseries" else {}},
            "overrides": [],
        },
        "targets": [
            {"refId": "ABC"[at], "datasource": SOURCE, "expr": query.expr, "legendFormat": query.legend}
            for at, query in enumerate(panel.queries)
        ],
    }
