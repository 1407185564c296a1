"""The environment contract: which variables Paddle reads in a pod, and what they hold.

Part stands in the pod itself (who am I), part in the job's ConfigMap (who are the others). Never sets
PADDLE_TRAINERS_ENDPOINTS, PADDLE_SERVERS_ENDPOINTS, PADDLE_TRAINER_NUM or PADDLE_SERVER_NUM: any of them switches
`paddle.distributed.launch` into another mode.
"""

from __future__ import annotations

from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import PORT, RoleName
from paddlejob.core.heter import shared_stages, stage_environment
from paddlejob.core.intranet import EnvVar, hosts, own_address
from paddlejob.core.observe import Observed
from paddlejob.core.ports import PORTS_PER_TRAINER, gloo_port, launcher_ports, master_port, port_of
from paddlejob.core.template import asks_for_accelerator

TRAINING_ROLES: dict[RoleName, str] = {"ps": "PSERVER", "worker": "TRAINER", "heter": "HETER_TRAINER"}
GLOO_BY_HTTP = "3"
PEERS_WAIT_LONGER = 60
# How the key begins that only the ConfigMap of one attempt has.
ENVIRONMENT_KEY = "PADDLE_JOB_ENVIRONMENT_"
# Linux takes no longer "NAME=value" in a program's environment.
LONGEST_STRING = 128 * 1024 - 1


def pod_environment(job: Job, role: RoleName, index: int) -> list[EnvVar]:
    """What is particular to one pod, in an order in which each value can refer to those before it."""
    values = {
        "PADDLE_TRAINER_ID": str(index),
        "TRAINER_ID": str(index),
        "TRAINING_ROLE": TRAINING_ROLES[role],
        "PADDLE_TRAINING_ROLE": TRAINING_ROLES[role],
        "PADDLE_PORT": str(port_of(job, role, index)),
        "PADDLE_CURRENT_ENDPOINT": "$(POD_IP):$(PADDLE_PORT)",
        "PADDLE_JOB_ID": job_id(job),
    }
    if job.spec.mode == "Collective":
        values |= {"RANK": str(index), "POD_INDEX": str(index)}
    if job.spec.mode == "Collective" and not asks_for_accelerator(_template(job, role)):
        # Without an accelerator Paddle finds no backend by itself; with one, gloo would be chosen over NCCL.
        values["PADDLE_DISTRI_BACKEND"] = "gloo"
    if job.spec.mode == "Collective" and job.spec.hang and job.spec.hang.after_seconds is not None:
        # In milliseconds. The watch comes first: it knows which worker fell silent, Paddle only that one did.
        values["PADDLE_PG_TIMEOUT"] = str((job.spec.hang.after_seconds + PEERS_WAIT_LONGER) * 1000)
    if ports := launcher_ports(job, index):
        values["PORT_RANGE"] = f"{ports.first}:{ports.last}"
    return [
        own_address(job, role, index),
        *({"name": name, "value": value} for name, value in values.items()),
        _demand(job),
        *stage_environment(job, role),
    ]


def _demand(job: Job) -> EnvVar:
    """A key that only the right ConfigMap has: no container starts on a stranger's, nor on an earlier attempt's."""
    source = {"configMapKeyRef": {"name": job.metadata.name, "key": environment_key(job)}}
    return {"name": "PADDLE_JOB_ENVIRONMENT", "valueFrom": source}


def environment_key(job: Job) -> str:
    return f"{ENVIRONMENT_KEY}{job.metadata.uid[:8]}_{job.status.attempt}"


def job_id(job: Job, attempt: int | None = None) -> str:
    """One id must never be another's prefix, nor be used twice: Paddle deletes by prefix in etcd."""
    meta = job.metadata
    return f"{meta.namespace}-{meta.name}-{meta.uid[:8]}-{job.status.attempt if attempt is None else attempt:04d}"


def shared_environment(job: Job, observed: Observed) -> dict[str, str] | None:
    """The ConfigMap's data; None while an address is not known yet."""
    workers = hosts(job, observed, "worker")
    servers = hosts(job, observed, "ps") if job.spec.mode == "PS" else []
    heter = hosts(job, observed, "heter")
    if workers is None or servers is None or heter is None:
        return None
    data = {
        "PADDLE_TRAINERS_NUM": str(len(workers)),
        "PADDLE_PORT": str(PORT),
        "TRAINER_PORTS_NUM": str(PORTS_PER_TRAINER),
        "TRAINERS": str(len(workers)),
        "PSERVERS": str(len(servers)),
        **_trainers(job, workers),
        environment_key(job): str(job.status.attempt),
    }
    if servers:
        data |= {
            "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(_endpoints(job, "ps", servers)),
            **_gloo(job, servers[0]),
            **shared_stages(len(workers), _endpoints(job, "heter", heter)),
        }
    return data


def _trainers(job: Job, found: list[str]) -> dict[str, str]:
    endpoints = _endpoints(job, "worker", found)
    joined, names = ",".join(endpoints), ",".join(found)
    fits = len("PADDLE_TRAINER_ENDPOINTS=") + len(joined) <= LONGEST_STRING
    data = {"PADDLE_TRAINER_ENDPOINTS": joined, "PADDLE_TRAINERS": names} if fits else {}
    if job.spec.mode != "Collective":
        return data
    # What PaddleFormers and ERNIEKit go by, which drop the names above, and ERNIE's own scripts.
    data |= {"NNODES": str(len(found)), "MASTER_ADDR": found[0], "MASTER_PORT": str(master_port(job))}
    data |= {"TRAINER_INSTANCES": names} if fits else {}
    apart = len(set(found)) == len(found)
    if fits and not apart:
        # The launcher counts distinct hosts as nodes, in this list last: two workers on one address would each train
        # alone and exit 0. It goes to the first entry only, so the others need no address.
        others = (f"worker-{index}" for index in range(1, len(found)))
        data["DISTRIBUTED_TRAINER_ENDPOINTS"] = ",".join((endpoints[0], *others))
    # The other way to say it, which on the host's network every job gets; where both stand, they agree.
    if not (fits and apart) or job.spec.network == "Host":
        data |= {"PADDLE_MASTER": endpoints[0], "PADDLE_NNODES": str(len(found))}
    return data


def _gloo(job: Job, first_server: str) -> dict[str, str]:
    if not job.spec.with_gloo:
        return {}
    return {
        "PADDLE_WITH_GLOO": str(job.spec.with_gloo),
        "PADDLE_GLOO_RENDEZVOUS": GLOO_BY_HTTP,
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{first_server}:{gloo_port(job)}",
    }


def _endpoints(job: Job, role: RoleName, found: list[str]) -> list[str]:
    # A server finds its own index by this very string, so a port that the user set must stand here too.
    return [f"{host}:{port_of(job, role, index)}" for index, host in enumerate(found)]


def _template(job: Job, role: RoleName) -> dict[str, Any]:
    wanted = dict(job.spec.roles).get(role)
    return wanted.template if wanted else {}
