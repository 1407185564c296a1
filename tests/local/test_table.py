"""The table of lives on this machine: the same rows as on a cluster, all jobs at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.local.nursery import Nursery
from tests.local.workbench import Workbench, a_role
from tests.scenarios.table import SCENARIOS, Scenario

pytestmark = pytest.mark.timeout(300)


def program(row: Scenario, role: str, go: Path) -> list[str]:
    """Waits for the sign, then exits as the row says, or runs on."""
    cases = [
        f"{pod.removeprefix(f'{role}-')}) {leave(code)};;" for pod, code in row.exits if pod.startswith(f"{role}-")
    ]
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done"
    return ["sh", "-c", f"{wait}; case $PADDLE_TRAINER_ID in {' '.join(cases)} *) exec sleep 1000;; esac"]


def leave(code: int) -> str:
    # In a command "$$" is a dollar sign, as Kubernetes defines it.
    return f"kill -{code - 128} $$$$" if code > 128 else f"exit {code}"


def spec(row: Scenario, go: Path) -> dict[str, Any]:
    made: dict[str, Any] = {"worker": a_role(row.workers, *program(row, "worker", go))}
    if row.servers:
        made["ps"] = a_role(row.servers, *program(row, "ps", go))
    if row.policy != "unset":
        made["cleanPodPolicy"] = row.policy
    return made


def test_every_life_ends_as_the_table_says(bench: Workbench) -> None:
    signs = {row.name: bench.folder / f"{row.name}.go" for row in SCENARIOS}
    with Nursery(bench.env) as nursery:
        for row in SCENARIOS:
            nursery.run(bench.write(row.name, **spec(row, signs[row.name])))
        play(bench, signs)


def play(bench: Workbench, signs: dict[str, Path]) -> None:
    for row in SCENARIOS:
        bench.in_phase(row.name, "Running", timeout=60)
        signs[row.name].touch()
    for row in SCENARIOS:
        state = bench.ended(row.name)
        status = state.job.status
        assert status.phase == row.end, row.name
        if row.failure:
            pod, code = row.failure
            assert status.failure is not None
            assert status.failure.pod.startswith(f"{row.name}-{pod}")
            assert status.failure.exit_code == code
        assert {pod.metadata.name.removeprefix(f"{row.name}-") for pod in state.pods} == row.left, row.name
        assert bench.processes(state) == []
