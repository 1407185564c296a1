"""How an operator is set up: the flags of `paddlejob operator`, checked once at the start."""

from __future__ import annotations

from dataclasses import dataclass

from paddlejob.operator.logs import LogFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = False
    metrics_address: str = ":8080"
    health_address: str = ":8081"
    concurrency: int = 64
    log_format: LogFormat = "text"
    kubeconfig: str | None = None
    context: str | None = None
