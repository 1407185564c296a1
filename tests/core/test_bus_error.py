"""A bus error is explained: people who meet one for the first time look for a defect in their program."""

from __future__ import annotations

import pytest

from paddlejob.core import observe, plan
from tests.builders import NOW, a_job, a_pod

WORDS = "/dev/shm is full"

FAILURES: dict[str, tuple[int, str, bool]] = {
    "SIGBUS": (135, "", True),
    "SIGBUS behind a launcher": (249, "C++ Traceback\n[SignalInfo: *** SIGBUS (@0x7f1) received by PID 12 ***]", True),
    "what a shell says": (1, "Bus error (core dumped)", True),
    "what the loader says": (
        1,
        "ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by",
        True,
    ),
    "what its parent says": (1, "SystemError: DataLoader worker (pid 77) is killed by signal: Bus error.", True),
    "what Paddle advises": (1, "It may be caused by insufficient shared storage space.", True),
    "another signal": (139, "Segmentation fault", False),
    "another failure": (1, "ValueError: the omnibus errors of last year", False),
    "a full disk": (1, "OSError: [Errno 28] No space left on device: '/data/model'", False),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_bus_error_is_explained_in_the_jobs_message_and_nothing_else_is(case: str) -> None:
    code, said, explained = FAILURES[case]
    job = a_job().in_phase("Running").build()
    failed = a_pod().of(job, "worker", 0).failed(code, message=said).build()
    status = plan(job, observe(job, [failed]), NOW).status
    assert status.phase == "Failed"
    assert status.message.startswith(f"train-worker-0 failed with exit code {code} (Error)")
    assert (WORDS in status.message) is explained
    assert status.failure is not None
    assert status.failure.message == said
