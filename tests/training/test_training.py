"""Real PaddlePaddle, really distributed, on this machine: what was learned is checked, not only exit codes.

The silent wrong result, two workers that each train alone and exit 0, is looked for in test_programs.py.
examples/resnet is trained in test_restarts.py, which compares with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.local.workbench import Workbench, a_role
from tests.training.reports import EXAMPLES, results

HERE = Path(__file__).parent

pytestmark = [pytest.mark.timeout(600), pytest.mark.paddle]


@pytest.mark.parametrize("where", [[], ["--one-address"]], ids=["own addresses", "one address"])
def test_wide_and_deep_learns_on_two_servers_and_two_workers(laptop: Workbench, where: list[str]) -> None:
    first, second = results(laptop, *where, EXAMPLES / "wide_and_deep" / "job.yaml")
    for one in (first, second):
        assert one["world"] == 2
        assert one["auc_before"] < 0.6
        assert one["auc_after"] > 0.80
        assert one["loss_after"] < 0.55 < one["loss_before"]
        assert one["auc_on_others_ids"] > 0.80  # learned by the other worker: they share one model
    assert sorted(first["shards"] + second["shards"]) == [0, 1, 2, 3]
    assert min(first["server_rows"]) > 0
    assert sum(first["server_rows"]) == 1800


def test_word2vec_learns_from_shares_that_are_together_all(laptop: Workbench) -> None:
    first, second = results(laptop, EXAMPLES / "word2vec" / "job.yaml")
    for one in (first, second):
        assert one["world"] == 2
        assert one["accuracy_after"] > one["accuracy_unigram"]
        assert one["perplexity_after"] < one["perplexity_before"] / 2
    assert first["rows"] + second["rows"] == first["rows_of_all"]


LAUNCH = ["python", "-m", "paddle.distributed.launch", "--log_dir=logs/$(PADDLE_TRAINER_ID)"]


def test_two_pods_on_one_host_train_together_and_each_keeps_to_its_own_ports(laptop: Workbench) -> None:
    """As the operator writes it: every pod has a port and a range, and its launcher starts two processes in it."""
    env = [{"name": "PADDLE_NPROC_PER_NODE", "value": "2"}]
    script = str(HERE / "world.py")
    role = a_role(2, *LAUNCH, script, workingDir=str(laptop.folder), env=env)
    results(laptop, laptop.write("crowd", worker=role, intranet="Host"))
    logs = [laptop.folder / "logs" / pod / f"workerlog.{process}" for pod in ("0", "1") for process in (0, 1)]
    found = [json.loads(log.read_text().partition("RESULT ")[2].splitlines()[0]) for log in logs]
    assert [(one["rank"], one["met"]) for one in found] == [(rank, [0, 1, 2, 3]) for rank in range(4)]
    first, second = ([*range_of(one)] for one in (found[0], found[2]))
    assert not {*first} & {*second}
    for one in found:
        assert port_of(one["PADDLE_CURRENT_ENDPOINT"]) in range_of(one)
        assert port_of(one["PADDLE_MASTER"]) in range_of(found[0])
    assert len({one["PADDLE_CURRENT_ENDPOINT"] for one in found}) == 4


def port_of(endpoint: str) -> int:
    return int(endpoint.rpartition(":")[2])


def range_of(told: dict[str, Any]) -> range:
    first, _, last = told["PORT_RANGE"].partition(":")
    return range(int(first), int(last) + 1)
