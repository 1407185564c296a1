"""How long a job takes to start on a real kubelet, alone on the cluster. Figures are printed at the end of the run."""

import time

import pytest

from tests.cluster.audit import read_calls
from tests.cluster.waiting import wait_until
from tests.node.conftest import Tell
from tests.node.jobs import FOR_EVER, a_container, a_job, in_bash
from tests.node.user import Manifest, User

pytestmark = pytest.mark.timeout(300)

STARTED = "a container has started"
SAY_SO = f"echo {STARTED}; {FOR_EVER}"
PODS = [f"waiting-{number}" for number in range(4)]


def a_waiting_pod(name: str) -> Manifest:
    """As the operator makes them, but nobody will touch it."""
    container = a_container("paddle", "bash", "-c", SAY_SO, envFrom=[{"configMapRef": {"name": "environment"}}])
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_from_the_environment_to_all_containers_without_a_touch(user: User, tell: Tell) -> None:
    """What the kubelet does by itself: it looks again when it likes."""
    user.submit(*map(a_waiting_pod, PODS))
    for pod in PODS:
        user.kubectl("wait", "pod", pod, "--for=jsonpath={.status.podIP}", "--timeout=60s")
    wait_until(lambda: user.kubectl("get", "pods").count("CreateContainerConfigError") == len(PODS))
    written = time.time()
    user.kubectl("create", "configmap", "environment", "--from-literal=PADDLE_PORT=2379")
    tell(f"figures: environment written > all containers run, not touched: {last_start(user, PODS) - written:.1f} s")


@pytest.mark.parametrize("network", ["PodIP", "Service"])
def test_from_the_environment_to_all_containers(user: User, network: str, tell: Tell) -> None:
    began = time.time()
    user.submit(a_job("quick", intranet=network, ps=in_bash(2, SAY_SO), worker=in_bash(2, SAY_SO)))
    user.in_phase("quick", "Running")
    started = last_start(user, list(user.pods("quick")))
    (written,) = (
        call.timestamp.timestamp()
        for call in read_calls(user.cluster.layout.audit_log, namespace=user.namespace)
        if (call.verb, call.resource) == ("create", "configmaps")
    )
    tell(f"figures: environment written > all containers run, {network}: {started - written:.1f} s")
    tell(f"figures: creation > all containers run, {network}: {started - began:.1f} s")


@pytest.mark.parametrize("network", ["PodIP", "Service"])
def test_from_creation_to_the_first_step(user: User, network: str, tell: Tell) -> None:
    began = time.time()
    job = user.create("deploy/examples/wide_and_deep.yaml", {"intranet": network})
    story = user.sees_through(job)
    assert story.row["STATUS"] == "Completed", story.told()
    tell(f"figures: creation > first training step, {network}: {story.first('epoch 1 of') - began:.1f} s")
    tell(f"figures: creation > completed, {network}: {story.first('RESULT') - began:.1f} s")


def last_start(user: User, pods: list[str]) -> float:
    """When the last of these pods' containers started, as it says itself."""

    def all_started() -> list[float]:
        return [line.at for lines in user.logs(*pods).values() for line in lines if line.text == STARTED]

    wait_until(lambda: len(all_started()) == len(pods))
    return max(all_started())
