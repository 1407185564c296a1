"""Every code block of the user's SDK document runs: the readers, the job on a real API server, the image commands.

`document/` holds the blocks as they stand there. Where a block shows a placeholder it is filled in; where it cannot
have worked, the test says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paddlejob
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk
from tests.sdk.blocks import BLOCKS
from tests.sdk.engines import Engines

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
NAMESPACE = "yanxu"
SUBMITS = f"{BLOCKS['3']}\njob.dist_train(trainer=lambda: print('inside'), paddle_job=paddle_job)\n"


def names(*blocks: str) -> Json:
    """What the blocks define."""
    found: Json = {}
    exec("\n".join(BLOCKS[one] for one in blocks), found)
    return found


def test_all_blocks_are_there() -> None:
    assert sorted(BLOCKS) == list("123456789")


def test_the_readers_of_the_document_are_those_of_the_sdk(tmp_path: Path) -> None:
    theirs = names("1", "2")
    rows = [(i, i * i, -i) for i in range(20)]
    theirs["dataset_from_reader"](tmp_path / "theirs", lambda: rows)
    paddlejob.dataset_from_reader(tmp_path / "ours", lambda: rows)
    assert (tmp_path / "theirs").read_text() == (tmp_path / "ours").read_text()
    for trainers in (1, 3, 7):
        for one in range(trainers):
            shares = [
                read(tmp_path / "ours", trainers, one)() for read in (theirs["dist_reader"], paddlejob.dist_reader)
            ]
            assert list(shares[0]) == list(shares[1])


def test_the_job_of_the_document_is_written_as_it_says() -> None:
    job = names("3")["paddle_job"]
    assert isinstance(job, paddlejob.PaddleJob)
    container = {
        "name": "paddle",
        "image": "yancey1989/paddle-job",
        "command": ["python", "train.py"],
        "workingDir": "/example/word2vec",
        "env": [{"name": "RUNNING_ON_CLOUD", "value": "YES"}],
        "resources": {"requests": {"cpu": 3}},
        "volumeMounts": [{"name": "cephfs", "mountPath": "/mnt/cephfs"}],
    }
    cephfs = {
        "monitors": ["172.19.32.166:6789"],
        "user": "admin",
        "secretRef": {"name": "cephfs-secret"},
        "path": "/",
    }
    template = {"spec": {"containers": [container], "volumes": [{"name": "cephfs", "cephfs": cephfs}]}}
    assert job.description.document == {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "paddle-job", "namespace": NAMESPACE},
        "spec": {"ps": {"replicas": 3, "template": template}, "worker": {"replicas": 3, "template": template}},
    }


@pytest.fixture
def team(desk: Desk, start_operator: StartOperator) -> Iterator[Desk]:
    """The document's namespace, with an operator."""
    desk.control_plane.add_namespace(NAMESPACE)
    start_operator(f"--namespace={NAMESPACE}")
    yield Desk(desk.control_plane, NAMESPACE)
    desk.api.delete(f"/api/v1/namespaces/{NAMESPACE}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the document presupposes: ./tools, ./example with a train.py that submits, and a kubeconfig."""
    made = tmp_path / "project"
    (made / "example" / "word2vec").mkdir(parents=True)
    (made / "tools").symlink_to(ROOT / "tools")
    (made / "example" / "word2vec" / "train.py").write_text(SUBMITS)
    (tmp_path / "home" / ".kube").mkdir(parents=True)
    return made


def filled(block: str, *values: str) -> str:
    """The block with its placeholders filled in, in order."""
    text = BLOCKS[block].strip()
    for value in values:
        before, _, rest = text.partition("<")
        text = before + value + rest.partition(">")[2]
    assert "<" not in text
    return text


@pytest.mark.timeout(180)
def test_the_commands_of_the_document_build_push_and_submit(team: Desk, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    team.control_plane.kubeconfig(home / ".kube" / "config")
    engines = Engines(tmp_path / "engines", "docker")

    def types(line: str) -> str:
        done = engines.bash(line, project, HOME=str(home))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    image = "yancey1989/paddle-job"
    types(filled("4", "./example/", "/example", "paddlepaddle/paddle", "team/other"))
    types(BLOCKS["5"].strip())
    types(filled("6", "team/other"))
    types(BLOCKS["7"].strip())
    assert [call[1] for call in engines.calls] == ["build", "build", "push", "push"]
    assert engines.calls[-1] == ["docker", "push", image]
    said = types(filled("8", image, "python /example/word2vec/train.py"))
    assert "paddle-job was submitted and runs on the cluster" in said
    _is_the_documents(team)


def test_the_last_example_of_the_document_names_no_image(project: Path, tmp_path: Path) -> None:
    """docker would take `python` for the image; block 8 says where the image's name belongs."""
    engines = Engines(tmp_path / "engines", "docker")
    done = engines.bash(BLOCKS["9"].strip(), project, HOME=str(tmp_path / "home"))
    assert done.returncode == 1
    assert "Unable to find image 'python'" in done.stderr


def _is_the_documents(team: Desk) -> None:
    """The API server holds the document's job, and simulated nodes run it."""
    spec = team.job("paddle-job")["spec"]
    assert (spec["ps"]["replicas"], spec["worker"]["replicas"]) == (3, 3)
    team.in_phase("paddle-job", "Running", timeout=60)
    pods = team.pods()
    assert sorted(pods) == [f"paddle-job-{role}-{i}" for role in ("ps", "worker") for i in range(3)]
    for index in range(3):
        (container,) = pods[f"paddle-job-worker-{index}"]["spec"]["containers"]
        env = {one["name"]: one.get("value") for one in container["env"]}
        assert (env["RUNNING_ON_CLOUD"], env["TRAINER_ID"]) == ("YES", str(index))
        assert container["workingDir"] == "/example/word2vec"
        assert container["resources"]["requests"] == {"cpu": "3"}
    assert team.config("paddle-job")["TRAINERS"] == "3"
    team.finish_workers("paddle-job")
    team.in_phase("paddle-job", "Completed")
