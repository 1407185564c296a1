"""paddle-operator 0.3, as far as what it leaves on a cluster: its CRD, its Deployment, jobs and what they own.

All in words of our own, in the shape of its: a schema that takes nearly everything, a finalizer on every job, a status
with references to pods, pods and ConfigMaps without our labels.
"""

from __future__ import annotations

from paddlejob.api import names as n
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import IMAGE, Desk, Json, a_job

_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_NUMBER, _TEXT = {"type": "integer"}, {"type": "string"}
_ROLE = {
    "type": "object",
    "properties": {"replicas": _NUMBER, "requests": _NUMBER, "limits": _NUMBER, "template": _ANYTHING},
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                **dict.fromkeys(("ps", "worker", "heter"), _ROLE),
                **dict.fromkeys(("cleanPodPolicy", "intranet"), _TEXT),
                **dict.fromkeys(("withGloo", "elastic"), _NUMBER),
                **dict.fromkeys(("schedulingPolicy", "sampleSetRef"), _ANYTHING),
            },
        },
        "status": _ANYTHING,
    },
}
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{n.PLURAL}.{n.GROUP}"},
    "spec": {
        "group": n.GROUP,
        "names": {"kind": n.KIND, "listKind": f"{n.KIND}List", "plural": n.PLURAL, "singular": n.SINGULAR},
        "scope": "Namespaced",
        "versions": [
            {
                "name": n.VERSION,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
                "subresources": {"status": {}},
            }
        ],
    },
}
ROLES: tuple[n.RoleName, ...] = ("ps", "worker")
_LABELS = {"control-plane": "controller-manager"}
DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "paddle-controller-manager", "namespace": "paddle-system"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": _LABELS},
        "template": {"metadata": {"labels": _LABELS}, "spec": {"containers": [{"name": "manager", "image": IMAGE}]}},
    },
}
_RBAC = {"apiVersion": "rbac.authorization.k8s.io/v1"}
_HERE = {"namespace": "paddle-system"}
_CLUSTER_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "paddle-manager-role"}
LEFTOVERS: tuple[Json, ...] = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "paddle-system"}},
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "paddle-manager-sa", **_HERE}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "paddle-manager-config", **_HERE}},
    {**_RBAC, "kind": "ClusterRole", "metadata": {"name": "paddle-manager-role"}, "rules": []},
    {
        **_RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "paddle-manager-rolebinding"},
        "roleRef": _CLUSTER_ROLE,
    },
    DEPLOYMENT,
)


class Predecessor:
    """Works at one desk. Its CRD must be there."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._jobs = f"/apis/{n.API_VERSION}/namespaces/{desk.namespace}/{n.PLURAL}"
        self._core = f"/api/v1/namespaces/{desk.namespace}"

    def submits(self, name: str, **spec: object) -> Json:
        """Somebody submits a job, and it has seen it."""
        job = a_job(name, **spec)
        job["metadata"]["finalizers"] = [n.FINALIZER_OF_0_3]
        return self._desk.submit(job)

    def says(self, name: str, **status: object) -> None:
        self._desk.api.merge(f"{self._jobs}/{name}/status", {"status": status})

    def runs(self, name: str, phase: str = "Running", **spec: object) -> Json:
        """A job whose pods are there and run, unless their annotations hold them back."""
        job = self.submits(name, **spec)
        pods = [self._makes_pod(job, role, index) for role in ROLES for index in range(_count(job, role))]
        wait_until(lambda: all(self._is_settled(pod) for pod in pods))
        if not job["spec"].get("elastic"):
            self._tells_addresses(job)
        counts = {role: self._counts(job, role) for role in ROLES if job["spec"].get(role)}
        self.says(name, phase=phase, mode="Collective", startTime="2026-05-04T11:00:00Z", **counts)
        return job

    def _counts(self, job: Json, role: n.RoleName) -> Json:
        found = self._desk.pods()
        names = [n.pod_name(job["metadata"]["name"], role, index) for index in range(_count(job, role))]
        running = sum(found[name]["status"]["phase"] == "Running" for name in names)
        return {"running": running, "refs": [{"kind": "Pod", "name": name} for name in names]}

    def _is_settled(self, name: str) -> bool:
        pod = self._desk.pod(name)
        held = pod["metadata"]["annotations"].get("test.paddlejob/starts") == "never"
        return bool(pod["status"]["phase"] == "Running" or (held and pod["spec"].get("nodeName")))

    def _makes_pod(self, job: Json, role: n.RoleName, index: int) -> str:
        name = n.pod_name(job["metadata"]["name"], role, index)
        template = job["spec"][role]["template"]
        first, *others = template["spec"]["containers"]
        env = [{"name": "PADDLE_TRAINER_ID", "value": str(index)}, {"name": "TRAINING_ROLE", "value": role}]
        labels = {n.LABEL_RES_NAME: name, n.LABEL_RES_TYPE: role}
        annotations = {**template["metadata"]["annotations"], n.ANNOTATION_ROLE: role}
        if job["spec"].get("elastic"):
            env += [{"name": "PADDLE_ELASTIC_NP", "value": str(_count(job, "worker"))}]
        else:
            first = {**first, "envFrom": [{"configMapRef": {"name": job["metadata"]["name"]}}]}
        body = {
            "metadata": {
                "name": name,
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [_owner(job)],
            },
            "spec": {"restartPolicy": "Never", **template["spec"], "containers": [{**first, "env": env}, *others]},
        }
        self._desk.api.post(f"{self._core}/pods", body)
        return name

    def _tells_addresses(self, job: Json) -> None:
        pods, name = self._desk.pods(), job["metadata"]["name"]
        workers = [pods[n.pod_name(name, "worker", index)] for index in range(_count(job, "worker"))]
        told = ",".join(f"{pod['status'].get('podIP')}:2379" for pod in workers)
        meta = {"name": name, "labels": {n.LABEL_RES_NAME: name}, "ownerReferences": [_owner(job)]}
        self._desk.api.post(f"{self._core}/configmaps", {"metadata": meta, "data": {"PADDLE_TRAINER_ENDPOINTS": told}})


def _count(job: Json, role: str) -> int:
    return int(job["spec"].get(role, {}).get("replicas", 0))


def _owner(job: Json) -> Json:
    owner = {"apiVersion": n.API_VERSION, "kind": n.KIND, "name": job["metadata"]["name"]}
    return {**owner, "uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
