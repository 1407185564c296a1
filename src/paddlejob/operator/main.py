"""The operator process: builds the parts, campaigns for the lease, runs the loop, leaves in order on SIGTERM.

Caches are kept warm while waiting for the lease, and read anew when it is won: nothing is decided on what a watch that
is behind has told.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import time
import uuid
from datetime import datetime, timezone
from functools import partial

import structlog

from paddlejob.kube.client import Client
from paddlejob.kube.config import ClusterConfig, load_config
from paddlejob.kube.errors import LeaseLost
from paddlejob.kube.events import Skipped
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.lease import Election
from paddlejob.kube.objects import Key
from paddlejob.kube.queue import WorkQueue
from paddlejob.kube.tasks import TaskGroup
from paddlejob.meeting import Meetings
from paddlejob.operator import logs
from paddlejob.operator.apply import Gate, Hands
from paddlejob.operator.cache import Cache
from paddlejob.operator.inquiries import Inquiries
from paddlejob.operator.job_metrics import JobMetrics
from paddlejob.operator.listening import Ears
from paddlejob.operator.loop import Loop
from paddlejob.operator.memory import Memory
from paddlejob.operator.metrics import Metrics
from paddlejob.operator.options import Options
from paddlejob.operator.reach import operators_reach
from paddlejob.operator.reporting import Reporter
from paddlejob.operator.server import NOT_YET, parse_address, serving
from paddlejob.operator.unreadable import Unreadable

log = structlog.get_logger()

LEASE = "paddle-operator"


def main(options: Options) -> None:
    """Run until SIGTERM or SIGINT."""
    logs.configure(options.log_format)
    config = load_config(options.kubeconfig, options.context)
    asyncio.run(_until_signal(config, options))


async def _until_signal(config: ClusterConfig, options: Options) -> None:
    for address in (options.health_address, options.metrics_address):
        parse_address(address)
    running = asyncio.ensure_future(Operator(config, options).run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    try:
        await running
    except asyncio.CancelledError:
        log.info("stopped")


class Operator:
    def __init__(self, config: ClusterConfig, options: Options) -> None:
        self._config = config
        self._options = options
        self._queue: WorkQueue[Key] = WorkQueue()
        self._cache = Cache(self._queue.add_after, options.port_range, options.scheduling, on_defect=self._defect)
        self._metrics = Metrics(lambda: self._cache.jobs, lambda: self._queue.depth)
        if options.job_metrics:
            self._metrics.registry.register(JobMetrics(lambda: self._cache.jobs, options.job_metrics))
        # Whoever gets the lease at once need not read everything before that and again after it.
        self._campaigned = asyncio.Event()
        self._unreadable = Unreadable()
        self._loop: Loop | None = None
        self._election: Election | None = None
        self._lease_error = ""
        self._identity = f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}"

    async def run(self) -> None:
        options = self._options
        client = Client(self._config, on_call=self._metrics.count_call)
        async with (
            client,
            serving(
                health=options.health_address,
                metrics_address=options.metrics_address,
                metrics=self._metrics,
                healthy=self._healthy,
                not_ready=self._not_ready,
            ),
        ):
            self._cache.watch(
                client, options.namespaces or (None,), on_error=self._watch_failed, on_undecodable=self._skipped
            )
            log.info("started", identity=self._identity, namespaces=options.namespaces or "all")
            try:
                async with TaskGroup() as tasks:
                    tasks.create_task(self._watch())
                    tasks.create_task(self._act(client))
            finally:
                self._queue.close()

    async def _watch(self) -> None:
        await self._campaigned.wait()
        await self._cache.run()

    async def _act(self, client: Client) -> None:
        if not self._options.leader_elect:
            await self._lead(client, lambda: None)
            return
        while True:
            election = self._election = Election(
                client,
                namespace=self._config.namespace,
                name=LEASE,
                identity=self._identity,
                on_error=self._lease_failed,
                on_wait=self._campaigned.set,
            )
            try:
                await election.run(partial(self._lead, client, election.check))
            except LeaseLost as lost:
                log.warning("no longer leading", error=str(lost))

    async def _lead(self, client: Client, gate: Gate) -> None:
        self._campaigned.set()
        # A watch may be behind, and what another leader made and wrote last is not to be taken for missing.
        await self._cache.refresh()
        # What is cached now stays: the garbage collector need not walk it again and again.
        gc.freeze()
        memory, limiter = Memory(), FairLimiter(self._options.concurrency)
        reach = await operators_reach(self._config.server, self._options.allowed_etcds)
        meetings = Meetings(self._options.etcd_server or "", reach=reach)
        fenced = client.behind(gate)
        self._loop = Loop(
            cache=self._cache,
            hands=Hands(fenced, self._cache, limiter, gate=gate, instance=self._identity),
            reporter=Reporter(fenced, self._cache.jobs, limiter, memory, gate=gate, clock=time.monotonic),
            memory=memory,
            queue=self._queue,
            metrics=self._metrics,
            meetings=meetings,
            inquiries=Inquiries(client, limiter, _utc_now),
            ears=Ears(client, _utc_now, enabled=self._options.progress),
            now=_utc_now,
            unreadable=self._unreadable,
        )
        log.info("leading", identity=self._identity, jobs=len(self._cache.jobs))
        self._metrics.leading.set(1)
        self._lease_error = ""
        try:
            await self._loop.run()
        finally:
            self._loop = None
            self._metrics.leading.set(0)

    def _healthy(self) -> bool:
        return self._loop is None or self._loop.turns(_utc_now())

    def _not_ready(self) -> str:
        """Who may not touch the lease would never lead: it must not look as if all were well."""
        election = self._election
        if election is not None and election.trouble is not None and not election.holding:
            return f"no lease: {election.trouble}"
        return "" if self._cache.synced else NOT_YET

    def _lease_failed(self, error: Exception) -> None:
        """Every few seconds while it lasts: said once."""
        if str(error) != self._lease_error:
            log.warning("lease not to be had", namespace=self._config.namespace, lease=LEASE, error=str(error))
        self._lease_error = str(error)

    def _watch_failed(self, plural: str, error: Exception) -> None:
        log.warning("watch interrupted", resource=plural, error=str(error))

    def _defect(self, key: Key, error: Exception) -> None:
        self._metrics.defects.inc()
        log.error("defect, object skipped", object="/".join(key), exc_info=error)

    def _skipped(self, skipped: Skipped) -> None:
        self._metrics.unreadable.inc()
        self._unreadable.note(skipped)
        log.error("unreadable object", object=skipped.name, error=str(skipped.error))


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)
