"""What watches the operator asks only for what it tells; that alerts fire and resolve is in tests/packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from paddlejob.api import Job
from paddlejob.api.status import Phase
from paddlejob.kube.client import Call
from paddlejob.operator.metrics import Metrics
from tests.builders import a_job

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "deploy" / "monitoring"
ALERTS: list[dict[str, Any]] = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text())
TESTS: list[dict[str, Any]] = yaml.safe_load((MONITORING / "alerts-test.yaml").read_text())["tests"]
PAGE = (ROOT / "docs" / "administrator.md").read_text()

# What a scrape adds to every series.
OF_THE_TARGET = {"namespace", "pod"}


@pytest.fixture(scope="module")
def told() -> dict[str, set[str]]:
    """Every series that the operator can have, with the names of its labels."""
    jobs: list[Job] = [a_job().build()]
    metrics = Metrics(lambda: jobs, lambda: 0)
    metrics.count_call(Call("create", "pods", None, 201, 0.1))
    return {
        name: set(re.findall(r"(\w+)=", labels))
        for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", metrics.text().decode(), re.MULTILINE)
        if not name.endswith("_created")
    }


def queries() -> Iterator[tuple[str, str]]:
    for rule in ALERTS:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


QUERIES = list(queries())


@pytest.mark.parametrize(("name", "query"), QUERIES, ids=[name for name, _ in QUERIES])
def test_every_query_asks_for_series_and_labels_that_exist(told: dict[str, set[str]], name: str, query: str) -> None:
    asked = re.findall(r"(paddlejob_\w+)(?:\{(.*?)\})?", query)
    assert asked
    for series, selector in asked:
        assert series in told, name
        assert set(re.findall(r"(\w+)\s*[=!]~?", selector.replace("==", ""))) <= told[series] | OF_THE_TARGET
    grouped = {label.strip() for labels in re.findall(r"by \((.*?)\)", query) for label in labels.split(",")}
    assert grouped <= set().union(*(told[series] for series, _ in asked)) | OF_THE_TARGET


def test_every_phase_in_a_query_exists() -> None:
    phases = {one for _, query in QUERIES for words in re.findall(r'phase=~"(.*?)"', query) for one in words.split("|")}
    assert phases <= {*get_args(Phase), "New"}
    assert {"Running", "Failed"} <= phases


def test_the_dashboard_shows_every_metric(told: dict[str, set[str]]) -> None:
    families = {re.sub(r"_(bucket|count|sum)$", "", series) for series in told}
    shown = " ".join(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])
    assert not [one for one in families if one not in shown]


def test_no_two_panels_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_says_how_bad_it_is_and_what_to_do() -> None:
    for rule in ALERTS:
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), rule["alert"]
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        assert len(rule["annotations"]["description"]) > 60, rule["alert"]
        assert f"`{rule['alert']}`" in PAGE, "the page for administrators lists it"


def test_every_log_line_that_an_alert_tells_to_look_for_is_logged() -> None:
    source = "".join(file.read_text() for file in (ROOT / "src/paddlejob/operator").glob("*.py"))
    said = [words for rule in ALERTS for words in re.findall(r'look for "(.*?)"', rule["annotations"]["description"])]
    assert len(said) >= 3
    assert not [words for words in said if f'("{words}' not in source]


def test_for_every_alert_it_is_tried_that_it_fires_and_that_it_resolves() -> None:
    """promtool runs these; here it is only seen that none is missing."""
    assert [one["name"] for one in TESTS] == [rule["alert"] for rule in ALERTS]
    for one in TESTS:
        asked = [bool(step["exp_samples"]) for step in one.get("promql_expr_test", ())]
        asked += [bool(step["exp_alerts"]) for step in one.get("alert_rule_test", ())]
        assert asked[0] is False, one["name"]
        assert asked[-2:] == [True, False], one["name"]
