"""How far a local job is: it is known without asking for it, from what its workers print."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from datetime import timedelta
from pathlib import Path

from paddlejob.core import Listen
from paddlejob.local.listening import LocalEars
from paddlejob.local.supervisor.proc import CONTAINER_MARK, is_stopped
from tests.builders import NOW
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench, a_role

# Steps that take a moment, until somebody removes the file.
STEPS = (
    'i=0; while [ -e "$0" ]; do i=$((i+1)); echo "step $i/100000 loss: 0.5"; sleep 0.1; done; echo step 100000/100000'
)


def test_a_job_is_followed_to_its_end(bench: Workbench) -> None:
    going = bench.folder / "going"
    going.touch()
    bench.start("run", bench.write("far", worker=a_role(2, "sh", "-c", STEPS, str(going))), quiet=True)

    def told(_: object) -> bool:
        progress = bench.state("far").job.status.progress
        return progress is not None and progress.eta is not None and progress.loss == 0.5

    progress = bench.until("far", told).job.status.progress
    assert progress is not None
    assert (progress.total, progress.summary) == (100_000, "0%")
    going.unlink()
    ended = bench.ended("far").job.status
    assert (ended.phase, ended.progress and ended.progress.summary) == ("Completed", "100%")


def test_a_bar_is_read_before_its_line_ends(tmp_path: Path) -> None:
    log = tmp_path / "pod.paddle.log"
    log.write_text("Epoch 1/2\n\rstep  5/10 [=====>....] - loss: 0.5 - ETA: 1s - 5ms/step\b\b\b")
    ears, asked = LocalEars(None), Listen("pod", "uid", "paddle")
    ears.listen(asked, log, NOW)
    (reading,) = ears.known["uid"].readings[-1:]
    assert (reading.step, reading.total, reading.loss) == (5, 20, 0.5)


def test_while_the_machine_was_asleep_nobody_was_silent(tmp_path: Path) -> None:
    log = tmp_path / "pod.paddle.log"
    log.write_text("step 5/10\n")
    ears, asked, changed = LocalEars(None), Listen("pod", "uid", "paddle"), []
    for seconds in (0, 1, 8 * 3600, 8 * 3600 + 1, 8 * 3600 + 30):
        ears.listen(asked, log, NOW + timedelta(seconds=seconds))
        changed.append(ears.known["uid"].changed)
    woken = NOW + timedelta(hours=8)
    assert changed == [NOW, NOW, woken, woken, woken]
    log.write_text("step 5/10\nstep 6/10\n")
    ears.listen(asked, log, woken + timedelta(seconds=31))
    assert ears.known["uid"].changed == woken + timedelta(seconds=31)


def test_a_log_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    ears = LocalEars(None)
    ears.listen(Listen("pod", "uid", "paddle"), tmp_path, NOW)
    said = ears.known["uid"]
    assert (said.lines, "directory" in said.error) == ((), True)


def test_another_life_of_a_container_begins_afresh(tmp_path: Path) -> None:
    log = tmp_path / "pod.paddle.log"
    ears = LocalEars(None)
    log.write_text("step 5/10\n")
    ears.listen(Listen("pod", "uid", "paddle"), log, NOW)
    log.write_text("step 5/10\nstep 1/10\n")
    ears.listen(Listen("pod", "uid", "paddle", life=1), log, NOW)
    assert [one.step for one in ears.known["uid"].readings] == [1]


def test_of_a_worker_that_says_nothing_it_is_known_whether_it_is_stopped(tmp_path: Path) -> None:
    log = tmp_path / "pod.paddle.log"
    log.write_text("step 5/10\n")
    ears, asked = LocalEars(None), Listen("pod", str(uuid.uuid4()), "paddle")
    with subprocess.Popen(
        ["sleep", "1000"], env={CONTAINER_MARK: f"{asked.uid}/paddle", "PATH": os.environ["PATH"]}
    ) as one:
        try:
            one.send_signal(signal.SIGSTOP)
            wait_until(lambda: is_stopped(one.pid))
            stopped = []
            for seconds in (0, 9, 10, 19):
                ears.listen(asked, log, NOW + timedelta(seconds=seconds))
                stopped.append(ears.known[asked.uid].stopped)
            one.send_signal(signal.SIGCONT)
            wait_until(lambda: not is_stopped(one.pid))
            for seconds in (19, 20):
                ears.listen(asked, log, NOW + timedelta(seconds=seconds))
                stopped.append(ears.known[asked.uid].stopped)
        finally:
            one.kill()
    assert stopped == [False, False, True, True, True, False]  # not looked for at every moment
    assert not is_stopped(one.pid)
