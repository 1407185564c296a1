"""The operator from deploy/v1 as it is: becomes ready, is restricted, works, goes without a trace, comes back."""

import pytest

from tests.cluster.control_plane import KubectlFailed
from tests.cluster.waiting import wait_until
from tests.node.operator import Operator, everything, wait_until_only
from tests.node.user import User

pytestmark = pytest.mark.timeout(900)


def test_two_replicas_run_without_root_on_a_file_system_that_they_cannot_write(operator: Operator) -> None:
    assert operator.deployment()["status"]["readyReplicas"] == 2
    assert operator.exec("id", "-u").strip() == "65532"
    with pytest.raises(KubectlFailed, match="Read-only file system"):
        operator.exec("touch", "/there")


def test_it_runs_where_only_the_restricted_profile_is_allowed(operator: Operator) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    operator.cluster.kubectl("label", "namespace", "paddle-system", label, "--overwrite")
    operator.restart()
    with pytest.raises(KubectlFailed, match="violates PodSecurity"):
        operator.cluster.kubectl("run", "free", "--image=any", "--namespace=paddle-system")


def test_it_goes_without_a_trace_and_comes_back(operator: Operator, user: User) -> None:
    cluster = operator.cluster
    operator.uninstall()
    wait_until(lambda: "Terminating" not in cluster.kubectl("get", "namespaces"))
    without = everything(cluster)
    operator.install()
    job = user.create("deploy/examples/wide_and_deep.yaml")
    assert user.sees_through(job).row["STATUS"] == "Completed"
    operator.uninstall()
    wait_until_only(cluster, without)
    operator.install()
    user.create("deploy/examples/wide_and_deep.yaml")
    assert user.sees_through(job).row["STATUS"] == "Completed"
