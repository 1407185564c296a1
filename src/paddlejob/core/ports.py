"""Which port each pod listens on.

Pods with addresses of their own all use the same port. Where pods share an address, the job carries the first port of a
block that was reserved for it, and each pod has one of its own. A port that the user sets wins.
"""

from __future__ import annotations

from itertools import takewhile

from paddlejob.api import PaddleJob
from paddlejob.api.names import ANNOTATION_PORTS, PORT, RoleName
from paddlejob.core.template import env_value

GLOO_PORT = PORT + 1


def port_of(job: PaddleJob, role: RoleName, index: int) -> int | str:
    template = next((asked.template for name, asked in job.spec.roles if name == role), {})
    if own := env_value(template, "PADDLE_PORT"):
        return own
    first = _block(job)
    return PORT if first is None else first + _offset(job, role) + index


def gloo_port(job: PaddleJob) -> int:
    """Where PS-0 holds the meeting of all: any port but its own, on which worker 0 would abort."""
    first = _block(job)
    if first is not None:
        return first + ports_needed(job) - 1
    return PORT if str(port_of(job, "ps", 0)) == str(GLOO_PORT) else GLOO_PORT


def ports_needed(job: PaddleJob) -> int:
    """The size of the block: one for each pod and one to meet on."""
    return sum(asked.replicas for _, asked in job.spec.roles) + 1


def _block(job: PaddleJob) -> int | None:
    text = job.metadata.annotations.get(ANNOTATION_PORTS, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _offset(job: PaddleJob, role: RoleName) -> int:
    before = takewhile(lambda named: named[0] != role, job.spec.roles)
    return sum(asked.replicas for _, asked in before)
