"""`paddlejob run` as a person meets it: what it prints, its exit codes, and how it ends."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from paddlejob.local.supervisor.proc import is_alive
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench, a_role

SLEEP = ("sleep", "1000")
VOLCANO_EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "wide_and_deep_volcano.yaml"


def test_a_job_that_completes_exits_with_0_and_shows_its_workers_lines(bench: Workbench) -> None:
    path = bench.write("fine", ps=a_role(1, *SLEEP), worker=a_role(2, "sh", "-c", "echo I am $PADDLE_TRAINER_ID"))
    done = bench.paddlejob("run", path)
    assert done.returncode == 0, done.stderr
    assert {"[fine-worker-0] I am 0", "[fine-worker-1] I am 1"} <= set(done.stdout.splitlines())
    assert "fine: Completed: 2 of 2 workers succeeded" in done.stdout


def test_a_job_that_fails_exits_with_1_and_says_what_to_read(bench: Workbench) -> None:
    path = bench.write("broken", worker=a_role(1, "sh", "-c", "echo reading; echo no such file >&2; exit 3"))
    done = bench.paddlejob("run", path)
    assert done.returncode == 1
    assert "broken-worker-0 failed with exit code 3 (Error)" in done.stdout
    assert "last lines of broken-worker-0:\nreading\nno such file\n" in done.stdout
    assert "more: paddlejob logs broken" in done.stdout


def test_pods_on_the_hosts_network_share_its_address_and_have_ports_of_their_own(bench: Workbench) -> None:
    say = "echo told $POD_IP $PADDLE_PORT $PORT_RANGE $PADDLE_MASTER $PADDLE_NNODES"
    done = bench.paddlejob("run", bench.write("shared", intranet="Host", worker=a_role(2, "sh", "-c", say)))
    assert done.returncode == 0, done.stderr
    told = sorted(line.partition("told ")[2].split() for line in done.stdout.splitlines() if " told " in line)
    first = int(told[0][1])
    assert told == [
        ["127.0.0.1", str(port), f"{port + 2}:{port + 19}", f"127.0.0.1:{first}", "2"] for port in (first, first + 20)
    ]


def test_every_pods_launcher_has_a_log_folder_of_its_own(bench: Workbench) -> None:
    done = bench.paddlejob("run", bench.write("logged", worker=a_role(2, "sh", "-c", "echo in $PADDLE_LOG_DIR")))
    folder = bench.state_root / "default" / "logged" / "launcher"
    assert {f"[logged-worker-{i}] in {folder}/logged-worker-{i}.0" for i in (0, 1)} <= set(done.stdout.splitlines())


PADDLE: dict[str, object] = {"name": "paddle", "command": ["true"]}


def a_pod(containers: list[dict[str, object]], **spec: object) -> dict[str, object]:
    return {"replicas": 1, "template": {"spec": {"containers": containers, **spec}}}


BAD: dict[str, tuple[dict[str, object], str]] = {
    "no command": ({"worker": a_role(1)}, "give the command after --"),
    "an unmapped claim": (
        {
            "worker": {
                "replicas": 1,
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "a", "command": ["true"], "volumeMounts": [{"name": "d", "mountPath": "/d"}]}
                        ],
                        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}],
                    }
                },
            }
        },
        "--volume d=PATH",
    ),
    "a container whose name leads elsewhere": ({"worker": a_role(1, "true", name="../x")}, "can be called '../x'"),
    "a container whose name is no label": ({"worker": a_role(1, "true", name="a.b")}, "can be called 'a.b'"),
    "two containers of one name": ({"worker": a_pod([PADDLE, PADDLE])}, "2 containers are called paddle"),
    "a volume whose name leads elsewhere": (
        {"worker": a_pod([PADDLE], volumes=[{"name": "../x", "emptyDir": {}}])},
        "no volume can be called '../x'",
    ),
    "a suspended job": ({"worker": a_role(1, "true"), "suspend": True}, "cannot be resumed on this machine: remove it"),
    "heter workers without servers": ({"worker": a_role(1, "true"), "heter": a_role(1, "true")}, "set spec.ps"),
    "more replicas than the limit": ({"worker": {**a_role(2, "true"), "limits": 1}}, "set it to replicas or above"),
    "fewer replicas than the least": ({"worker": {**a_role(2, "true"), "requests": 3}}, "set it to replicas or below"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_job_that_can_never_start_here_is_refused_with_2_and_leaves_nothing(bench: Workbench, case: str) -> None:
    spec, said = BAD[case]
    done = bench.paddlejob("run", bench.write("bad", **spec))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
    assert not bench.state_root.exists()


NOT_A_GANG = "note: pods are not gang-scheduled on this machine: all start at once"


def test_a_scheduling_policy_has_no_effect_here_which_one_line_says(bench: Workbench) -> None:
    worker = a_role(2, "true", resources={"requests": {"cpu": "1000"}})
    asked = bench.write("gang", worker=worker, schedulingPolicy={"minAvailable": 2, "queue": "none"})
    done = bench.paddlejob("run", asked)
    assert (done.returncode, done.stdout.count(NOT_A_GANG)) == (0, 1), done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if "gang" in line and "note" in line] == [NOT_A_GANG]
    plain = bench.paddlejob("run", bench.write("plain", worker=a_role(2, "true")))
    assert (plain.returncode, NOT_A_GANG in plain.stdout) == (0, False)


def test_the_users_example_for_volcano_runs_here_with_that_line(bench: Workbench) -> None:
    """Its PodGroup is for a cluster."""
    done = bench.paddlejob("run", VOLCANO_EXAMPLE, "--", "sh", "-c", "test $TRAINING_ROLE = TRAINER || sleep 1000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert NOT_A_GANG in done.stdout.splitlines()
    assert "wide-ande-deep: Completed" in done.stdout


def test_a_command_after_two_dashes_replaces_that_of_the_image(bench: Workbench) -> None:
    done = bench.paddlejob("run", bench.write("given", worker=a_role(1)), "--", "sh", "-c", "echo given -x")
    assert (done.returncode, "[given-worker-0] given -x" in done.stdout) == (0, True), done.stderr


def test_a_program_that_is_not_there_is_told(bench: Workbench) -> None:
    done = bench.paddlejob("run", bench.write("lost", worker=a_role(1, "no-such-program")))
    assert done.returncode == 1
    assert "program not found: no-such-program" in done.stdout


def test_a_folder_for_the_state_that_cannot_be_written_is_told(bench: Workbench) -> None:
    bench.env["XDG_STATE_HOME"] = "/proc/nowhere"
    done = bench.paddlejob("run", bench.write("homeless", worker=a_role(1, "true")))
    assert done.returncode == 1
    assert "cannot read or write job state in /proc/nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_state_and_logs_are_readable_by_their_owner_only(bench: Workbench) -> None:
    bench.paddlejob("run", bench.write("private", worker=a_role(1, "true")))
    assert bench.state_root.stat().st_mode & 0o077 == 0


def test_ctrl_c_ends_every_process_and_exits_with_130(bench: Workbench) -> None:
    runner = bench.start("run", bench.write("stopped", ps=a_role(1, *SLEEP), worker=a_role(1, *SLEEP)))
    state = bench.in_phase("stopped", "Running")
    assert len(bench.processes(state)) == 2
    runner.send_signal(signal.SIGINT)
    assert runner.wait(60) == 130
    assert bench.processes(state) == []


def test_a_second_ctrl_c_does_not_wait_for_the_stubborn(bench: Workbench) -> None:
    stubborn = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000; done")
    runner = bench.start("run", bench.write("stubborn", worker=a_role(1, *stubborn)))
    state = bench.in_phase("stubborn", "Running")
    wait_until(lambda: "ready" in (log(bench, "stubborn").read_text() if log(bench, "stubborn").exists() else ""))
    runner.send_signal(signal.SIGINT)
    bench.until("stubborn", lambda state: state.job.status.phase == "Terminating")
    runner.send_signal(signal.SIGINT)
    assert runner.wait(60) == 130
    assert bench.processes(state) == []


def test_delete_force_does_not_wait_for_the_stubborn_even_if_the_runner_has_no_time_to_listen(bench: Workbench) -> None:
    stubborn = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000; done")
    bench.paddlejob("run", "--detach", bench.write("stubborn", worker=a_role(1, *stubborn)))
    state = bench.in_phase("stubborn", "Running")
    wait_until(lambda: "ready" in (log(bench, "stubborn").read_text() if log(bench, "stubborn").exists() else ""))
    os.kill(state.pid, signal.SIGSTOP)
    deleting = bench.start("delete", "--force", "stubborn")
    wait_until(lambda: pending(state.pid) >= {signal.SIGTERM, signal.SIGHUP})
    os.kill(state.pid, signal.SIGCONT)
    assert deleting.wait(20) == 0
    assert bench.processes(state) == []


def pending(pid: int) -> set[int]:
    mask = int(re.findall(r"ShdPnd:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[0], 16)
    return {number for number in range(1, 32) if mask >> number - 1 & 1}


def log(bench: Workbench, name: str) -> Path:
    return bench.state_root / "default" / name / "logs" / f"{name}-worker-0.paddle.log"


def test_two_jobs_of_one_name_cannot_run_at_once_but_one_after_the_other(bench: Workbench) -> None:
    path = bench.write("single", worker=a_role(1, *SLEEP))
    assert bench.paddlejob("run", "--detach", path).returncode == 0
    bench.in_phase("single", "Running")
    second = bench.paddlejob("run", path)
    assert (second.returncode, "is already running here" in second.stderr) == (2, True)
    assert bench.paddlejob("delete", "single").returncode == 0
    assert bench.paddlejob("run", path, "--", "true").returncode == 0


def test_other_terminals_can_list_describe_read_wait_and_delete(bench: Workbench) -> None:
    path = bench.write("shared", worker=a_role(1, "sh", "-c", "echo line one; sleep 1000"))
    bench.paddlejob("run", "--detach", path)
    state = bench.in_phase("shared", "Running")
    assert bench.paddlejob("list").stdout.splitlines()[1].split()[:4] == ["shared", "Running", "Single", "1/1"]
    page = bench.paddlejob("describe", "shared").stdout
    assert "Status:     Running" in page
    assert "shared-worker-0" in page
    wait_until(lambda: "[shared-worker-0] line one" in bench.paddlejob("logs", "shared").stdout)
    late = bench.paddlejob("wait", "shared", "--timeout", "0.1")
    assert (late.returncode, "has not ended after 0.1 s" in late.stderr) == (1, True)
    assert bench.paddlejob("delete", "shared").stdout == "shared deleted\n"
    assert not is_alive(state.pid, state.start_time)
    assert bench.processes(state) == []
    assert "no jobs on this machine" in bench.paddlejob("list").stdout


def test_logs_are_followed_to_the_end_of_the_job(bench: Workbench) -> None:
    sign = bench.folder / "go"
    program = f"echo first; while [ ! -e {sign} ]; do sleep 0.05; done; echo last"
    bench.paddlejob("run", "--detach", bench.write("told", worker=a_role(2, "sh", "-c", program)))
    bench.in_phase("told", "Running")
    following = bench.start("logs", "-f", "told", "--index", "1")
    assert following.stdout is not None
    assert following.stdout.readline() == "[told-worker-1] first\n"
    sign.touch()
    assert following.stdout.read() == "[told-worker-1] last\n"
    assert following.wait(60) == 0
    assert bench.paddlejob("wait", "told").returncode == 0
    assert bench.paddlejob("logs", "told", "--tail", "1").stdout.splitlines() == [
        "[told-worker-0] last",
        "[told-worker-1] last",
    ]


@pytest.mark.parametrize("command", ["describe", "logs", "wait", "delete"])
def test_a_job_that_is_not_there_is_told_with_2(bench: Workbench, command: str) -> None:
    done = bench.paddlejob(command, "nobody")
    assert (done.returncode, "there is no job nobody on this machine" in done.stderr) == (2, True)
