"""What a job has used: its accelerators, or its pods where it asks for none, times seconds, by what it did meanwhile.

Summed up from one change of the phase, or of the number of pods, to the next, from times that stand in the status: so
it is the same after a restart of the operator, and a quiet job costs no call. The training of an attempt counts as
lost when the attempt ends without having completed.
"""

from __future__ import annotations

import re
from datetime import datetime

import msgspec

from paddlejob.api import Job, Status, Usage
from paddlejob.api.status import Counted, Phase, UsageState
from paddlejob.core.pod_resources import pod_resources
from paddlejob.core.times import moment, timestamp

# As the device plugins of those whom PaddlePaddle supports call them.
ACCELERATORS = re.compile(r"(gpu|npu|xpu|dcu|mlu|gcu|ipu|tpu)(\.shared)?|mig-.*|ascend.*", re.IGNORECASE)
# The API server refuses a status with a number of more than 64 bits. So many devices take centuries to get there.
LARGEST, MOST = 2**63 - 1, 10**9
# Between two attempts a job waits; suspended, it asks for nothing.
STATES: dict[Phase, UsageState] = {
    "Pending": "waiting",
    "Restarting": "waiting",
    "Starting": "starting",
    "Running": "training",
    "Scaling": "training",
}


def with_usage(job: Job, status: Status, now: datetime) -> Status:
    """The status with what has been used up to now, if something about it changes now."""
    before = job.status.usage or Usage()
    state = STATES.get(status.phase) if status.phase else None
    of, amount = asked(job) if state else (before.of, 0)
    lost = _is_lost(job.status, status)
    if not lost and (before.state, before.amount, before.of) == (state, amount, of):
        return status
    used = so_far(job, now)
    if lost:
        used = msgspec.structs.replace(used, training=0, lost=min(LARGEST, used.lost + used.training))
    since = timestamp(now) if state else None
    usage = msgspec.structs.replace(used, of=of, amount=amount, state=state, since=since)
    return msgspec.structs.replace(status, usage=usage)


def so_far(job: Job, now: datetime) -> Usage:
    """What it has used up to now, also since it was last written down."""
    used = job.status.usage or Usage()
    if used.state is None or used.since is None:
        return used
    # Whoever wrote it there: no job has used anything before it was made.
    begun = max(moment(used.since), moment(job.metadata.creation_timestamp or ""))
    # In whole seconds, as it is written: then the parts add up to the whole.
    seconds = max(0, int((moment(timestamp(now)) - begun).total_seconds()))
    added = min(LARGEST, getattr(used, used.state) + seconds * used.amount)
    counted: Usage = msgspec.structs.replace(used, **{used.state: added}, since=timestamp(now))
    return counted


def settled(job: Job, now: datetime) -> Usage:
    """The same of a job that goes no further."""
    return msgspec.structs.replace(so_far(job, now), amount=0, state=None, since=None)


def _is_lost(before: Status, after: Status) -> bool:
    """Whether an attempt ends that did not complete."""
    return after.attempt != before.attempt or after.phase == "Failed"


def asked(job: Job) -> tuple[Counted, int]:
    """What is counted, and how many of it the job asks for."""
    of_roles = [(role.wanted, pod_resources(role.template)) for _, role in job.spec.roles]
    devices = sum(pods * int(found[name]) for pods, found in of_roles for name in found if _is_accelerator(name))
    return ("accelerators", min(MOST, devices)) if devices > 0 else ("pods", sum(pods for pods, _ in of_roles))


def _is_accelerator(resource: str) -> bool:
    """By its name, such as nvidia.com/gpu: not so the memory of one, or a network card."""
    domain, _, name = resource.rpartition("/")
    return bool(domain) and ACCELERATORS.fullmatch(name) is not None
