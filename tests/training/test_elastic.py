"""Real PaddlePaddle, real etcd: workers come, one is killed, one goes, and the model is the same as if nothing had
happened. One file, one test: it takes a minute or two, most of it Paddle's own waiting.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddlejob.local.supervisor.proc import marked
from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.local.workbench import Workbench
from tools.environments import python_of

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "elastic"
STEPS = 40
LONG = 120

pytestmark = [pytest.mark.timeout(600), pytest.mark.paddle]


@pytest.fixture(scope="session")
def python() -> Path:
    """PaddlePaddle 2.6.2 and a client for etcd; `make test` has made it before, with the same pins."""
    return python_of("elastic")


class Gates:
    """Steps after which all trainers wait for us."""

    def __init__(self, folder: Path, *steps: int) -> None:
        self.folder = folder
        folder.mkdir()
        for step in steps:
            (folder / f"{step}.closed").touch()

    def open(self, step: int) -> None:
        (self.folder / str(step)).touch()


def the_example(bench: Workbench, gates: Gates) -> Path:
    """The example's own file, smaller: two workers at first, three at most."""
    job: dict[str, Any] = yaml.safe_load((EXAMPLE / "job.yaml").read_text())
    worker = job["spec"]["worker"]
    worker.update(requests=2, replicas=2, limits=3)
    pod = worker["template"]["spec"]
    pod["volumes"][0]["hostPath"]["path"] = str(bench.folder / "checkpoints")
    (container,) = pod["containers"]
    container["args"] = [*container["args"][:-1], str(Path(__file__).with_name("gated.py"))]
    more = {
        "STEPS": str(STEPS),
        "EXAMPLE": str(EXAMPLE),
        "GATES": str(gates.folder),
        # Long enough for a launcher to start on a busy machine while another waits for it.
        "PADDLE_ELASTIC_TIMEOUT": "15",
    }
    container["env"] += [{"name": name, "value": value} for name, value in more.items()]
    path = bench.folder / "job.yaml"
    path.write_text(yaml.safe_dump(job))
    return path


def wait_for_world(bench: Workbench, workers: int, step: int) -> None:
    """Until trainers of all ranks have begun at this step, each seeing so many workers."""
    line = re.compile(rf"^worker (\d+) of {workers}: begins at step {step} of {STEPS}$", re.MULTILINE)
    logs = bench.state_root / "default" / "elastic" / "logs"

    def ranks() -> bool:
        texts = {path.name: path.read_text(errors="replace") for path in logs.glob("*.log")}
        found = {rank for text in texts.values() for rank in line.findall(text)}
        begun = [begun for text in texts.values() for begun in re.findall(r"^worker .* begins .*$", text, re.MULTILINE)]
        assert found == {str(rank) for rank in range(workers)}, begun[-6:]
        return True

    wait_until(ranks, LONG)


def kill(bench: Workbench, pod: str) -> None:
    """As the kernel would that has no memory left: the launcher and its trainer."""
    (uid,) = (one.metadata.uid for one in bench.state("elastic").pods if one.metadata.name == pod)
    pids = marked(f"PADDLEJOB_CONTAINER={uid}/paddle")
    assert pids
    for pid in pids:
        with suppress(ProcessLookupError):  # a launcher's short-lived helper, or a trainer that followed its launcher
            os.kill(pid, signal.SIGKILL)


@contextmanager
def undisturbed(python: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """What one process alone learns in as many steps, meanwhile."""
    env = {**os.environ, "STEPS": str(STEPS), "SECONDS_PER_STEP": "0", "CHECKPOINT_DIR": str(folder / "alone")}
    with subprocess.Popen([python, EXAMPLE / "train.py"], env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def results(text: str) -> list[float]:
    return [json.loads(line.partition("RESULT ")[2])["weights_norm"] for line in text.splitlines() if "RESULT " in line]


def test_workers_come_and_go_and_the_result_is_that_of_an_undisturbed_run(
    bench: Workbench, etcd: EtcdServer, python: Path, tmp_path: Path
) -> None:
    bench.env["PADDLEJOB_PYTHON"] = str(python)
    gates = Gates(tmp_path / "gates", 7, 17, 27)
    running = bench.start("run", the_example(bench, gates), f"--etcd-server={etcd.address}", quiet=True)
    wait_for_world(bench, workers=2, step=0)
    with undisturbed(python, tmp_path) as alone:
        change_the_world(bench, gates)
        (expected,) = results(alone.communicate(timeout=LONG)[0])
    assert running.wait(LONG) == 0, log(bench)[-3000:]
    status = bench.ended("elastic").job.status
    assert status.phase == "Completed"
    assert status.world is not None
    assert (status.world.scalings, status.attempt) == (2, 0)
    assert etcd.keys() == {}
    learned = results(log(bench))
    assert learned == pytest.approx([expected] * len(learned), rel=1e-6)
    assert len(learned) >= 2


def change_the_world(bench: Workbench, gates: Gates) -> None:
    """From two workers to three, one of which is killed, and back to two. Each of these worlds trains some steps."""
    wait_until(lambda: list((bench.folder / "checkpoints").glob("*/elastic.pdparams")), LONG)
    assert bench.paddlejob("scale", "elastic", "3").stdout == "elastic scaled from 2 to 3 workers\n"
    wait_for_world(bench, workers=3, step=5)
    gates.open(7)
    wait_until(lambda: "step 15 of 40 with 3 workers" in log(bench), LONG)

    kill(bench, "elastic-worker-1")
    wait_for_world(bench, workers=3, step=15)
    gates.open(17)
    wait_until(lambda: "step 25 of 40 with 3 workers" in log(bench), LONG)

    assert bench.paddlejob("scale", "elastic", "2").stdout == "elastic scaled from 3 to 2 workers\n"
    wait_for_world(bench, workers=2, step=25)
    gates.open(27)


def log(bench: Workbench) -> str:
    logs = bench.state_root / "default" / "elastic" / "logs"
    return "".join(path.read_text(errors="replace") for path in logs.glob("*.log"))
