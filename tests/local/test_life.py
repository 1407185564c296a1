"""Restarts and deadlines on this machine: every life of the table. test_single_lives.py tells of some one by one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.local.lives import ROWS_WITH_A_SIGN, TABLE, Player
from tests.local.workbench import Workbench

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Player, dict[str, str]]]:
    """Every row is over; with it, what followers of the logs saw."""
    bench = Workbench(tmp_path_factory.mktemp("lives"))
    try:
        player = Player(bench)
        yield player, player.play()
    finally:
        bench.close()


Played = tuple[Player, dict[str, str]]


@pytest.mark.parametrize("name", TABLE)
def test_a_life_goes_as_the_table_says(played: Played, name: str) -> None:
    (player, _), row = played, TABLE[name]
    state = player.bench.state(name)
    status = state.job.status
    assert (status.phase, status.restarts) == (row.end, row.restarts), status
    assert row.reason in ("", status.reason)
    if row.failure:
        assert status.failure is not None
        assert (status.failure.pod, status.failure.exit_code) == (f"{name}-{row.failure[0]}", row.failure[1])
        # No shell says a word when it is killed: these are the lines of the pod that failed last, and of no other.
        assert [line.split(" at ")[0] for line in status.failure.message.splitlines()] == [f"life {row.restarts + 1}"]
    if row.end == "Completed":
        assert status.failure is None
    assert {pod: len(player.births(name, pod)) for pod in row.pods} == {pod: row.lives.get(pod, 1) for pod in row.pods}
    assert player.bench.processes(state) == []


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.restarts and row.end == "Completed"])
def test_a_restart_waits_ten_seconds_and_has_another_address(played: Played, name: str) -> None:
    (player, _), row = played, TABLE[name]
    logs = player.bench.state_root / "default" / name / "logs"
    for pod, lives in row.lives.items():
        first, second = player.births(name, pod)
        assert (lives, second - first > 9.0) == (2, True)  # the 10 s are counted in whole seconds
        before, after = ((logs / f"{name}-{pod}.paddle{number}.log").read_text().splitlines() for number in ("", ".1"))
        assert (before[0].split(" at ")[0], after[0].split(" at ")[0]) == ("life 1", "life 2")
        assert before[0].split(" at ")[1] != after[0].split(" at ")[1]


@pytest.mark.parametrize("name", [name for name, row in ROWS_WITH_A_SIGN.items() if row.lives.get("worker-0") == 2])
def test_who_follows_the_logs_sees_every_life_once_and_in_order(played: Played, name: str) -> None:
    player, told = played
    workers = TABLE[name].workers
    for pod in (f"worker-{i}" for i in range(workers)):
        lines = [line.split(" at ")[0] for line in told[name].splitlines() if line.startswith(f"[{name}-{pod}] life")]
        lives = len(player.births(name, pod))
        assert lines == [f"[{name}-{pod}] life {number}" for number in range(1, lives + 1)]
    shown = player.bench.paddlejob("logs", name, "--index", "0").stdout.splitlines()
    assert [line.split(" at ")[0] for line in shown] == [f"[{name}-worker-0] life 2"]
