"""One container of a local pod: its process, how it ended, and when it may start again.

The state is told in a kubelet's words, so that decisions cannot tell it from a container on a cluster.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from paddlejob.api import reasons
from paddlejob.core.children import ContainerState, ContainerStatus, Running, Terminated, Waiting
from paddlejob.terminal import lines

ContainerKind = Literal["init", "sidecar", "main"]
RestartPolicy = Literal["Never", "OnFailure", "Always"]

FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0
LAST_LINES, LAST_BYTES = 80, 2048
# A progress bar may have written its one line over and over: so much is read to find lines.
READ_BYTES = 64 * 1024


def timestamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class LocalContainer:
    """`id` is unique on this machine; `log` is where its output goes."""

    def __init__(self, id_: str, spec: dict[str, Any], kind: ContainerKind, policy: RestartPolicy, log: Path) -> None:
        self.id = id_
        self.spec = spec
        self.name = str(spec.get("name", ""))
        self.kind = kind
        self.policy: RestartPolicy = "Always" if kind == "sidecar" else policy
        self.log = log
        self.restarts = 0
        self.state = ContainerState(waiting=Waiting(reasons.CONTAINER_CREATING))
        self.last_state = ContainerState()
        self.running = False

    @property
    def ended(self) -> Terminated | None:
        return self.state.terminated

    @property
    def final(self) -> Terminated | None:
        """How it ended, if it never starts again."""
        return self.ended if self.backoff() is None else None

    @property
    def status(self) -> ContainerStatus:
        return ContainerStatus(self.name, self.restarts, self.state, self.last_state)

    def wait(self, reason: str, message: str) -> None:
        self.state = ContainerState(waiting=Waiting(reason, message))

    def started(self, at: float) -> None:
        self.state = ContainerState(running=Running(timestamp(at)))

    def exited(self, code: int, at: float, message: str = "") -> None:
        self.running = False
        reason = reasons.COMPLETED if code == 0 else reasons.START_ERROR if message else reasons.ERROR
        text = message or (last_lines(self.log) if code else "")
        self.state = ContainerState(terminated=Terminated(code, reason, text, timestamp(at)))

    def restart(self) -> None:
        """Its next life begins; how the last one ended stays known."""
        self.restarts += 1
        self.last_state = self.state

    def backoff(self) -> float | None:
        """How long to wait before the next start; None when there is none."""
        once = self.policy == "OnFailure" or self.kind == "init"
        if self.ended is None or self.policy == "Never" or (once and self.ended.exit_code == 0):
            return None
        return 0.0 if self.restarts == 0 else min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (self.restarts - 1))


def last_lines(log: Path) -> str:
    """The end of a log, as much as a termination message may hold; of a progress bar what stood there last."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - READ_BYTES))
            found = lines(file.read().decode(errors="replace"))
    except OSError:
        return ""
    return "\n".join(found[-LAST_LINES:]).encode()[-LAST_BYTES:].decode(errors="ignore")
