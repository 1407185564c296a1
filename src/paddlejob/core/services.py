"""Services (one per pod, in Service mode) and the ConfigMap that holds the job's environment."""

from __future__ import annotations

from paddlejob.api import PaddleJob
from paddlejob.api import names as n
from paddlejob.core.actions import Body
from paddlejob.core.observe import Slot
from paddlejob.core.pods import labels, owner


def service(job: PaddleJob, slot: Slot) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": slot.name,
            "namespace": job.metadata.namespace,
            "labels": labels(job, slot),
            "ownerReferences": [owner(job)],
        },
        "spec": {
            # Headless: the name leads to the pod's own address, which a server can bind.
            "clusterIP": "None",
            # Pods meet before they are ready: that is what they need names for.
            "publishNotReadyAddresses": True,
            "selector": {n.LABEL_RES_NAME: slot.name},
            "ports": [{"name": "paddle", "port": n.PORT, "targetPort": n.PORT, "protocol": "TCP"}],
        },
    }


def config_map(job: PaddleJob, data: dict[str, str]) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": job.metadata.name,
            "namespace": job.metadata.namespace,
            "labels": {n.LABEL_JOB: job.metadata.name, n.LABEL_ATTEMPT: str(job.status.attempt)},
            "ownerReferences": [owner(job)],
        },
        "data": data,
    }
