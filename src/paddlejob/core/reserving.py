"""Ports of the host, reserved before all else: every pod on the host's network is made with ports of its own.

Asks for a block; who acts chooses it, for only there all jobs are known. A block that stands on the job is kept, over
restarts too. If it is no block at all, or another has some of its ports, the job moves while it has no pods.
"""

from __future__ import annotations

from datetime import datetime

from paddlejob.api import Job
from paddlejob.core.observe import Observed
from paddlejob.core.ports import block_of, ports_needed, uses_block
from paddlejob.core.refusals import Wish, is_permitted

CONFIG_MAP = "ConfigMap"


def needs_ports(job: Job, observed: Observed) -> bool:
    """Whether nothing may be made for the job before ports are reserved for it."""
    return uses_block(job) and (block_of(job) is None or (observed.ports.disputed and not observed.pods))


def reserve(job: Job, observed: Observed, now: datetime) -> int:
    """How many ports to ask for now. None while no block is free: the end of another job is what the job waits for."""
    if not needs_ports(job, observed) or observed.ports.full:
        return 0
    name = job.metadata.name
    wishes = (Wish("patch", job.kind, name), Wish("create", CONFIG_MAP, name))
    return ports_needed(job) if all(is_permitted(wish, observed, now) for wish in wishes) else 0
