"""An elastic job in pods, with an etcd in another: `kubectl scale` gives it more workers and takes one away again.

Gates hold its steps: each of the three worlds trains its part, however long a change takes on this machine.
"""

import re

import pytest

from tests.cluster.waiting import wait_until
from tests.node.conftest import Tell
from tests.node.jobs import IMAGE, Gate, a_container, on_node, running, with_env
from tests.node.user import ENDS, PATIENCE, ROOT, Manifest, User, read

pytestmark = pytest.mark.timeout(900)

STEPS = 25
# After how many steps all trainers wait for us.
GATES = (7, 17)
URLS = ("--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://0.0.0.0:2379")
BEGUN = re.compile(r"worker (\d+) of (\d+): begins at step (\d+) of ")
LOSS = re.compile(r"step (\d+) of \d+ with (\d+) workers: loss (\S+)")


@pytest.fixture
def etcd(user: User) -> str:
    """Where workers and operator reach one; its program is the node's."""
    container = a_container("etcd", "/node/etcd", "--data-dir=/tmp/etcd", *URLS, image=IMAGE)
    container["volumeMounts"] = [{"name": "node", "mountPath": "/node"}]
    volumes = [{"name": "node", **on_node(f"/var/lib/{user.cluster.name}/bin")}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "etcd"}}
    user.submit({**pod, "spec": {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 1}})
    user.kubectl("wait", "--for=condition=Ready", "pod/etcd", "--timeout=60s")
    return user.kubectl("get", "pod", "etcd", "--output=jsonpath={.status.podIP}") + ":2379"


def the_example(user: User, gate: Gate, etcd: str) -> Manifest:
    """Its own file, smaller: two workers at first, three at most."""
    (job,) = read("examples/elastic/job.yaml")
    job["metadata"]["annotations"] = {"batch.paddlepaddle.org/etcd-server": etcd}
    worker = running(user, gate.gated(job["spec"]["worker"]), ROOT / "tests" / "training" / "gated.py")
    env = {
        "STEPS": str(STEPS),
        "EXAMPLE": "/elastic",
        "GATES": "/gate",
        # The launcher keeps what its trainers print until there is much of it.
        "PYTHONUNBUFFERED": "1",
        # Long enough for a launcher to start on a busy machine while another waits for it.
        "PADDLE_ELASTIC_TIMEOUT": "15",
    }
    worker = with_env(worker, env)
    (container,) = worker["template"]["spec"]["containers"]
    container["args"] = [*container["args"][:-1], "/program/gated.py"]
    job["spec"]["worker"] = {**worker, "requests": 2, "replicas": 2, "limits": 3}
    return job


def log(user: User) -> str:
    """What its pods have printed, also before they were started again in place: kubectl shows the last time only."""
    folder = user.cluster.folder / "log" / "pods"
    return "\n".join(
        file.read_text(errors="replace") for file in folder.glob(f"{user.namespace}_elastic-*/paddle/*.log")
    )


def wait_for_world(user: User, workers: int, step: int) -> None:
    """Until trainers of all ranks have begun at this step, each seeing so many workers."""
    everybody = {(str(rank), str(workers), str(step)) for rank in range(workers)}

    def all_begun() -> bool:
        begun = BEGUN.findall(log(user))
        assert everybody <= set(begun), begun[-6:]
        return True

    wait_until(all_begun, PATIENCE)


def test_workers_come_and_go_while_it_trains(user: User, etcd: str, tell: Tell) -> None:
    gate = Gate(user)
    gate.open_for([f"{step}.closed" for step in GATES])
    user.submit(the_example(user, gate, etcd))
    wait_for_world(user, workers=2, step=0)
    wait_until(lambda: "step 5 of" in log(user), PATIENCE)
    user.kubectl("scale", "pdj/elastic", "--replicas=3")
    wait_for_world(user, workers=3, step=5)
    gate.open_for(["7"])
    wait_until(lambda: "step 15 of" in log(user), PATIENCE)
    user.kubectl("scale", "pdj/elastic", "--replicas=2")
    wait_for_world(user, workers=2, step=15)
    gate.open_for(["17"])
    status = user.in_phase("elastic", *ENDS)
    losses = {int(step): (int(world), float(loss)) for step, world, loss in LOSS.findall(log(user))}
    fell = " > ".join(f"{loss:.3f} ({world} workers)" for _, (world, loss) in sorted(losses.items()))
    tell(f"{'elastic':<26} {status['phase']:<10} {status['mode']:<11} loss {fell}")
    assert (status["phase"], status["elastic"], status["attempt"]) == ("Completed", "DONE", 0), status
    assert status["world"]["scalings"] == 2
    assert [losses[step][0] for step in (15, 20, 25)] == [3, 2, 2]
    assert losses[STEPS][1] < losses[5][1]
