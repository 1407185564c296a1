"""Each alert fires and resolves, as promtool sees it; and promtool would see it if one did not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.binaries import find_all
from tests.packages.programs import Prometheus

MONITORING = Path(__file__).parents[2] / "deploy" / "monitoring"


Promtool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def promtool() -> Promtool:
    program = find_all(Prometheus, print).promtool

    def call(*args: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *args], capture_output=True, text=True, check=False)

    return call


def test_the_rules_are_rules(promtool: Promtool) -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", MONITORING / "alerts.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS: 11 rules found" in done.stdout


def test_each_alert_fires_and_resolves(promtool: Promtool) -> None:
    done = promtool("test", "rules", MONITORING / "alerts-test.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


CHANGES = {
    "never fires": ("(paddlejob_leader) == 0", "(paddlejob_leader) == 7"),
    "fires too early": ("for: 15m", "for: 0m"),
    "never resolves": ("> 100", "> -1"),
    "counts those who wait for the lease": ("paddlejob_queue_depth and paddlejob_leader == 1", "paddlejob_queue_depth"),
    "counts quotas": (', verb!="create"', ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_rule_that_does_otherwise_is_found(promtool: Promtool, tmp_path: Path, change: str) -> None:
    before, after = CHANGES[change]
    rules, tests = ((MONITORING / name).read_text() for name in ("alerts.yaml", "alerts-test.yaml"))
    assert before in rules
    (tmp_path / "alerts.yaml").write_text(rules.replace(before, after))
    (tmp_path / "alerts-test.yaml").write_text(tests)
    assert promtool("test", "rules", tmp_path / "alerts-test.yaml").returncode == 1
