"""A pod on this machine: its containers in order, its restarts, its end, all by a kubelet's rules.

It starts what may start, hears how processes end, and says what it is as the same `Pod` that a cluster shows.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from functools import partial

import msgspec

from paddlejob.api import ObjectMeta, reasons
from paddlejob.core.children import Container, Pod, PodSpec, PodStatus
from paddlejob.core.template import main_index, mapping, mappings
from paddlejob.local.container import ContainerKind, LocalContainer, RestartPolicy, timestamp
from paddlejob.local.invocation import Setting, process
from paddlejob.local.logfiles import LogFile
from paddlejob.local.processes import NotStarted, ProcessEvent, Started, Supervisor
from paddlejob.local.removal import remove
from paddlejob.local.volumes import NotYet

DEFAULT_GRACE = 30.0


class LocalPod:
    def __init__(self, setting: Setting, *, supervisor: Supervisor, changed: Callable[[], None]) -> None:
        self.meta = msgspec.convert(setting.pod["metadata"], ObjectMeta)
        self._spec = mapping(setting.pod.get("spec"))
        self._setting = setting
        self._supervisor = supervisor
        self._changed = changed
        self._timers: set[asyncio.TimerHandle] = set()
        self._deleted_at: str | None = None
        self.containers = self._containers()

    def _containers(self) -> list[LocalContainer]:
        policy: RestartPolicy = self._spec.get("restartPolicy", "Never")
        fields: tuple[tuple[ContainerKind, str], ...] = (("init", "initContainers"), ("main", "containers"))
        made = []
        for usual, field in fields:
            for one in mappings(self._spec.get(field)):
                kind: ContainerKind = "sidecar" if usual == "init" and one.get("restartPolicy") == "Always" else usual
                log = self._setting.around.logs / LogFile(self.meta.name, str(one.get("name")), self._setting.life).name
                made.append(LocalContainer(f"{self.meta.uid}/{one.get('name')}", one, kind, policy, log))
        return made

    @property
    def deleting(self) -> bool:
        return self._deleted_at is not None

    @property
    def gone(self) -> bool:
        return self.deleting and not any(one.running for one in self.containers)

    @property
    def _grace(self) -> float:
        return float(self._spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE))

    @property
    def finished(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def mains(self) -> list[LocalContainer]:
        return [one for one in self.containers if one.kind == "main"]

    @property
    def training(self) -> LocalContainer:
        """The container that trains: the one named paddle, else the first."""
        return self.mains[main_index([one.spec for one in self.mains])]

    @property
    def phase(self) -> str:
        if any(one.kind == "init" and one.final and one.final.exit_code for one in self.containers):
            return "Failed"
        ends = [one.final for one in self.mains]
        if ends and all(ends):
            return "Failed" if any(end and end.exit_code for end in ends) else "Succeeded"
        begun = any(one.running or one.ended or one.restarts for one in self.mains)
        waits = any(one.state.waiting and not one.restarts for one in self.mains)
        return "Running" if begun and not waits else "Pending"

    def snapshot(self) -> Pod:
        inits = tuple(one.status for one in self.containers if one.kind != "main")
        grace = int(self._grace) if self.deleting else None
        meta = msgspec.structs.replace(
            self.meta, deletion_timestamp=self._deleted_at, deletion_grace_period_seconds=grace
        )
        status = PodStatus(
            phase=self.phase,
            pod_ip=self._setting.address,
            init_container_statuses=inits,
            container_statuses=tuple(one.status for one in self.mains),
        )
        mains = tuple(Container(one.name) for one in self.mains)
        spec = PodSpec("localhost", self._spec.get("restartPolicy", "Never"), mains)
        return Pod(metadata=meta, spec=spec, status=status)

    def advance(self) -> None:
        """Start what may start now: init containers one after the other, then all others together."""
        if self.deleting or self.finished:
            return
        for one in self.containers:
            if one.state.waiting is not None and not one.running:
                self._start(one)
            if one.kind == "sidecar" and not one.running:
                return
            if one.kind == "init" and (one.ended is None or one.ended.exit_code):
                return

    def _start(self, one: LocalContainer) -> None:
        if one.restarts and one.state.waiting and one.state.waiting.reason == reasons.CRASH_LOOP_BACK_OFF:
            return  # its timer starts it
        try:
            made = process(one.spec, self._setting, trains=one is self.training)
        except NotYet as missing:
            one.wait(missing.reason, str(missing))
            return
        one.wait(reasons.CONTAINER_CREATING, "")
        one.running = True
        self._supervisor.launch(one.id, made, str(one.log))

    def handle(self, event: ProcessEvent) -> None:
        one = next((each for each in self.containers if each.id == event.id), None)
        if one is None:
            return
        if isinstance(event, Started):
            one.started(event.at)
        else:
            one.exited(event.code, event.at, event.message if isinstance(event, NotStarted) else "")
            self._after_exit(one)
        if self.finished:
            self._stop()  # sidecars end with the pod
        self.advance()
        self._changed()

    def _after_exit(self, one: LocalContainer) -> None:
        delay = None if self.deleting or self.finished else one.backoff()
        if delay is None:
            return
        one.restart()
        if delay == 0:
            one.wait(reasons.CONTAINER_CREATING, "")
            return
        one.wait(reasons.CRASH_LOOP_BACK_OFF, f"back-off {delay:.0f}s restarting failed container")
        self._later(delay, lambda: self._again(one))

    def _again(self, one: LocalContainer) -> None:
        one.wait(reasons.CONTAINER_CREATING, "")
        self.advance()
        self._changed()

    def delete(self) -> None:
        """As a kubelet ends a pod: SIGTERM, the grace period, SIGKILL."""
        if self.deleting:
            return
        self._deleted_at = timestamp(time.time() + self._grace)  # when it ought to be gone, as an API server says it
        self._stop()
        self._changed()

    def _stop(self) -> None:
        for one in self.containers:
            if one.running:
                self._supervisor.signal(one.id, signal.SIGTERM)
                self._later(self._grace, partial(self._supervisor.kill, one.id))

    def kill(self) -> None:
        """At once, without asking."""
        self._deleted_at = self._deleted_at or timestamp(time.time())
        for one in self.containers:
            if one.running:
                self._supervisor.kill(one.id)

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def forget(self) -> None:
        """It is gone, and what lived in its volumes goes with it; its logs stay."""
        self.close()
        remove(self._setting.volumes)

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        self._timers.add(asyncio.get_running_loop().call_later(seconds, do))
