"""Addresses that changed after the others were told of them.

A pod keeps its address as long as its sandbox lives, and a kubelet may make that anew: before the containers start, or
between two starts of a container. Those who were told the old address wait for it without end, so the attempt starts
over. Endpoints are read from the ConfigMap itself: it is what the containers were given.
"""

from __future__ import annotations

from paddlejob.api import Failure, Job, reasons
from paddlejob.api.names import RoleName
from paddlejob.core.heter import has_heter
from paddlejob.core.intranet import has_names
from paddlejob.core.observe import Observed


def moved(job: Job, observed: Observed) -> Failure | None:
    """The first pod that lives elsewhere than its peers were told."""
    if has_names(job) or observed.config_map is None:
        return None
    told = observed.config_map.data
    return (
        _moved(observed, "ps", told.servers)
        or _moved(observed, "heter", told.heter)
        or (_moved(observed, "worker", told.workers or told.master) if workers_are_known(job) else None)
    )


def workers_are_known(job: Job) -> bool:
    """Whether anybody finds workers by their address: not in a PS job without gloo, unless heter workers do."""
    return job.spec.mode != "PS" or bool(job.spec.with_gloo) or has_heter(job)


def _moved(observed: Observed, role: RoleName, endpoints: str) -> Failure | None:
    if not endpoints:
        return None
    for slot, endpoint in zip(observed.of_role(role), endpoints.split(","), strict=False):
        told = endpoint.rpartition(":")[0]
        lives = slot.pod is not None and not slot.pod.deleting and not slot.pod.finished
        # While a sandbox is made anew there is no address at all.
        if slot.pod and lives and slot.pod.status.pod_ip not in ("", told):
            text = f"its address is {slot.pod.status.pod_ip} now, and the other pods were told {told}"
            return Failure(pod=slot.name, reason=reasons.ADDRESS_CHANGED, message=text)
    return None
