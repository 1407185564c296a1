"""What is said at the end of a job on this machine: the last lines first, the right place to look, and who ended it."""

from __future__ import annotations

import signal

from tests.local.workbench import Workbench, a_role

SLEEP = ("sleep", "1000")


def test_the_last_lines_come_before_the_word_that_the_job_has_completed(bench: Workbench) -> None:
    path = bench.write("talks", worker=a_role(2, "sh", "-c", "echo first; printf 'last, without an end'"))
    told = bench.paddlejob("run", path).stdout.splitlines()
    assert told[-2] == "talks: Completed"
    assert {f"[talks-worker-{i}] last, without an end" for i in (0, 1)} <= set(told[:-2])


def test_the_hint_after_a_failed_server_names_its_role(bench: Workbench) -> None:
    path = bench.write("served", ps=a_role(1, "sh", "-c", "echo no memory; exit 3"), worker=a_role(1, *SLEEP))
    done = bench.paddlejob("run", path)
    assert "more: paddlejob logs served --role ps\n" in done.stdout
    assert bench.paddlejob("logs", "served", "--role", "ps").stdout == "[served-ps-0] no memory\n"
    assert "More:       paddlejob logs served --role ps --local" in bench.paddlejob("describe", "served").stdout


def test_whoever_runs_a_job_that_another_deletes_is_not_sent_to_logs_that_are_gone(bench: Workbench) -> None:
    runner = bench.start("run", bench.write("gone", worker=a_role(1, *SLEEP)))
    bench.in_phase("gone", "Running")
    assert bench.paddlejob("delete", "gone").stdout == "gone deleted\n"
    assert runner.wait(60) == 130
    assert runner.stdout is not None
    assert runner.stdout.read().splitlines()[-1] == "gone: stopped; it was deleted: its logs are gone"
    assert not (bench.state_root / "default" / "gone").exists()


def test_a_job_that_was_stopped_says_so_wherever_it_is_asked(bench: Workbench) -> None:
    runner = bench.start("run", bench.write("halted", worker=a_role(1, *SLEEP)))
    bench.in_phase("halted", "Running")
    runner.send_signal(signal.SIGINT)
    assert runner.wait(60) == 130
    assert runner.stdout is not None
    assert "halted: stopped; logs are in " in runner.stdout.read().splitlines()[-1]
    assert bench.paddlejob("list").stdout.splitlines()[1].split()[:2] == ["halted", "Stopped"]
    page = bench.paddlejob("describe", "halted").stdout
    assert "Why:        Stopped: it was stopped before it ended" in page
    waited = bench.paddlejob("wait", "halted")
    assert (waited.returncode, waited.stdout) == (1, "halted: Stopped: it was stopped before it ended\n")


def test_a_bar_is_one_line_among_the_last_of_a_failure(bench: Workbench) -> None:
    program = "echo start; for i in $(seq 1000); do printf '\\r%s%% ........' $i; done; echo; echo no such file; exit 1"
    done = bench.paddlejob("run", bench.write("bars", worker=a_role(1, "sh", "-c", program)))
    assert "last lines of bars-worker-0:\nstart\n1000% ........\nno such file\nmore: " in done.stdout
    failure = bench.state("bars").job.status.failure
    assert failure is not None
    assert failure.message == "start\n1000% ........\nno such file"


HOSTILE = r"printf 'be\033[2Jfore \033[31mred\033[0m \033]0;title\007\033[1A\n'; "


def test_nothing_that_a_pod_prints_moves_the_cursor_of_who_reads_it(bench: Workbench) -> None:
    path = bench.write("hostile", worker=a_role(1, "sh", "-c", HOSTILE + "exit 1"))
    told = bench.paddlejob("run", path).stdout
    assert told.splitlines().count("[hostile-worker-0] before red ") == 1
    for said in (told, *(bench.paddlejob(one, "hostile").stdout for one in ("logs", "describe", "list", "wait"))):
        assert "\x1b" not in said


def test_a_bar_that_goes_on_is_followed_in_its_newest_state(bench: Workbench) -> None:
    program = "printf '\\r10%%\\r20%%'; while [ ! -e go ]; do sleep 0.05; done; printf '\\r100%%\\n'"
    runner = bench.start("run", bench.write("bar", worker=a_role(1, "sh", "-c", program)))
    bench.in_phase("bar", "Running")
    following = bench.start("logs", "-f", "bar")
    for one in (runner, following):
        assert one.stdout is not None
        assert "[bar-worker-0] 20%\n" in iter(one.stdout.readline, "")
    (bench.folder / "go").touch()
    assert following.stdout is not None
    assert following.stdout.read() == "[bar-worker-0] 100%\n"
    assert runner.wait(60) == 0
