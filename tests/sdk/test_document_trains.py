"""The document's job really trains on this machine, with PaddlePaddle 2.6.2, and so does the SDK's own example.

Installed as a user installs it: our wheel beside PaddlePaddle in one environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddlejob import PaddleJob
from tests.sdk.blocks import BLOCKS
from tests.sdk.environments import environment
from tools.environments import PADDLE
from tools.installer import build

pytestmark = [pytest.mark.timeout(600), pytest.mark.paddle]
ROOT = Path(__file__).parents[2]

# The document's readers and job; what the network learns is the example's.
TRAIN = f"""
{BLOCKS["1"]}
{BLOCKS["2"]}
{BLOCKS["3"]}
import os, example
job.dataset_from_reader, job.dist_reader = dataset_from_reader, dist_reader
job.dist_train(trainer=example.trainer, paddle_job=paddle_job, local=True, volumes={{"cephfs": os.environ["DATA_DIR"]}})
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with environment(PADDLE, build(tmp_path_factory.mktemp("wheel"), editable=False)) as made:
        yield made / "bin" / "python"


def results(job: PaddleJob) -> list[dict[str, float]]:
    """What the trainers say in the end; the job has completed."""
    job.wait(timeout=300)
    lines = [line.text.removeprefix("RESULT ") for line in job.logs() if line.text.startswith("RESULT ")]
    return sorted((json.loads(line) for line in lines), key=lambda one: int(one["trainer"]))


def start(python: Path, folder: Path, *args: str) -> str:
    env = {name: value for name, value in os.environ.items() if name != "PADDLEJOB_PYTHON"}
    done = subprocess.run(
        [python, "train.py", *args], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def check(found: list[dict[str, float]], servers: int) -> None:
    assert [one["trainer"] for one in found] == [0, 1, 2]
    for one in found:
        assert (one["world"], one["servers"]) == (3, servers)
        assert one["accuracy_before"] < 0.7
        assert one["accuracy_after"] > 0.9
    assert sum(one["pairs"] for one in found) == 36000
    assert {one["pairs"] for one in found} == {12000}


def test_the_job_of_the_document_trains(python: Path, at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples" / "sdk" / "train.py", at_home / "example.py")
    (at_home / "train.py").write_text(TRAIN)
    (at_home / "ceph").mkdir()
    monkeypatch.setenv("DATA_DIR", str(at_home / "ceph"))
    assert "paddle-job was submitted and runs on this machine" in start(python, at_home)
    job = PaddleJob.get("paddle-job", "yanxu", local=True)
    check(results(job), servers=3)
    assert len((at_home / "ceph" / "train.csv").read_text().splitlines()) == 36000
    job.delete()


def test_the_example_trains(python: Path, at_home: Path) -> None:
    shutil.copy(ROOT / "examples" / "sdk" / "train.py", at_home)
    start(python, at_home, "--local")
    job = PaddleJob.get("word2vec", local=True)
    check(results(job), servers=2)
    job.delete()
