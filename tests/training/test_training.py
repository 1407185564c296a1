"""Real PaddlePaddle, really distributed, on this machine: what was learned is checked, not only exit codes.

The silent wrong result, two workers that each train alone and exit 0, is looked for in every way of being found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.workbench import Workbench, a_role
from tests.training.reports import EXAMPLES, Report, results

HERE = Path(__file__).parent

pytestmark = pytest.mark.timeout(600)


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


def test_resnet_learns_on_two_workers_that_share_one_model(resnet: list[Report]) -> None:
    first, second = resnet
    for one in (first, second):
        assert one["world"] == 2
        assert one["accuracy_before"] < 0.5
        assert one["accuracy_after"] > 0.9
    assert first["weights_norm"] == second["weights_norm"]
    assert first["rows"] == second["rows"] > 0


def test_word2vec_learns_from_shares_that_are_together_all(laptop: Workbench) -> None:
    first, second = results(laptop, EXAMPLES / "word2vec" / "job.yaml")
    for one in (first, second):
        assert one["world"] == 2
        assert one["accuracy_after"] > one["accuracy_unigram"]
        assert one["perplexity_after"] < one["perplexity_before"] / 2
    assert first["rows"] + second["rows"] == first["rows_of_all"]


WAYS: dict[str, tuple[dict[str, str], list[str]]] = {
    "PodIP": ({}, []),
    "Service": ({"intranet": "Service"}, []),
    "Host": ({"intranet": "Host"}, []),
    "one address": ({}, ["--one-address"]),
}
PROGRAMS = {
    "by the launcher": ["python", "-m", "paddle.distributed.launch", "--log_dir=logs/$(PADDLE_TRAINER_ID)"],
    "by itself": ["python"],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_workers_never_train_alone(laptop: Workbench, way: str, program: str) -> None:
    spec, flags = WAYS[way]
    role = a_role(2, *PROGRAMS[program], str(HERE / "world.py"), workingDir=str(laptop.folder))
    found = results(laptop, *flags, laptop.write("world", worker=role, **spec))
    assert found == [{"rank": rank, "world": 2, "met": [0, 1]} for rank in (0, 1)]
