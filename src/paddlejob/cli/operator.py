"""`paddlejob operator`: run the operator, in the cluster or on your own machine against one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from paddlejob.cli.errors import BadUse, NoCluster
from paddlejob.kube.errors import KubeError
from paddlejob.operator.logs import LogFormat
from paddlejob.operator.main import main
from paddlejob.operator.options import Options, Scheduling
from paddlejob.operator.ports import DEFAULT_RANGE, BadRange, PortRange
from paddlejob.operator.server import BadAddress


def operator(
    *,
    namespace: Annotated[
        tuple[str, ...],
        Parameter(name=["--namespace", "-n"], help="Watch this namespace only; repeatable. None: all.", negative=""),
    ] = (),
    leader_elect: Annotated[bool, Parameter(help="Act only while holding the lease.")] = False,
    metrics_bind_address: Annotated[str, Parameter(help="Where /metrics listens; 0 switches it off.")] = ":8080",
    health_probe_bind_address: Annotated[str, Parameter(help="Where /healthz and /readyz listen.")] = ":8081",
    kube_api_concurrency: Annotated[
        int, Parameter(help="API calls in flight, shared by all jobs.", validator=Number(gte=1))
    ] = 64,
    log_format: Annotated[LogFormat, Parameter(help="text for people, json for machines.")] = "text",
    scheduling: Annotated[Scheduling | None, Parameter(help="Gang scheduler; no effect in this release.")] = None,
    port_range: Annotated[str, Parameter(help="LOW,HIGH: ports for jobs on the hosts' network.")] = str(DEFAULT_RANGE),
    etcd_server: Annotated[str | None, Parameter(help="ADDRESS:PORT: where workers of elastic jobs meet.")] = None,
    kubeconfig: Annotated[str | None, Parameter(help="Path of the kubeconfig file.")] = None,
    context: Annotated[str | None, Parameter(help="Context of the kubeconfig.")] = None,
) -> None:
    """Turn PaddleJobs into pods and drive them to their end.

    Example: paddlejob operator --namespace paddle-system
    """
    try:
        ports = PortRange.parse(port_range)
    except BadRange as error:
        raise BadUse(f"--port-range {error}") from error
    options = Options(
        namespaces=namespace,
        leader_elect=leader_elect,
        metrics_address=metrics_bind_address,
        health_address=health_probe_bind_address,
        concurrency=kube_api_concurrency,
        log_format=log_format,
        scheduling=scheduling,
        port_range=ports,
        etcd_server=etcd_server,
        kubeconfig=kubeconfig,
        context=context,
    )
    try:
        main(options)
    except BadAddress as error:
        raise BadUse(str(error)) from error
    except KubeError as error:
        raise NoCluster(str(error)) from error
