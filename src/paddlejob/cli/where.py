"""Where a job is: the flags that every command about jobs has.

`--local`: on this machine only. `-n`, `--context` or `--kubeconfig`: on the cluster only. Neither: both are looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class Target:
    """A cluster, chosen as with kubectl."""

    namespace: Annotated[str | None, Parameter(name=["--namespace", "-n"], help="Namespace on the cluster.")] = None
    context: Annotated[str | None, Parameter(help="Context of the kubeconfig.")] = None
    kubeconfig: Annotated[str | None, Parameter(help="Path of the kubeconfig file.")] = None

    @property
    def asks_for_cluster(self) -> bool:
        return any(one is not None for one in (self.namespace, self.context, self.kubeconfig))


@Parameter(name="*")
@dataclass(frozen=True)
class Place(Target):
    """A cluster or this machine."""

    local: Annotated[bool, Parameter(help="On this machine only.", negative="")] = False

    @property
    def only_here(self) -> bool:
        return self.local or not (self.asks_for_cluster or cluster_is_configured())

    @property
    def only_there(self) -> bool:
        return not self.local and self.asks_for_cluster


ANYWHERE = Place()
CONTEXT = Target()


def cluster_is_configured() -> bool:
    """Whether there is a cluster to ask: a kubeconfig, or the pod that we are in."""
    env = os.environ
    return bool(
        env.get("KUBECONFIG") or env.get("KUBERNETES_SERVICE_HOST") or Path("~/.kube/config").expanduser().exists()
    )
