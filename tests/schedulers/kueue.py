"""The real Kueue beside a control plane, with nothing but its plain-pod integration.

Its webhooks are called by address, on loopback. It insists on a certificate for its metrics under a fixed path of
/etc, so it gets a mount namespace of its own in which there is one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.binaries import Kueue
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import wait_until
from tests.schedulers.history import Json
from tests.schedulers.loopback import Loopback

API = "/apis/kueue.x-k8s.io/v1beta2"
FLAVOR = "plain"
# Priority classes of its own kind, as labels of jobs name them.
PRIORITIES = {"high": 1000, "urgent": 100, "patient": 10}
CONVERTED = ("workloads", "localqueues", "clusterqueues", "cohorts", "multikueueclusters")


class Preparation:
    """What must be there before it starts: certificates, its configuration, CRDs that name its webhooks' address."""

    def __init__(self, programs: Kueue, folder: Path) -> None:
        self._program = programs.kueue
        self._folder = folder
        self._loopback = Loopback(folder / "etc" / "kueue" / "metrics" / "certs")
        self._webhooks = Webhooks(self._loopback)
        self._source = programs.kueue.parent / "config"
        self.crds = self._webhooks.write_crds(self._source / "crd" / "bases", folder)

    def start(self, control_plane: ControlPlane) -> Process:
        """Returns when its webhooks answer."""
        config = self._folder / "config.json"
        config.write_text(json.dumps(_config(self._loopback)))
        hide = f"mount -t overlay overlay -o lowerdir={self._folder / 'etc'}:/etc /etc"
        process = control_plane.start_beside(
            "kueue",
            [
                *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{hide} && exec "$0" "$@"'),
                *(self._program, f"--config={config}"),
            ],
            env={"KUBECONFIG": str(control_plane.layout.admin_kubeconfig)},
        )
        manifest = self._webhooks.write(self._source / "webhook" / "manifests.yaml", self._folder)
        control_plane.kubectl("apply", "-f", str(manifest))
        control_plane.wait(lambda: _answers(control_plane))
        return process


class Webhooks:
    """What names their address."""

    def __init__(self, loopback: Loopback) -> None:
        self._client = loopback.client

    def write_crds(self, source: Path, folder: Path) -> list[Path]:
        """It converts between the versions of some; those of the others differ in nothing."""
        made = []
        for file in sorted(source.glob("*.yaml")):
            crd = yaml.load(file.read_text(), yaml.CSafeLoader)
            if crd["spec"]["names"]["plural"] in CONVERTED:
                webhook = {"clientConfig": self._client("/convert"), "conversionReviewVersions": ["v1"]}
                crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            made.append(folder / file.name)
            made[-1].write_text(json.dumps(crd))
        return made

    def write(self, source: Path, folder: Path) -> Path:
        """Only those of pods and of its own kinds."""
        items = []
        for configuration in yaml.load_all(source.read_text(), yaml.CSafeLoader):
            kept = [one for one in configuration["webhooks"] if _is_of_pods_or_own(one)]
            for one in kept:
                one["clientConfig"] = self._client(one["clientConfig"]["service"]["path"])
            items.append({**configuration, "webhooks": kept})
        file = folder / "webhooks.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return file


def _is_of_pods_or_own(webhook: Json) -> bool:
    (rule,) = webhook["rules"]
    return "pods" in rule["resources"] or rule["apiGroups"] == ["kueue.x-k8s.io"]


def _config(loopback: Loopback) -> Json:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": loopback.port, "certDir": str(loopback.folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 500, "burst": 1000},
        "integrations": {"frameworks": ["pod"]},
        "featureGates": {"VisibilityOnDemand": False},
    }


def _answers(control_plane: ControlPlane) -> bool:
    """Whether its webhooks let a flavor through, which is also what every queue here is made of."""
    control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(_object("ResourceFlavor", FLAVOR, {})))
    return True


def add_object(control_plane: ControlPlane, kind: str, name: str, spec: Json) -> None:
    """Of a kind that belongs to no namespace."""
    plural = f"{kind.lower()}s".replace("ys", "ies")
    control_plane.api.post(f"{API}/{plural}", _object(kind, name, spec))


def add_queue(
    control_plane: ControlPlane, namespace: str, cpu: int, *, queue: str = "", flavor: str = FLAVOR, **spec: object
) -> str:
    """A queue of its own for a namespace, with so much quota; its name, that of the namespace unless it is given."""
    name = queue or namespace
    quota = {"name": flavor, "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    add_object(control_plane, "ClusterQueue", namespace, {"namespaceSelector": {}, "resourceGroups": groups, **spec})
    local = _object("LocalQueue", name, {"clusterQueue": namespace})
    control_plane.api.post(f"{API}/namespaces/{namespace}/localqueues", local)
    wait_until(lambda: _is_active(control_plane, namespace, name))
    return name


def add_priorities(control_plane: ControlPlane) -> None:
    for name, value in PRIORITIES.items():
        body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "value": value}
        control_plane.api.post(f"{API}/workloadpriorityclasses", {**body, "metadata": {"name": name}})


def change_queue(control_plane: ControlPlane, name: str, **spec: object) -> None:
    control_plane.api.merge(f"{API}/clusterqueues/{name}", {"spec": spec})


def raise_quota(control_plane: ControlPlane, name: str, cpu: int) -> None:
    groups = control_plane.api.get(f"{API}/clusterqueues/{name}")["spec"]["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = cpu
    change_queue(control_plane, name, resourceGroups=groups)


def workloads(control_plane: ControlPlane, namespace: str) -> list[Json]:
    return list(control_plane.api.get(f"{API}/namespaces/{namespace}/workloads")["items"])


def held(control_plane: ControlPlane, name: str) -> str:
    """How much of its quota is reserved."""
    (flavor,) = control_plane.api.get(f"{API}/clusterqueues/{name}")["status"]["flavorsReservation"]
    (resource,) = flavor["resources"]
    return str(resource["total"])


def is_idle(control_plane: ControlPlane, namespace: str) -> bool:
    """Whether nobody holds any of the quota, no pod is left that still runs or waits to go, and no group unfinished."""
    assert held(control_plane, namespace) == "0"
    pods = control_plane.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    left = {
        pod["metadata"]["name"]: pod["status"]["phase"]
        for pod in pods
        if pod["metadata"].get("deletionTimestamp") or pod["status"]["phase"] not in ("Succeeded", "Failed")
    }
    assert not left, left
    return all(finished(one) for one in workloads(control_plane, namespace))


def finished(workload: Json) -> tuple[str, str] | None:
    """What it says of the end of a group."""
    found = workload.get("status", {}).get("conditions", [])
    ends = (one for one in found if one["type"] == "Finished" and one["status"] == "True")
    return next(((one["reason"], one["message"]) for one in ends), None)


def _is_active(control_plane: ControlPlane, namespace: str, name: str) -> bool:
    found: Any = control_plane.api.get(f"{API}/namespaces/{namespace}/localqueues/{name}")["status"]["conditions"]
    return any(one["type"] == "Active" and one["status"] == "True" for one in found)


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}
