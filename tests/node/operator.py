"""The operator on the cluster, installed and removed with kubectl in the words of README."""

import json
import re
from typing import Any

from tests.cluster.control_plane import KubectlFailed
from tests.cluster.waiting import wait_until
from tests.node.cluster import Cluster
from tests.node.user import PATIENCE, ROOT

FILES = tuple(f"--filename={ROOT / 'deploy' / 'v1' / name}" for name in ("crd.yaml", "operator.yaml"))
NAMESPACE = "--namespace=paddle-system"
DEPLOYMENT = "deployment/paddle-controller-manager"


class Operator:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def install(self) -> None:
        """Returns when both replicas are ready."""
        self.cluster.kubectl("create", *FILES)
        self.wait_until_ready()

    def uninstall(self) -> None:
        self.cluster.kubectl("delete", *FILES)

    def is_installed(self) -> bool:
        try:
            self.deployment()
        except KubectlFailed as error:
            if "NotFound" in str(error):
                return False
            raise
        return True

    def wait_until_ready(self) -> None:
        self.cluster.kubectl("rollout", "status", DEPLOYMENT, NAMESPACE, "--timeout=120s")

    def deployment(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.cluster.kubectl("get", DEPLOYMENT, NAMESPACE, "--output=json"))
        return found

    def exec(self, *command: str) -> str:
        return self.cluster.kubectl("exec", NAMESPACE, DEPLOYMENT, "--", *command)

    def restart(self) -> None:
        """With new pods, one after the other."""
        self.cluster.kubectl("rollout", "restart", DEPLOYMENT, NAMESPACE)
        self.wait_until_ready()


def everything(cluster: Cluster) -> set[str]:
    """Every object that there is, by kind, namespace and name; without events, which are only told."""
    kinds = cluster.kubectl("api-resources", "--verbs=list", "--output=name").split()
    kinds = [kind for kind in kinds if not re.match(r"events\b", kind)]
    columns = "custom-columns=:kind,:metadata.namespace,:metadata.name"
    listed = cluster.kubectl("get", ",".join(kinds), "--all-namespaces", "--no-headers", f"--output={columns}")
    return {" ".join(line.split()) for line in listed.splitlines() if line.strip()}


def wait_until_only(cluster: Cluster, wanted: set[str]) -> None:
    """The controllers take a moment after kubectl has gone, and pods their grace period."""

    def same() -> bool:
        found = everything(cluster)
        assert found == wanted, f"left: {sorted(found - wanted)}, missing: {sorted(wanted - found)}"
        return True

    wait_until(same, PATIENCE)
