"""Which port each pod listens on.

Pods with addresses of their own all use the same port. Where pods share an address, the job carries the first port of a
block that was reserved for it, and each pod has a share of its own. A port that the user sets wins.
"""

from __future__ import annotations

from itertools import takewhile

import msgspec

from paddlejob.api import Job, Role
from paddlejob.api.names import ANNOTATION_PORTS, PORT, RoleName
from paddlejob.core.template import env_value

GLOO_PORT = PORT + 1
LAST_PORT = 65535
# A launcher listens on its pod's first port, programs that go by MASTER_PORT meet on the second. Of the others it
# needs one to meet on and one for each process that it starts.
PORTS_PER_TRAINER = 20


class Block(msgspec.Struct, frozen=True):
    """Ports in a row; the last one belongs to it."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def overlaps(self, other: Block) -> bool:
        return self.first <= other.last and other.first <= self.last


def port_of(job: Job, role: RoleName, index: int) -> int | str:
    template = next((asked.template for name, asked in job.spec.roles if name == role), {})
    if own := env_value(template, "PADDLE_PORT"):
        return own
    block = block_of(job)
    return PORT if block is None else _first_of(job, block, role, index)


def launcher_ports(job: Job, index: int) -> Block | None:
    """Where the launcher of a worker may listen besides, so that two on one address never meet."""
    block = block_of(job)
    if block is None or job.spec.mode == "PS":
        return None
    first = _first_of(job, block, "worker", index)
    return Block(first + 2, first + PORTS_PER_TRAINER - 1)


def master_port(job: Job) -> int:
    """Where programs that go by MASTER_PORT meet on the first worker: on the second port of its share, or on the first
    if its launcher, or its trainer without one, has the second."""
    block = block_of(job)
    first = PORT if block is None else _first_of(job, block, "worker", 0)
    return first if str(port_of(job, "worker", 0)) == str(first + 1) else first + 1


def gloo_port(job: Job) -> int:
    """Where PS-0 holds the meeting of all: any port but its own, on which worker 0 would abort."""
    block = block_of(job)
    preferred, other = (GLOO_PORT, PORT) if block is None else (block.last, block.first)
    return other if str(port_of(job, "ps", 0)) == str(preferred) else preferred


def host_ports(job: Job, role: RoleName, index: int) -> tuple[int, ...]:
    """What a pod on the host's network listens on for certain: the scheduler keeps two of the same off one node."""
    wanted = [port_of(job, role, index)]
    if role == "ps" and index == 0 and job.spec.mode == "PS" and job.spec.with_gloo:
        wanted.append(gloo_port(job))
    return tuple(port for port in map(_number, wanted) if 0 < port <= LAST_PORT)


def ports_needed(job: Job) -> int:
    """The size of the block: a share for each pod, and with servers one port to meet on."""
    pods = sum(_most(asked) for _, asked in job.spec.roles)
    return pods * _share(job) + (1 if job.spec.mode == "PS" else 0)


def block_of(job: Job) -> Block | None:
    """The block that stands on the job. One that no computer has is none."""
    first = _number(job.metadata.annotations.get(ANNOTATION_PORTS, ""))
    last = first + ports_needed(job) - 1
    return Block(first, last) if 0 < first <= last <= LAST_PORT else None


def uses_block(job: Job) -> bool:
    """Whether its pods share the ports of hosts with others. Those that another operator made keep what they have."""
    return job.spec.network == "Host" and not job.status.adopted


def _number(port: int | str) -> int:
    """0, if it is none."""
    text = str(port)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LAST_PORT)) else 0


def _share(job: Job) -> int:
    return 1 if job.spec.mode == "PS" else PORTS_PER_TRAINER


def _first_of(job: Job, block: Block, role: RoleName, index: int) -> int:
    before = takewhile(lambda named: named[0] != role, job.spec.roles)
    return block.first + (sum(_most(asked) for _, asked in before) + index) * _share(job)


def _most(asked: Role) -> int:
    """An elastic role may grow: its block has room for all that it may ever have."""
    return max(asked.replicas, asked.limits or 0)
