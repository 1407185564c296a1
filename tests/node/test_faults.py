"""The node, its programs, the operator and the API server at their worst: every job ends as docs/failures.md says.

Each fault concerns everything on the cluster, so these tests run one after the other, and alone.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.waiting import wait_until
from tests.node.cluster import Cluster
from tests.node.conftest import Tell
from tests.node.faults import kill_container, leader, reboot, stopped
from tests.node.jobs import FOR_EVER, Gate, a_job, in_bash
from tests.node.resuming import goes_on, learning, wait_for_checkpoint
from tests.node.user import ENDS, User

pytestmark = pytest.mark.timeout(600)


@contextmanager
def a_running_job(user: User) -> Iterator[Gate]:
    """One server, two workers that end when the gate is opened; afterwards it has completed as if nothing had been."""
    gate = Gate(user)
    user.submit(a_job("tried", ps=in_bash(1, FOR_EVER), worker=gate.waiting(2)))
    user.in_phase("tried", "Running")
    before = uids(user)
    yield gate
    status = user.in_phase("tried", *ENDS)
    assert (status["phase"], status["worker"]["succeeded"]) == ("Completed", 2), status
    assert (status["restarts"], status["disruptions"], status["attempt"]) == (0, 0, 0), status
    assert uids(user).items() <= before.items()


def uids(user: User) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in user.pods("tried").items()}


def is_ready(cluster: Cluster) -> bool:
    node = json.loads(cluster.kubectl("get", "node", cluster.name, "--output=json"))
    return any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"]["conditions"])


def test_a_kubelet_that_is_gone_for_a_minute(user: User, cluster: Cluster) -> None:
    """Kubernetes gives up on the node meanwhile; its containers go on, and their end is told late."""
    with a_running_job(user) as gate, stopped(cluster, "kubelet"):
        gate.open()
        wait_until(lambda: not is_ready(cluster), 120)


def test_a_container_runtime_that_is_started_again(user: User, cluster: Cluster) -> None:
    with a_running_job(user) as gate:
        with stopped(cluster, "containerd"):
            pass
        gate.open()


def test_a_worker_that_ends_while_there_is_no_container_runtime(user: User, cluster: Cluster) -> None:
    with a_running_job(user) as gate, stopped(cluster, "containerd"):
        gate.open()


def test_an_api_server_that_is_started_again(user: User, cluster: Cluster) -> None:
    """The workers end while nobody can be told."""
    with a_running_job(user) as gate, stopped(cluster, "kube-apiserver"):
        gate.open()


def test_a_leader_that_is_killed_while_a_job_starts(user: User, cluster: Cluster) -> None:
    first = leader(cluster)
    gate = Gate(user)
    user.submit(a_job("tried", ps=in_bash(1, FOR_EVER), worker=gate.waiting(2)))
    wait_until(lambda: user.pods("tried"))
    kill_container(first, "manager")
    user.in_phase("tried", "Running")
    kill_container(leader(cluster), "manager")
    gate.open()
    status = user.in_phase("tried", *ENDS)
    assert (status["phase"], status["restarts"], status["disruptions"]) == ("Completed", 0, 0), status


def test_a_node_that_is_started_again(user: User, cluster: Cluster, tell: Tell) -> None:
    """A disruption: the whole job starts again at once, and is not charged for it."""
    user.submit(learning(user))
    wait_for_checkpoint(user)
    reboot(cluster)
    status = goes_on(user, "node started again", tell)
    assert (status["restarts"], status["disruptions"], status["attempt"]) == (0, 1, 1), status
