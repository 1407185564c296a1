"""What would keep a job from ever starting here, found before anything is started.

On a cluster a pod waits for what it lacks, and somebody may still bring it. Here nobody will: the file is all there is.
"""

from __future__ import annotations

from collections import Counter

from paddlejob.api import Job
from paddlejob.api.names import is_label, pod_name
from paddlejob.core.environment import environment_key
from paddlejob.core.heter import NEIGHBOURS
from paddlejob.core.observe import Etcd, Slot
from paddlejob.core.pods import pod
from paddlejob.core.rendezvous import meeting_stall
from paddlejob.core.stalls import Stall, spec_stall
from paddlejob.core.template import containers, main_index, mapping, mappings
from paddlejob.errors import Invalid
from paddlejob.local.invocation import Setting, Surroundings, process
from paddlejob.local.manifest import Manifest
from paddlejob.local.volumes import NotYet


def check(job: Job, manifest: Manifest, around: Surroundings) -> None:
    if cause := spec_stall(job) or _without_etcd(job, around):
        raise Invalid(f"{manifest.path.name}: {cause.message}")
    if job.spec.suspend:
        raise Invalid(
            f"{manifest.path.name}: spec.suspend is true, but jobs cannot be resumed on this machine: remove it"
        )
    for role, asked in job.spec.roles:
        if asked.replicas:
            slot = Slot(role, 0, pod_name(job.metadata.name, role, 0))
            try:
                _check_pod(pod(job, slot), job, manifest, around)
            except NotYet as missing:
                raise Invalid(f"{manifest.path.name}: {role}: {missing}") from missing


def _without_etcd(job: Job, around: Surroundings) -> Stall | None:
    return meeting_stall(job, Etcd(around.etcd)) if job.spec.is_elastic else None


def _check_names(spec: dict[str, object]) -> None:
    """They become names of files: a DNS label, and no two alike, as an API server has it."""
    for what, fields in (("container", ("initContainers", "containers")), ("volume", ("volumes",))):
        names = Counter(str(one.get("name")) for field in fields for one in mappings(spec.get(field)))
        for name, times in names.items():
            if not is_label(name):
                raise NotYet(f"no {what} can be called {name!r}: use at most 63 lower-case letters, digits and '-'")
            if times > 1:
                raise NotYet(f"{times} {what}s are called {name}: give each a name of its own")


def _check_pod(body: dict[str, object], job: Job, manifest: Manifest, around: Surroundings) -> None:
    _check_names(mapping(body["spec"]))
    # The job's own ConfigMap is written when all addresses are known.
    known_later = dict.fromkeys((environment_key(job), *(key for _, key in NEIGHBOURS.values())), "0")
    maps = {**manifest.maps, f"ConfigMap/{job.metadata.name}": known_later}
    setting = Setting(body, "127.0.0.1", maps, manifest.folder, around)
    inits, mains = mappings(mapping(body["spec"]).get("initContainers")), containers(body)
    for index, one in enumerate([*inits, *mains], -len(inits)):
        process(one, setting, trains=index == main_index(mains))
