"""What can be said of the chart without helm: its values, their schema and their page agree, and its version is ours.

What it renders and how it installs is in tests/packages, which has helm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import yaml

from paddlejob.operator.options import SchedulingFlag

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "paddle-operator"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
WITHIN_CHARTS = "global"  # helm adds it to the values of every chart


def schema_leaves(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in schema["properties"].items():
        if "properties" in one:
            yield from schema_leaves(one, f"{path}{name}.")
        else:
            yield f"{path}{name}", one


def default(path: str) -> Any:
    value = VALUES
    for name in path.split("."):
        value = value[name]
    return value


LEAVES = {path: one for path, one in schema_leaves(SCHEMA) if path != WITHIN_CHARTS}


def test_the_schema_knows_every_value_and_no_other() -> None:
    known = {path.split(".")[0] for path in LEAVES}
    assert set(VALUES) == known
    for path in LEAVES:
        default(path)
    for name, one in SCHEMA["properties"].items():
        assert one.get("properties", {}).keys() == (VALUES[name].keys() if "properties" in one else set())


def test_every_value_is_explained_and_strictly_typed() -> None:
    kinds = {"string": str, "boolean": bool, "integer": int, "array": list, "object": dict}
    for path, one in LEAVES.items():
        assert one["description"], path
        assert type(default(path)) is kinds[one["type"]], path
    assert SCHEMA["additionalProperties"] is False
    assert not [name for name, one in SCHEMA["properties"].items() if one.get("additionalProperties", False) is True]


def test_the_charts_page_names_every_value_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (CHART / "README.md").read_text(), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == set(LEAVES)


def test_every_flag_of_the_chart_is_a_flag_of_the_operator() -> None:
    flags = set(re.findall(r"- --([a-z-]+)", (CHART / "templates" / "deployment.yaml").read_text()))
    source = (ROOT / "src/paddlejob/cli/operator.py").read_text()
    assert len(flags) >= 6
    assert not [flag for flag in flags if f"{flag.replace('-', '_')}: Annotated" not in source]


def test_the_chart_knows_every_scheduler_that_the_operator_knows() -> None:
    known = SCHEMA["properties"]["scheduling"]["properties"]
    assert known["default"]["enum"] == list(get_args(SchedulingFlag))
    manifests = {file.stem.removeprefix("scheduling-") for file in (ROOT / "deploy/v1").glob("scheduling-*.yaml")}
    assert set(known["rights"]["items"]["enum"]) == manifests
    assert set(get_args(SchedulingFlag)) - {"none"} <= manifests


def test_chart_package_and_manifests_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (version("paddle-operator"),) * 2
    assert (
        f"image: {VALUES['image']['repository']}:{chart['appVersion']}"
        in (ROOT / "deploy/v1/operator.yaml").read_text()
    )
