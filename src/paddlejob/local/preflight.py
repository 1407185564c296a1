"""What would keep a job from ever starting here, found before anything is started.

On a cluster a pod waits for what it lacks, and somebody may still bring it. Here nobody will: the file is all there is.
"""

from __future__ import annotations

from paddlejob.api import PaddleJob
from paddlejob.api.names import pod_name
from paddlejob.core.environment import environment_key
from paddlejob.core.heter import NEIGHBOURS
from paddlejob.core.observe import Etcd, Slot
from paddlejob.core.pods import pod
from paddlejob.core.rendezvous import meeting_stall
from paddlejob.core.stalls import Stall, spec_stall
from paddlejob.core.template import main_index, mapping, mappings
from paddlejob.local.errors import BadFile, NotYet
from paddlejob.local.invocation import Setting, process
from paddlejob.local.machine import Surroundings
from paddlejob.local.manifest import Manifest
from paddlejob.local.volumes import Volumes


def check(job: PaddleJob, manifest: Manifest, around: Surroundings) -> None:
    if cause := spec_stall(job) or _without_etcd(job, around):
        raise BadFile(f"{manifest.path.name}: {cause.message}")
    if job.spec.suspend:
        raise BadFile(f"{manifest.path.name}: spec.suspend is true, and here nobody can resume a job: remove it to run")
    for role, asked in job.spec.roles:
        if asked.replicas:
            slot = Slot(role, 0, pod_name(job.metadata.name, role, 0))
            try:
                _check_pod(pod(job, slot), job, manifest, around)
            except NotYet as missing:
                raise BadFile(f"{manifest.path.name}: {role}: {missing.message}") from missing


def _without_etcd(job: PaddleJob, around: Surroundings) -> Stall | None:
    return meeting_stall(job, Etcd(around.etcd)) if job.spec.is_elastic else None


def _check_pod(body: dict[str, object], job: PaddleJob, manifest: Manifest, around: Surroundings) -> None:
    spec = mapping(body["spec"])
    # The job's own ConfigMap is written when all addresses are known.
    known_later = dict.fromkeys((environment_key(job), *(key for _, key in NEIGHBOURS.values())), "0")
    config_maps = {**manifest.config_maps, job.metadata.name: known_later}
    maps = {"ConfigMap": config_maps, "Secret": manifest.secrets}
    volumes = Volumes(spec, around.folder / "volumes" / "check", around.volumes, maps)
    setting = Setting(
        pod=body,
        address="127.0.0.1",
        config_maps=config_maps,
        secrets=manifest.secrets,
        folder=str(manifest.folder),
        command=around.command,
    )
    mains = mappings(spec.get("containers"))
    for one in mappings(spec.get("initContainers")):
        process(one, setting, volumes.mounts(one), trains=False)
    for index, one in enumerate(mains):
        process(one, setting, volumes.mounts(one), trains=index == main_index(mains))
