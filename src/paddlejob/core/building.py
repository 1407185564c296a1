"""What a living job still lacks: pods, services, the ConfigMap, and the touch that starts waiting pods.

Service mode: names are known beforehand, so services and ConfigMap come first and no pod waits.
By address: pods come first, then the ConfigMap with their addresses, then a touch for each pod that waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paddlejob.api import PaddleJob
from paddlejob.api.names import ANNOTATION_ENVIRONMENT
from paddlejob.core import rendezvous
from paddlejob.core.actions import Action, Create, Touch, Update
from paddlejob.core.ending import launched
from paddlejob.core.environment import shared_environment
from paddlejob.core.observe import Observed
from paddlejob.core.pods import pod
from paddlejob.core.replace import refills
from paddlejob.core.reserving import needs_ports
from paddlejob.core.services import config_map, service


def build(job: PaddleJob, observed: Observed, now: datetime) -> tuple[Action, ...]:
    if ("ConfigMap", job.metadata.name) in observed.taken:
        return ()  # its pods would start with the environment of somebody else
    if needs_ports(job, observed):
        return ()
    held = observed.held_back(now)
    first = [*_config_map(job, observed)]
    if job.spec.network == "Service":
        first += _services(job, observed)
        wanted, touches = first or [*_pods(job, observed, now)], []
    else:
        wanted, touches = [*first, *_pods(job, observed, now)], [*_touches(observed)]
    return (*(one for one in wanted if (one.kind, one.name) not in held), *touches)


def _config_map(job: PaddleJob, observed: Observed) -> Iterator[Create | Update]:
    if observed.config_map is not None:
        return
    data = (rendezvous.environment if job.spec.is_elastic else shared_environment)(job, observed)
    if data is None:
        return
    name, body = job.metadata.name, config_map(job, data)
    if old := observed.old_config_map:
        yield Update("ConfigMap", name, old.metadata.uid, body)
    else:
        yield Create("ConfigMap", name, body)


def _services(job: PaddleJob, observed: Observed) -> Iterator[Create]:
    there = {one.metadata.name for one in observed.services}
    for slot in observed.slots:
        if slot.name not in there:
            yield Create("Service", slot.name, service(job, slot))


def _pods(job: PaddleJob, observed: Observed, now: datetime) -> Iterator[Create]:
    if launched(job, observed) and not (refills(job, observed, now) or job.spec.is_elastic):
        return  # a pod that is missing now is lost: a matter of how the job ends
    for slot in observed.slots:
        if slot.pod is None:
            yield Create("Pod", slot.name, pod(job, slot))


def _touches(observed: Observed) -> Iterator[Touch]:
    if observed.config_map is None:
        return
    version = observed.config_map.metadata.uid
    for slot in observed.slots:
        waits = slot.pod is not None and slot.pod.state == "starting" and not slot.pod.deleting
        if slot.pod and waits and slot.pod.metadata.annotations.get(ANNOTATION_ENVIRONMENT) != version:
            yield Touch(slot.name, ANNOTATION_ENVIRONMENT, version)
