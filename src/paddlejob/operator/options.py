"""How an operator is set up: the flags of `paddlejob operator`, checked once at the start."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from paddlejob.operator.logs import LogFormat
from paddlejob.operator.ports import DEFAULT_RANGE, PortRange

Scheduling = Literal["volcano", "coscheduling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = False
    metrics_address: str = ":8080"
    health_address: str = ":8081"
    concurrency: int = 64
    log_format: LogFormat = "text"
    scheduling: Scheduling | None = None
    port_range: PortRange = DEFAULT_RANGE
    etcd_server: str | None = None
    allowed_etcds: tuple[IPv4Network, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Flags that are given and belong to features of a later release: said at the start, never silently dropped."""
        flags = {
            "--scheduling": self.scheduling,
        }
        return tuple(flag for flag, value in flags.items() if value is not None)
