"""Sidecars on a real kubelet: a pod is judged by its training container, whatever stands beside it.

A container that somebody injected never ends by itself. A native sidecar is an init container that the kubelet keeps
running, and ends when the others have ended.
"""

import pytest

from tests.cluster.waiting import wait_until
from tests.node.jobs import FOR_EVER, Gate, a_container, a_job, in_bash
from tests.node.user import ENDS, Manifest, User

pytestmark = pytest.mark.timeout(300)

BESIDE = a_container("proxy", "bash", "-c", FOR_EVER)
BROKEN = a_container("proxy", "bash", "-c", "exit 9")
NATIVE = {**BESIDE, "restartPolicy": "Always"}

SIDECARS: dict[str, Manifest] = {
    "a container that never ends": {"containers": [BESIDE]},
    "a native sidecar": {"initContainers": [NATIVE]},
}


def with_sidecar(role: Manifest, sidecar: Manifest) -> Manifest:
    spec = role["template"]["spec"]
    for kind, containers in sidecar.items():
        spec[kind] = [*spec.get(kind, ()), *containers]
    # The sidecars hear nothing of SIGTERM.
    spec["terminationGracePeriodSeconds"] = 1
    return role


@pytest.mark.parametrize("sidecar", SIDECARS)
def test_a_job_completes_beside(sidecar: str, user: User) -> None:
    gate = Gate(user)
    servers, workers = in_bash(1, FOR_EVER), gate.waiting(2)
    user.submit(
        a_job("proxied", ps=with_sidecar(servers, SIDECARS[sidecar]), worker=with_sidecar(workers, SIDECARS[sidecar]))
    )
    user.in_phase("proxied", "Running")
    gate.open()
    status = user.in_phase("proxied", *ENDS)
    assert (status["phase"], status["worker"]["succeeded"]) == ("Completed", 2), status
    assert (status["restarts"], status["disruptions"]) == (0, 0)
    wait_until(lambda: nothing_runs(user, "proxied"))


@pytest.mark.parametrize("sidecar", SIDECARS)
def test_a_job_fails_beside(sidecar: str, user: User) -> None:
    gate = Gate(user)
    workers = gate.waiting(2, then='echo the data is bad; [ "$PADDLE_TRAINER_ID" = 0 ] || exec sleep infinity; exit 3')
    user.submit(a_job("proxied", worker=with_sidecar(workers, SIDECARS[sidecar])))
    user.in_phase("proxied", "Running")
    gate.open()
    status = user.in_phase("proxied", *ENDS)
    assert status["phase"] == "Failed", status
    assert (status["failure"]["pod"], status["failure"]["exitCode"]) == ("proxied-worker-0", 3), status
    assert "the data is bad" in status["failure"]["message"]
    wait_until(lambda: nothing_runs(user, "proxied"))


def test_a_sidecar_that_fails_does_not_fail_the_job(user: User) -> None:
    gate = Gate(user)
    user.submit(a_job("proxied", worker=with_sidecar(gate.waiting(2), {"containers": [BROKEN]})))
    user.in_phase("proxied", "Running")
    wait_until(lambda: [code(pod, "proxy") for pod in user.pods("proxied").values()] == [9, 9])
    gate.open()
    status = user.in_phase("proxied", *ENDS)
    assert (status["phase"], status["worker"]["succeeded"]) == ("Completed", 2), status


def nothing_runs(user: User, job: str) -> bool:
    """What has finished may stay, for its logs."""
    assert not [name for name, pod in user.pods(job).items() if pod["status"]["phase"] not in {"Succeeded", "Failed"}]
    return True


def code(pod: Manifest, container: str) -> int | None:
    """With which its container has exited."""
    (status,) = (one for one in pod["status"]["containerStatuses"] if one["name"] == container)
    found: int | None = status["state"].get("terminated", {}).get("exitCode")
    return found
