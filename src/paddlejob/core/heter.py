"""heter: workers of another kind in a PS job, the second stage of a pipeline that begins at the ordinary workers.

Paddle reads the order of the stages from the environment: a worker must know who is next and not who is before it, a
heter worker the other way round. Heter workers serve until they are told to stop, as servers do.
"""

from __future__ import annotations

from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import RoleName
from paddlejob.core.template import Mapping, asked_resources, asks_for_accelerator

EnvVar = dict[str, Any]

STAGES: dict[RoleName, str] = {"worker": "1", "heter": "2"}
ALL = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"
# The neighbours of a stage, and the key of the ConfigMap that names them.
NEIGHBOURS: dict[RoleName, tuple[str, str]] = {
    "worker": ("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", ALL),
    "heter": ("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS"),
}


def has_heter(job: Job) -> bool:
    return job.spec.heter is not None and job.spec.heter.replicas > 0


def stage_environment(job: Job, role: RoleName) -> list[EnvVar]:
    """What one pod is told of the pipeline; servers only know from the ConfigMap that there is one."""
    if not has_heter(job) or role not in STAGES:
        return []
    name, key = NEIGHBOURS[role]
    variables: list[EnvVar] = [
        {"name": "STAGE_ID", "value": STAGES[role]},
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": job.metadata.name, "key": key}}},
    ]
    if role == "heter":
        variables += [
            {"name": "HETER_DEVICE_TYPE", "value": device_type(dict(job.spec.roles)[role].template)},
            # Gloo joins ordinary workers only: with it on, a heter worker's first barrier ends in an error.
            {"name": "PADDLE_WITH_GLOO", "value": "0"},
        ]
    return variables


def device_type(template: Mapping) -> str:
    """Paddle knows three words. What a template asks for tells which; the user's own HETER_DEVICE_TYPE wins."""
    if not asks_for_accelerator(template):
        return "cpu"
    return "xpu" if any("xpu" in name.lower() for name in asked_resources(template)) else "gpu"


def shared_stages(workers: int, heter: list[str]) -> dict[str, str]:
    """What every pod is told, the servers too: they wait for the workers of both stages."""
    if not heter:
        return {}
    return {
        ALL: ",".join(heter),
        "STAGE_NUM": "2",
        "PADDLE_STAGE_TRAINERS_NUM": f"[{workers}, {len(heter)}]",
    }
