"""The operator loses power after every single write of a job's life, one after the other: the end is the same.

The API server has done the write; in every other case the operator did not hear so any more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddlejob.core.kinds import BUILT_IN
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.exchange import Exchange, job_writes
from tests.scenarios.proxy import FaultProxy

LONG = 60
TIMES = {"startTime", "completionTime", "lastTransitionTime", "usage"}


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    with FaultProxy(control_plane) as started:
        yield started


@pytest.fixture
def operator(proxy: FaultProxy, desk: Desk, start_operator: StartOperator, tmp_path: Path) -> OperatorProcess:
    kubeconfig = operator_kubeconfig(desk.control_plane, tmp_path / "kubeconfig", server=proxy.url)
    return start_operator(f"--namespace={desk.namespace}", kubeconfig=kubeconfig)


def live(desk: Desk, job: Json) -> None:
    """From creation to Completed, with a person who ends the workers once the job runs."""
    name = job["metadata"]["name"]
    desk.submit(job)
    desk.in_phase(name, "Running", LONG)
    desk.finish_workers(name)
    desk.in_phase(name, "Completed", LONG)


def live_twice(desk: Desk, job: Json) -> None:
    """As above, but somebody deletes a pod in the middle: the whole job starts again."""
    name = job["metadata"]["name"]
    desk.submit(job)
    desk.in_phase(name, "Running", LONG)
    desk.delete_pod(f"{name}-worker-0")
    desk.until(name, lambda status: status["phase"] == "Running" and status["attempt"] == 1, LONG)
    desk.finish_workers(name)
    desk.in_phase(name, "Completed", LONG)


def without_times(value: object) -> object:
    match value:
        case dict():
            return {name: without_times(inner) for name, inner in value.items() if name not in TIMES}
        case list():
            return [without_times(inner) for inner in value]
        case _:
            return value


def what_is_left(desk: Desk, name: str) -> Json:
    """All that a person can see of a job, but for times and addresses; its name written as JOB."""
    children = {
        kind.plural: sorted(
            f"{one['metadata']['name']} {one.get('status', {}).get('phase', '')}".strip()
            for one in desk.of_kind(kind)
            if one["metadata"].get("labels", {}).get("batch.paddlepaddle.org/job-name") == name
        )
        for kind in BUILT_IN
    }
    seen = {
        "status": without_times(desk.status(name)),
        "told": sorted(desk.told(name)),
        "config": sorted(key for key in desk.config(name) if not key.startswith("PADDLE_JOB_ENVIRONMENT_")),
        **children,
    }
    left: Json = json.loads(json.dumps(seen, sort_keys=True).replace(name, "JOB"))
    return left


def by_address() -> Json:
    return {"ps": a_role(2), "worker": a_role(2), "cleanPodPolicy": "OnCompletion"}


def by_service() -> Json:
    role = a_role(2, starts="at-once")
    return {"ps": role, "worker": role, "intranet": "Service"}


WORKERS = ["JOB-worker-0 Succeeded", "JOB-worker-1 Succeeded"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        pytest.param(by_address(), [], id="by address, all pods deleted"),
        pytest.param(by_service(), WORKERS, id="by service, servers stopped"),
    ],
)
def test_killed_after_any_write_and_started_again_it_comes_to_the_same_end(
    desk: Desk, proxy: FaultProxy, operator: OperatorProcess, spec: Json, pods: list[str]
) -> None:
    trial = Trial(desk, proxy, operator, spec, live)
    live(desk, a_job("calm", **spec))
    wait_until(lambda: what_is_left(desk, "calm")["pods"] == pods)
    expected, made = what_is_left(desk, "calm"), creations(proxy.log)
    assert expected["told"] == ["Completed", "Created", "Started"]
    numbers = range(1, len(job_writes(proxy.log)) + 1)
    killed = [trial.cut_after(number, expected, made) for number in numbers]
    # How often counts are written depends on the moment: the last numbers may come to nothing.
    assert sum(killed) >= len(numbers) - 2
    # Nobody comes back to what was done, however often it was looked at since.
    for number in numbers:
        assert what_is_left(desk, f"cut-{number}") == expected


@pytest.mark.timeout(300)
def test_killed_after_any_write_of_a_restart_it_comes_to_the_same_end(
    desk: Desk, proxy: FaultProxy, operator: OperatorProcess
) -> None:
    spec = {"worker": a_role(2)}
    trial = Trial(desk, proxy, operator, spec, live_twice)
    live_twice(desk, a_job("calm", **spec))
    expected, made = what_is_left(desk, "calm"), creations(proxy.log)
    assert expected["told"] == ["Completed", "Created", "Restarted", "Started", "Started"]
    assert (expected["status"]["attempt"], expected["status"]["disruptions"]) == (1, 1)
    writes = [one.target for one in job_writes(proxy.log)]
    begins = next(number for number, one in enumerate(writes, start=1) if one.startswith("DELETE"))
    numbers = range(begins - 2, len(writes) + 1)  # the event and the status with the decision go before the delete
    killed = [trial.cut_after(number, expected, made) for number in numbers]
    assert sum(killed) >= len(numbers) - 2


def creations(log: list[Exchange]) -> Counter[str]:
    """How many objects were made of each kind."""
    return Counter(one.path for one in log if one.method == "POST" and one.status == 201)


@dataclass(frozen=True)
class Trial:
    desk: Desk
    proxy: FaultProxy
    operator: OperatorProcess
    spec: Json
    live: Callable[[Desk, Json], None]

    def cut_after(self, number: int, expected: Json, made: Counter[str]) -> bool:
        """Whether there was such a write; whatever happened, the end must be as expected."""
        name, kills = f"cut-{number}", list[int]()

        def kill() -> None:
            """Kubernetes starts it again at once."""
            kills.append(self.operator.pid)
            self.operator.kill()
            self.operator.start(ready=False)

        def as_expected() -> bool:
            left, log = what_is_left(self.desk, name), self.proxy.log
            assert left == expected, f"killed after write {number}: {kills}\n{told(left, expected, log)}"
            return True

        self.proxy.clear()
        self.proxy.after_write(number, kill, heard=number % 2 == 0, hang_up=True)
        self.live(self.desk, a_job(name, **self.spec))
        wait_until(as_expected, LONG)
        self.proxy.no_more_hooks()
        log = self.proxy.log
        assert creations(log) == made, f"killed after write {number}: {kills}\n{told({}, expected, log)}"
        return bool(kills)


def told(left: object, expected: Json, log: list[Exchange]) -> str:
    writes = "\n".join(str(one) for one in job_writes(log))
    return f"came to  {json.dumps(left)}\nnot to   {json.dumps(expected)}\nby\n{writes}"
