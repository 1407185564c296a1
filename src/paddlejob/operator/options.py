"""How an operator is set up: the flags of `paddlejob operator`, checked once at the start."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from paddlejob.operator.logs import LogFormat
from paddlejob.operator.ports import DEFAULT_RANGE, PortRange

SchedulingFlag = Literal["none", "volcano", "coscheduling", "kubernetes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = False
    metrics_address: str = ":8080"
    job_metrics: int = 0
    health_address: str = ":8081"
    concurrency: int = 64
    log_format: LogFormat = "text"
    scheduling: SchedulingFlag = "none"
    port_range: PortRange = DEFAULT_RANGE
    progress: bool = False
    etcd_server: str | None = None
    allowed_etcds: tuple[IPv4Network, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None
