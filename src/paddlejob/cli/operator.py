"""`paddlejob operator`: run the operator, in the cluster or on your own machine against one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from paddlejob.cli.errors import BadUse
from paddlejob.cli.where import CLUSTER, Target
from paddlejob.errors import NoCluster
from paddlejob.kube.errors import KubeError
from paddlejob.operator.logs import LogFormat
from paddlejob.operator.main import main
from paddlejob.operator.options import Options, SchedulingFlag
from paddlejob.operator.ports import DEFAULT_RANGE, BadRange, PortRange
from paddlejob.operator.reach import BadNetwork, parse_network
from paddlejob.operator.server import BadAddress


def operator(
    *,
    namespace: Annotated[tuple[str, ...], Parameter(alias="-n", help="Watch only this namespace; repeatable.")] = (),
    leader_elect: Annotated[
        bool, Parameter(help="Act only while holding the lease.", negative="--no-leader-elect")
    ] = False,
    metrics_bind_address: Annotated[str, Parameter(help="Address of /metrics; 0 turns it off.")] = ":8080",
    job_metrics: Annotated[
        int,
        Parameter(help="Tell speed, loss and progress of so many running jobs on /metrics.", validator=Number(gte=0)),
    ] = 0,
    health_probe_bind_address: Annotated[str, Parameter(help="Address of /healthz and /readyz.")] = ":8081",
    kube_api_concurrency: Annotated[
        int, Parameter(help="Maximum number of API calls at a time.", validator=Number(gte=1))
    ] = 64,
    log_format: Annotated[LogFormat, Parameter(help="text for people, json for programs.")] = "text",
    scheduling: Annotated[
        SchedulingFlag, Parameter(help="Scheduler that places the pods of every job together or not at all.")
    ] = "none",
    port_range: Annotated[str, Parameter(help="LOW,HIGH: ports for jobs on the host network.")] = str(DEFAULT_RANGE),
    progress: Annotated[
        bool, Parameter(help="Read from the logs of running jobs how far they are; needs the right to.")
    ] = False,
    etcd_server: Annotated[str | None, Parameter(help="ADDRESS:PORT of the etcd for elastic jobs.")] = None,
    allow_etcd_address: Annotated[
        tuple[str, ...],
        Parameter(help="Let jobs name an etcd at this address or network that is refused otherwise; repeatable."),
    ] = (),
    target: Target = CLUSTER,
) -> None:
    """Run the operator, which creates the pods of PaddleJobs and watches over them.

    Example: paddlejob operator --namespace paddle-system
    """
    try:
        ports = PortRange.parse(port_range)
    except BadRange as error:
        raise BadUse(f"--port-range {error}") from error
    try:
        allowed = tuple(map(parse_network, allow_etcd_address))
    except BadNetwork as error:
        raise BadUse(f"--allow-etcd-address {error}") from error
    options = Options(
        namespaces=namespace,
        leader_elect=leader_elect,
        metrics_address=metrics_bind_address,
        job_metrics=job_metrics,
        health_address=health_probe_bind_address,
        concurrency=kube_api_concurrency,
        log_format=log_format,
        scheduling=scheduling,
        port_range=ports,
        progress=progress,
        etcd_server=etcd_server,
        allowed_etcds=allowed,
        kubeconfig=target.kubeconfig,
        context=target.context,
    )
    try:
        main(options)
    except BadAddress as error:
        raise BadUse(str(error)) from error
    except KubeError as error:
        raise NoCluster(str(error)) from error
