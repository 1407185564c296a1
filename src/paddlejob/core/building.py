"""What a living job still lacks, in order, and the touch that starts waiting pods.

Service mode: names are known beforehand, so services and ConfigMap come first and no pod waits.
By address: pods come first, then the ConfigMap with their addresses, then a touch for each pod that waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_ENVIRONMENT
from paddlejob.core.actions import Action, Touch
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.intranet import has_names
from paddlejob.core.kind import Missing
from paddlejob.core.kinds import KINDS
from paddlejob.core.observe import Observed
from paddlejob.core.refusals import permitted
from paddlejob.core.reserving import needs_ports


def build(job: Job, observed: Observed, now: datetime) -> Iterator[Action]:
    """One by one: whoever takes only the first of them does not pay for the others."""
    if (CONFIG_MAPS.name, job.metadata.name) in observed.taken:
        return  # its pods would start with the environment of somebody else
    if needs_ports(job, observed):
        return
    first = _missing(job, observed, now, before_pods=True)
    one = next(first, None)
    wanted = chain((one,), first) if one else _missing(job, observed, now, before_pods=False)
    yield from (lack.make() for lack in permitted(wanted, observed, now))
    yield from _touches(job, observed)


def _missing(job: Job, observed: Observed, now: datetime, *, before_pods: bool) -> Iterator[Missing]:
    for kind in KINDS:
        if kind.precedes_pods(job) == before_pods:
            yield from kind.missing(job, observed, now)


def _touches(job: Job, observed: Observed) -> Iterator[Touch]:
    if observed.config_map is None or has_names(job):
        return
    version = observed.config_map.metadata.uid
    for slot in observed.slots:
        waits = slot.pod is not None and slot.pod.state == "starting" and not slot.pod.deleting
        if slot.pod and waits and slot.pod.metadata.annotations.get(ANNOTATION_ENVIRONMENT) != version:
            yield Touch(slot.name, ANNOTATION_ENVIRONMENT, version)
