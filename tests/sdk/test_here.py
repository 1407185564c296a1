"""Jobs of the SDK on this machine: submitted, followed, ended, found again; from ordinary code and from coroutines."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddlejob import PaddleJob, errors
from paddlejob.places.place import Line
from tests.cluster.waiting import wait_until
from tests.sdk.jobs import a_job

pytestmark = pytest.mark.usefixtures("at_home")


def test_a_job_from_its_submission_to_its_end() -> None:
    job = a_job("echo I am $TRAINER_ID of $TRAINERS, $RUNNING_ON_CLOUD")
    assert job.submit(local=True) is job
    assert job.namespace == "default"
    assert job.wait(timeout=60).phase == "Completed"
    assert job.status.worker is not None
    assert job.status.worker.succeeded == 2
    assert sorted(job.logs()) == [Line(f"job-worker-{i}", f"I am {i} of 2, YES") for i in (0, 1)]
    assert [one.reason for one in job.events()][-1] == "Completed"
    job.delete()
    with pytest.raises(errors.NotFound, match="no job job"):
        _ = job.status


def test_submit_returns_while_the_job_runs_and_delete_ends_it() -> None:
    job = a_job("sleep 600").submit(local=True)
    try:
        wait_until(lambda: job.status.phase == "Running")
        with pytest.raises(errors.AlreadyExists, match="is already running here"):
            a_job("echo again").submit(local=True)
        with pytest.raises(errors.Timeout, match="has not ended after 1 s: it is Running"):
            job.wait(timeout=1)
    finally:
        job.delete()


def test_following_logs_goes_on_until_the_end() -> None:
    job = a_job("echo one; sleep 1; echo two", trainers=1).submit(local=True)
    began = time.monotonic()
    lines = job.logs(follow=True)
    assert next(lines).text == "one"
    first = time.monotonic() - began
    assert [line.text for line in lines] == ["two"]
    assert first < time.monotonic() - began
    assert [line.text for line in job.logs(tail=1)] == ["two"]
    assert job.status.finished
    job.delete()


def test_following_ends_with_the_job_and_shows_nothing_of_the_next_one_of_its_name() -> None:
    job = a_job("echo one; sleep 600", trainers=1).submit(local=True)
    lines = job.logs(follow=True)
    assert next(lines).text == "one"
    job.delete()
    again = a_job("echo another one", trainers=1).submit(local=True)
    again.wait(timeout=60)
    assert list(lines) == []
    again.delete()


def test_leaving_a_log_early_is_fine() -> None:
    job = a_job("echo one; sleep 600", trainers=1).submit(local=True)
    for line in job.logs(follow=True):
        assert str(line) == "[job-worker-0] one"
        break
    job.delete()


# Workers end when the server has said its word: the end of the job would cut it short.
SERVER_FIRST = """
echo $TRAINING_ROLE
if test $TRAINING_ROLE = PSERVER; then touch {sign}; sleep 600; fi
until test -e {sign}; do sleep 0.05; done
"""


def test_logs_of_roles_and_of_single_pods(at_home: Path) -> None:
    job = a_job(SERVER_FIRST.format(sign=shlex.quote(str(at_home / "sign"))), pservers=1).submit(local=True)
    job.wait(timeout=60)
    assert {line.pod for line in job.logs(role="all")} == {"job-ps-0", "job-worker-0", "job-worker-1"}
    assert [line.text for line in job.logs(role="ps")] == ["PSERVER"]
    assert [line.pod for line in job.logs(index=1)] == ["job-worker-1"]
    for wrong in ({"role": "trainer"}, {"index": -1}, {"tail": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            job.logs(**wrong)
    job.delete()


def test_a_failed_job_says_which_pod_and_its_last_lines() -> None:
    job = a_job("echo no such data; exit 7", trainers=1).submit(local=True)
    with pytest.raises(errors.JobFailed, match=r"(?s)job failed: .*job-worker-0 ended with exit code 7.*no such data"):
        job.wait(timeout=60)
    job.delete()


def test_a_job_that_somebody_stopped_did_not_end_well() -> None:
    job = a_job("sleep 600").submit(local=True)
    wait_until(lambda: job.status.phase == "Running")
    subprocess.run([sys.executable, "-c", _STOP], check=True)
    with pytest.raises(errors.JobFailed, match="was stopped before it ended"):
        job.wait(timeout=60)
    job.delete()


_STOP = """
import os, signal
from paddlejob.local.state import folders, root
((_, state),) = folders(root(os.environ))
os.kill(state.pid, signal.SIGTERM)
"""


def test_a_job_is_found_again_by_its_name() -> None:
    a_job("echo hello", trainers=1).submit(local=True).wait(timeout=60)
    found = PaddleJob.get("job", local=True)
    assert found.status.phase == "Completed"
    assert [line.text for line in found.logs()] == ["hello"]
    found.delete()
    with pytest.raises(errors.NotFound, match="no job other"):
        PaddleJob.get("other", local=True)


def test_a_job_outlives_the_program_that_submitted_it(at_home: Path) -> None:
    program = """
from paddlejob import PaddleJob
one = {"cpu_nums": 1, "runtime_image": "any", "pservers": 0, "trainers": 1}
PaddleJob(job_name="job", entry_point="sleep 1; echo later", **one).submit(local=True)
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=at_home)
    found = PaddleJob.get("job", local=True)
    assert found.wait(timeout=60).phase == "Completed"
    assert [line.text for line in found.logs()] == ["later"]
    found.delete()


def test_what_jobs_of_this_machine_cannot_do_is_said() -> None:
    job = a_job("sleep 600").submit(local=True)
    with pytest.raises(errors.NotHere, match=r"job is not elastic"):
        job.scale(3)
    acts: list[Callable[[], object]] = [job.suspend, job.resume]
    for act in acts:
        with pytest.raises(errors.NotHere, match=r"job runs on this machine.*cluster"):
            act()
    with pytest.raises(ValueError, match="trainers"):
        job.scale(0)
    job.delete()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a context for this machine": ({"local": True, "context": "a"}, "context and kubeconfig"),
    "folders for a cluster": ({"volumes": {"a": "/"}}, "local=True"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_go_together(case: str) -> None:
    given, said = WRONG[case]
    with pytest.raises(ValueError, match=said):
        a_job("true").submit(**given)


def test_what_was_only_written_down_cannot_be_asked() -> None:
    job = a_job("true")
    for act in (job.wait, job.events, job.delete, lambda: job.status, job.logs):
        with pytest.raises(errors.NotSubmitted, match="call submit"):
            act()


def test_ctrl_c_ends_the_waiting_and_not_the_job(at_home: Path) -> None:
    job = a_job("echo begun; sleep 600", trainers=1).submit(local=True)
    program = """
from paddlejob import PaddleJob
job = PaddleJob.get("job", local=True)
try:
    for line in job.logs(follow=True):
        print(line.text, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    job.wait()
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=at_home, stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        try:
            for said in ("begun\n", "interrupted\n"):
                assert waiting.stdout.readline() == said
                waiting.send_signal(signal.SIGINT)
            assert waiting.wait(30) in (1, -signal.SIGINT)
        finally:
            waiting.kill()
    assert job.status.phase == "Running"
    job.delete()


def test_a_runner_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false = tmp_path / "false"
    false.write_text("#!/bin/sh\necho out of luck >&2\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setenv("PADDLEJOB_PYTHON", sys.executable)
    monkeypatch.setattr(sys, "executable", str(false))
    with pytest.raises(errors.PaddleJobError, match="cannot start a runner on this machine: out of luck"):
        a_job("true").submit(local=True)
