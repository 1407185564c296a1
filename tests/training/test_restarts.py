"""Real PaddlePaddle loses a worker in the middle of training: the job is restarted and learns as if nothing had been.

The training process is killed with SIGKILL when its log says that it trains. All jobs run at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from paddlejob.local.state import State
from paddlejob.local.supervisor.proc import marked
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench
from tests.training.reports import EXAMPLES, Report, reports, results

pytestmark = [pytest.mark.timeout(600), pytest.mark.paddle]

PATIENCE = 300.0


@dataclass(frozen=True)
class Accident:
    """Worker 1 of the example is killed once it has printed `trains`."""

    example: str
    trains: str
    gloo: int = 1


ACCIDENTS = {
    "servers": Accident("wide_and_deep", "epoch 2 of 4 begins"),
    "servers-without-gloo": Accident("wide_and_deep", "epoch 2 of 4 begins", gloo=0),
    "collective": Accident("resnet", "epoch 2 of 3"),
}


def job_file(bench: Workbench, name: str, accident: Accident) -> Path:
    """The example as it is, but that it may start again, and has a folder for checkpoints if it makes any."""
    folder = EXAMPLES / accident.example
    job = yaml.safe_load((folder / "job.yaml").read_text())
    spec = job["spec"]
    roles = [spec[role] for role in ("ps", "worker") if role in spec]
    checkpoints = {"name": "CHECKPOINT_DIR", "value": str(bench.folder / name)}
    for role in roles:
        role["template"]["spec"]["containers"][0] |= {"workingDir": str(folder), "env": [checkpoints]}
    return bench.write(name, **{**spec, "withGloo": accident.gloo, "backoffLimit": 1})


def strike(bench: Workbench, name: str, accident: Accident) -> State:
    """The job as it was when its worker 1 was killed."""
    victim = f"{name}-worker-1"
    log = bench.state_root / "default" / name / "logs" / f"{victim}.paddle.log"
    wait_until(lambda: log.exists() and accident.trains in log.read_text(), timeout=PATIENCE)
    state = bench.state(name)
    (uid,) = (pod.metadata.uid for pod in state.pods if pod.metadata.name == victim)
    os.kill(wait_until(lambda: trainer(f"{uid}/paddle")), signal.SIGKILL)
    return state


def trainer(container: str) -> int:
    """The process that trains, 0 if none is seen now: neither the launcher nor what the trainer started."""
    for pid in sorted(marked(f"PADDLEJOB_CONTAINER={container}")):
        with contextlib.suppress(OSError):  # it has just ended
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if "train.py" in words and "paddle.distributed.launch" not in words:
                return pid
    return 0


@dataclass(frozen=True)
class Outcome:
    before: State
    after: State
    said: list[Report]


def suffer(bench: Workbench, name: str, accident: Accident) -> Outcome:
    run = bench.start("run", job_file(bench, name, accident))
    before = strike(bench, name, accident)
    output, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, output[-3000:]
    return Outcome(before, bench.state(name), reports(output))


@pytest.fixture(scope="module")
def outcomes(paddle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    bench = Workbench(tmp_path_factory.mktemp("restarts"))
    bench.env["PADDLEJOB_PYTHON"] = str(paddle)
    try:
        with ThreadPoolExecutor(len(ACCIDENTS)) as hands:
            made = {name: hands.submit(suffer, bench, name, one) for name, one in ACCIDENTS.items()}
        yield {name: one.result() for name, one in made.items()}
    finally:
        bench.close()


@pytest.fixture(scope="module")
def resnet(paddle: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    """What the two workers of examples/resnet say when nothing disturbs them."""
    bench = Workbench(tmp_path_factory.mktemp("resnet"))
    bench.env["PADDLEJOB_PYTHON"] = str(paddle)
    return results(bench, EXAMPLES / "resnet" / "job.yaml")


def test_resnet_learns_on_two_workers_that_share_one_model(resnet: list[Report]) -> None:
    first, second = resnet
    for one in (first, second):
        assert one["world"] == 2
        assert one["accuracy_before"] < 0.5
        assert one["accuracy_after"] > 0.9
    assert first["weights_norm"] == second["weights_norm"]
    assert first["rows"] == second["rows"] > 0


@pytest.mark.parametrize("name", ACCIDENTS)
def test_one_restart_is_counted_and_the_job_completes(outcomes: dict[str, Outcome], name: str) -> None:
    status = outcomes[name].after.job.status
    assert (status.phase, status.restarts, status.disruptions) == ("Completed", 1, 0)
    assert [one["rank"] for one in outcomes[name].said] == [0, 1]
    assert [one["world"] for one in outcomes[name].said] == [2, 2]


@pytest.mark.parametrize("name", ["servers", "collective"])
def test_all_pods_are_made_again_on_new_addresses(outcomes: dict[str, Outcome], name: str) -> None:
    one = outcomes[name]
    assert one.after.job.status.attempt == 1
    for pod in one.after.pods:
        earlier = next(each for each in one.before.pods if each.metadata.name == pod.metadata.name)
        assert pod.metadata.uid != earlier.metadata.uid
        assert pod.status.pod_ip != earlier.status.pod_ip


def test_a_restarted_collective_job_ends_with_the_very_model_of_an_undisturbed_one(
    outcomes: dict[str, Outcome], resnet: list[Report]
) -> None:
    said = outcomes["collective"].said
    assert all(one["resumed_after"] >= 1 for one in said)  # it went on from its checkpoint
    undisturbed = [
        {**one, "losses": one["losses"][again["resumed_after"] :]} for one, again in zip(resnet, said, strict=True)
    ]
    assert [{**one, "resumed_after": 0} for one in said] == undisturbed


def test_a_restarted_job_with_servers_learns_from_the_beginning(outcomes: dict[str, Outcome]) -> None:
    for one in outcomes["servers"].said:
        assert one["auc_before"] < 0.6
        assert one["auc_after"] > 0.80
        assert one["auc_on_others_ids"] > 0.80


def test_a_worker_without_gloo_comes_back_alone_to_a_model_that_went_on_learning(outcomes: dict[str, Outcome]) -> None:
    one = outcomes["servers-without-gloo"]
    uids = [{pod.metadata.name: pod.metadata.uid for pod in state.pods} for state in (one.before, one.after)]
    kept = {name for name, uid in uids[1].items() if uids[0][name] == uid}
    assert kept == {"servers-without-gloo-worker-0"}  # the servers' pods are gone with the end
    assert one.after.job.status.attempt == 0
    survivor, replaced = one.said
    # The survivor may be done long before: then only what it saw of the other's ads is in its score.
    assert survivor["auc_after"] > 0.6
    assert replaced["auc_before"] > 0.6
    assert replaced["auc_after"] > 0.80
    assert replaced["auc_on_others_ids"] > 0.80
