"""How people use jobs on this machine: in notebooks and coroutines, with volumes, functions and `dist_train`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from paddlejob import PVC, AsyncPaddleJob, CephFSVolume, PaddleJob, dist_train, errors
from tests.local.workbench import Workbench
from tests.sdk.jobs import a_job

pytestmark = pytest.mark.usefixtures("at_home")


def test_the_command_starts_here_where_the_images_folder_is_not(at_home: Path) -> None:
    job = a_job("pwd", trainers=1, trainer_package_path="/example/word2vec").submit(local=True)
    job.wait(timeout=60)
    assert [line.text for line in job.logs()] == [str(at_home)]
    job.delete()


def test_volumes_must_be_mapped_and_then_are_there(at_home: Path) -> None:
    job = a_job(
        "cat /mnt/cephfs/a /data/b",
        trainers=1,
        cephfs_volume=CephFSVolume("10.0.0.1:6789"),
        volumes=[PVC("claim", mount_path="/data")],
    )
    with pytest.raises(
        errors.Invalid, match=r"volume cephfs \(cephfs\) is not on this machine.*volumes=\{'cephfs': PATH\}"
    ):
        job.submit(local=True)
    for name in ("a", "b"):
        (at_home / name).write_text(f"{name}\n")
    with pytest.raises(ValueError, match="no such folder"):
        job.submit(local=True, volumes={"cephfs": "/no/such/folder"})
    job.submit(local=True, volumes={"cephfs": at_home, "claim": str(at_home)}).wait(timeout=60)
    assert [line.text for line in job.logs()] == ["a", "b"]
    job.delete()


async def test_ordinary_methods_work_inside_a_running_loop() -> None:
    """As in a notebook."""
    job = a_job("echo hello", trainers=1).submit(local=True)
    assert job.wait(timeout=60).phase == "Completed"
    assert [line.text for line in job.logs(follow=True)] == ["hello"]
    job.delete()


async def test_coroutines_run_side_by_side() -> None:
    async def one(number: int) -> list[str]:
        job = AsyncPaddleJob(
            job_name=f"job-{number}",
            entry_point=f"echo {number}",
            cpu_nums=1,
            runtime_image="any",
            pservers=0,
            trainers=1,
        )
        await job.submit(local=True)
        await job.wait(timeout=60)
        lines = [line.text async for line in job.logs()]
        await job.delete()
        return lines

    assert await asyncio.gather(*(one(number) for number in range(3))) == [["0"], ["1"], ["2"]]


def test_both_faces_are_of_one_job() -> None:
    job = a_job("echo hello", trainers=1)
    job.submit(local=True)

    async def look() -> str | None:
        return (await job.aio.wait(timeout=60)).phase

    assert asyncio.run(look()) == "Completed"
    job.delete()


def test_a_function_runs_in_every_pod() -> None:
    factor = 3

    def compute(base: int) -> None:

        print(base * factor, os.environ["TRAINER_ID"])

    job = PaddleJob.from_function(compute, runtime_image="any", trainers=2, arguments={"base": 2}).submit(local=True)
    job.wait(timeout=60)
    assert sorted(line.text for line in job.logs()) == ["6 0", "6 1"]
    job.delete()


def test_the_yaml_of_a_function_runs_by_the_command_line_too(at_home: Path, bench: Workbench) -> None:
    def compute() -> None:
        print("computed")

    (at_home / "job.yaml").write_text(PaddleJob.from_function(compute, runtime_image="any").to_yaml())
    done = bench.paddlejob("run", at_home / "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "computed" in done.stdout


def test_dist_train_submits_outside_and_trains_inside(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job("echo hello", trainers=1)
    assert dist_train(trainer=lambda: pytest.fail("outside"), paddle_job=job, local=True) is job
    assert "job was submitted and runs on this machine" in capsys.readouterr().out
    job.wait(timeout=60)
    job.delete()
    monkeypatch.setenv("RUNNING_ON_CLOUD", "YES")
    assert dist_train(trainer=lambda: "trained", paddle_job=job) == "trained"


def test_dist_train_refuses_by_name() -> None:
    with pytest.raises(TypeError, match="trainer must be a function"):
        dist_train(trainer="train", paddle_job=a_job("true"))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="paddle_job must be a PaddleJob"):
        dist_train(trainer=lambda: None, paddle_job="job")  # type: ignore[arg-type]  # on purpose


def test_a_notebook_shows_a_table() -> None:
    job = a_job("echo <b>; exit 3", trainers=1)
    assert "not submitted" in job._repr_html_()
    again = PaddleJob.from_yaml(job.to_yaml().replace("    replicas: 1\n", ""))
    assert "1 trainers" in again._repr_html_()  # the default is not written
    assert repr(job) == "PaddleJob('job')"
    job.submit(local=True)
    with pytest.raises(errors.JobFailed):
        job.wait(timeout=60)
    shown = job._repr_html_()
    assert shown.startswith("<table>")
    assert "Failed" in shown
    assert "on this machine" in shown
    job.delete()
    assert "there is no job" in job._repr_html_()
