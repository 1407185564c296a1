"""The one way in which a job starts on this machine: one at a time, on a host's network too, with the right Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddlejob import PaddleJob
from paddlejob.errors import AlreadyExists, PaddleJobError
from paddlejob.local.state import Folder
from tests.cluster.waiting import wait_until
from tests.local.test_interpreter import a_python
from tests.local.workbench import Workbench, a_role


@pytest.fixture
def at_the_bench(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """Jobs of Python and of the command line keep their state in one place."""
    monkeypatch.setenv("XDG_STATE_HOME", bench.env["XDG_STATE_HOME"])
    return bench


def test_python_starts_a_job_on_the_hosts_network_as_the_command_does(at_the_bench: Workbench) -> None:
    say = "echo $POD_IP $PADDLE_NNODES"
    job = PaddleJob.from_yaml(at_the_bench.write("shared", intranet="Host", worker=a_role(2, "sh", "-c", say)))
    assert job.submit(local=True).wait(timeout=60).phase == "Completed"
    assert [line.text for line in job.logs()] == ["127.0.0.1 2"] * 2
    job.delete()


def test_of_many_starts_at_the_same_moment_one_runs_and_the_others_are_told(bench: Workbench) -> None:
    path = bench.write("single", worker=a_role(1, "sleep", "1000"))
    starts = [bench.start("run", "--detach", path) for _ in range(4)]
    ends = [(one.wait(60), one.stdout.read() if one.stdout else "") for one in starts]
    assert sorted(code for code, _ in ends) == [0, 2, 2, 2], ends
    for code, said in ends:
        assert code == 0 or "already running here" in said or "is starting or deleting single" in said, said
    assert len(bench.processes(bench.in_phase("single", "Running"))) == 1
    assert not bench.processes(bench.state("single"))[1:]
    assert bench.paddlejob("delete", "single").returncode == 0
    assert list((bench.state_root / "default").iterdir()) == []


def test_who_dies_while_starting_leaves_the_name_free(tmp_path: Path) -> None:
    folder = Folder.of(tmp_path, "default", "job")
    program = f"from pathlib import Path; from paddlejob.local.state import Folder; Folder(Path({str(folder.path)!r}))"
    claims = f"{program}.claim(); print('claimed', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", claims], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"claimed\n"
        with pytest.raises(AlreadyExists, match="another process is starting or deleting job"):
            folder.claim()
        other.send_signal(signal.SIGKILL)
    folder.claim().free()
    assert not folder.lock.exists()


def test_what_is_removed_late_is_not_the_next_run(at_the_bench: Workbench) -> None:
    """Somebody deletes a job that has ended, and meanwhile another run of the same name has begun."""
    path = at_the_bench.write("again", worker=a_role(1, "true"))
    at_the_bench.paddlejob("run", path)
    before = at_the_bench.state("again")
    at_the_bench.paddlejob("run", path)
    folder = Folder.of(at_the_bench.state_root, "default", "again")
    folder.remove(before)
    assert folder.read() is not None


NAMED = {
    "by the flag": (("--python", "{python}"), {}),
    "by the flag, as a word": (("--python", "snake"), {"PATH": "{folder}:/usr/bin:/bin"}),
    "by the environment": ((), {"PADDLEJOB_PYTHON": "{python}"}),
    "by searching": ((), {"PATH": "{folder}:/usr/bin:/bin"}),
}


@pytest.mark.parametrize("case", NAMED)
def test_the_folder_of_the_python_comes_first_whatever_the_command(bench: Workbench, case: str) -> None:
    """Programs such as fleetrun name no python, and are found beside it."""
    flags, env = NAMED[case]
    searched = case == "by searching"
    python = a_python(bench.folder / "bin", paddle=searched, name="python" if searched else "snake")
    fill = {"python": python, "folder": python.parent}
    bench.env |= {name: value.format(**fill) for name, value in env.items()}
    path = bench.write("named", worker=a_role(1, "sh", "-c", "echo ${PATH%%:*}"))
    done = bench.paddlejob("run", path, *(one.format(**fill) for one in flags))
    assert f"[named-worker-0] {python.parent}" in done.stdout.splitlines(), done.stdout + done.stderr


def test_the_folder_of_the_python_comes_before_what_a_container_says_of_its_path(bench: Workbench) -> None:
    python = a_python(bench.folder / "bin", paddle=False)
    env = [{"name": "PATH", "value": "/usr/bin:/bin"}]
    path = bench.write("named", worker=a_role(1, "sh", "-c", "echo $PATH", env=env))
    done = bench.paddlejob("run", path, "--python", str(python))
    assert f"[named-worker-0] {python.parent}:/usr/bin:/bin" in done.stdout.splitlines(), done.stdout + done.stderr


@pytest.mark.parametrize("how", ["--python", "PADDLEJOB_PYTHON"])
def test_a_python_that_is_not_there_is_refused(bench: Workbench, how: str) -> None:
    flags: tuple[str, ...] = ("--python", "/no/such/python")
    if how == "PADDLEJOB_PYTHON":
        bench.env[how], flags = "/no/such/python", ()
    done = bench.paddlejob("run", bench.write("lost", worker=a_role(1, "true")), *flags)
    assert (done.returncode, f"{how}: there is no program /no/such/python" in done.stderr) == (2, True), done.stderr


def test_python_takes_the_one_that_the_environment_names(
    at_the_bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = a_python(at_the_bench.folder / "bin", paddle=False)
    monkeypatch.setenv("PADDLEJOB_PYTHON", str(python))
    job = PaddleJob.from_yaml(at_the_bench.write("named", worker=a_role(1, "sh", "-c", "echo ${PATH%%:*}")))
    job.submit(local=True).wait(timeout=60)
    assert [line.text for line in job.logs()] == [str(python.parent)]
    job.delete()


def test_ctrl_c_while_a_job_is_being_submitted_leaves_no_job(bench: Workbench) -> None:
    asked, go = bench.folder / "asked", bench.folder / "go"
    slow = bench.folder / "bin" / "python"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch {asked}\nwhile [ ! -e {go} ]; do sleep 0.1; done\n")
    slow.chmod(0o755)
    bench.env["PATH"] = f"{slow.parent}:{bench.env['PATH']}"
    submitting = bench.start("submit", "--local", bench.write("unwanted", worker=a_role(1, "sleep", "1000")))
    wait_until(asked.exists)
    submitting.send_signal(signal.SIGINT)
    go.touch()
    assert submitting.wait(60) == 130
    assert "no jobs on this machine" in bench.paddlejob("list", "--local").stdout


def test_submit_gives_a_job_to_this_machine_too(bench: Workbench) -> None:
    path = bench.write("given", worker=a_role(1, "sh", "-c", "echo here; [ ! -e fails ]"))
    done = bench.paddlejob("submit", "--local", "--follow", path)
    assert done.stdout.splitlines() == [
        "given submitted to namespace default: `paddlejob logs -f given --local`",
        "[given-worker-0] here",
        "given: Completed: 1 of 1 workers succeeded",
    ]
    assert f"File:       {path}\n" in bench.paddlejob("describe", "given", "--local").stdout
    (bench.folder / "fails").touch()
    assert bench.paddlejob("submit", "--local", "--wait", path).returncode == 1


def test_of_several_jobs_those_are_told_that_run_when_a_later_one_is_refused(bench: Workbench) -> None:
    good, bad = bench.write("good", worker=a_role(1, "true")), bench.write("bad", worker=a_role(1))
    both = bench.folder / "both.yaml"
    both.write_text(f"{good.read_text()}---\n{bad.read_text()}")
    done = bench.paddlejob("submit", "--local", both)
    assert (done.returncode, "entry point of paddle:test is not known" in done.stderr) == (2, True), done.stderr
    assert done.stdout == "good submitted to namespace default: `paddlejob logs -f good --local`\n"
    assert bench.ended("good").job.status.phase == "Completed"


@pytest.mark.parametrize("how", [("run",), ("run", "--detach"), ("submit", "--local", "--wait")], ids=" ".join)
def test_file_names_and_environments_that_are_no_unicode_are_fine(bench: Workbench, how: tuple[str, ...]) -> None:
    strange = os.fsdecode(b"caf\xe9")
    bench.env["STRANGE"] = strange
    folder = bench.folder / strange
    folder.mkdir()
    say = "printf %s $STRANGE | od -An -tx1; basename $PWD | od -An -tx1"
    path = bench.write("job", worker=a_role(1, "sh", "-c", say)).rename(folder / "job.yaml")
    assert bench.paddlejob(*how, path).returncode == 0
    assert bench.ended("job").job.status.phase == "Completed"
    log = bench.state_root / "default" / "job" / "logs" / "job-worker-0.paddle.log"
    assert log.read_text().split() == ["63", "61", "66", "e9", "63", "61", "66", "e9", "0a"]
    assert "caf\N{REPLACEMENT CHARACTER}" in bench.paddlejob("describe", "job", "--local").stdout


def test_a_start_that_fails_in_this_process_leaves_the_name_free(
    at_the_bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = PaddleJob.from_yaml(at_the_bench.write("again", worker=a_role(1, "true")))
    monkeypatch.setenv("PADDLEJOB_PYTHON", sys.executable)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/no/such/python")
        with pytest.raises(PaddleJobError, match="No such file"):
            job.submit(local=True)
    assert job.submit(local=True).wait(timeout=60).phase == "Completed"
    job.delete()
