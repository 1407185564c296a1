"""What anybody may write on a pod neither ends the operator nor takes anything from another job."""

from __future__ import annotations

from tests.kube.fake_server import until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.worlds import put_job
from tests.scenarios.desk import a_role

PORTS = "batch.paddlepaddle.org/ports"


def put_stranger(cluster: FakeCluster, name: str, ports: str) -> None:
    """A pod with our label, as anybody may make one."""
    labels = {"batch.paddlepaddle.org/job-name": name}
    cluster.put("pods", {"metadata": {"name": name, "labels": labels, "annotations": {PORTS: ports}}})


async def test_ports_that_anybody_writes_on_a_pod_end_no_operator_and_take_nothing(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_stranger(cluster, "long", "9" * 5000 + "-" + "9" * 5000)
    put_stranger(cluster, "greedy", "1-65535")
    put_job(cluster, "before", worker=a_role(1), intranet="Host")
    running = await start()
    await until(lambda: "before-worker-0" in cluster.names("pods"), "the pod")
    put_stranger(cluster, "late", "1-" + "9" * 5000)
    put_job(cluster, "after", worker=a_role(1), intranet="Host")
    await until(lambda: "after-worker-0" in cluster.names("pods"), "the pod of a later job")
    assert not running.done()
