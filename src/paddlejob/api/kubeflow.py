"""PaddleJobs of `kubeflow.org/v1`, turned into ours. What has no counterpart is told, never dropped in silence.

Refuses what would train wrongly here: a program of a PS job under the launcher, which knows roles by variables of its
own there. Everything else in the converted job is judged as in any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from paddlejob.api.mistakes import Json, Mistake, Path, shown
from paddlejob.api.names import API_VERSION, KIND, RoleName

VERSION = "kubeflow.org/v1"
REPLICAS = "paddleReplicaSpecs"
TYPES: dict[str, RoleName] = {"Master": "ps", "Worker": "worker"}
CLEANING = {"None": "Never", "Running": "Running", "All": "Always"}
RESTARTS = ("Always", "OnFailure", "Never", "ExitCode")
# Where that operator starts failed pods again without end.
MOST_RESTARTS = 3
SAME = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend")
GANG = ("minAvailable", "queue", "priorityClass", "minResources")
_KEPT = ("name", "namespace", "labels", "annotations")
_WRITTEN_BY_KUBECTL = "kubectl.kubernetes.io/last-applied-configuration"
_LAUNCHERS = ("paddle.distributed.launch", "fleetrun")
_VARIABLES = ("PADDLE_MASTER", "PADDLE_NNODES", "POD_IP_DUMMY")
# Fields of each mapping that are known, by where it stands.
_FIELDS: dict[str, tuple[str, ...]] = {
    "": ("apiVersion", "kind", "metadata", "spec", "status"),
    "spec": ("runPolicy", "elasticPolicy", REPLICAS),
    "spec.runPolicy": ("cleanPodPolicy", "backoffLimit", "schedulingPolicy", "managedBy", *SAME),
    "spec.runPolicy.schedulingPolicy": (*GANG, "scheduleTimeoutSeconds"),
    "spec.elasticPolicy": ("minReplicas", "maxReplicas", "maxRestarts", "metrics"),
    f"spec.{REPLICAS}": tuple(TYPES),
    **{f"spec.{REPLICAS}.{name}": ("replicas", "template", "restartPolicy") for name in TYPES},
}


class Converted(msgspec.Struct, frozen=True):
    """`notes` say what has no counterpart, or means something else here; `mistakes` forbid to use it."""

    document: Json
    notes: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


def is_of_kubeflow(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == KIND and document.get("apiVersion") == VERSION


def convert(document: Json) -> Converted:
    spec = _in_camel_case(_mapping(document.get("spec")))
    document = {**document, "spec": spec}
    wrong = [*_unknown_fields(document), *_launched_servers(spec)]
    notes: list[str] = []
    made = {**_roles(spec), **_run_policy(spec, notes)}
    _add_elastic_policy(made, _mapping(spec.get("elasticPolicy")) if "elasticPolicy" in spec else None, notes)
    _note_programs(spec, notes)
    metadata = _mapping(document.get("metadata"))
    kept = {name: metadata[name] for name in _KEPT if metadata.get(name) is not None}
    if isinstance(annotations := kept.get("annotations"), dict):
        kept["annotations"] = {key: value for key, value in annotations.items() if key != _WRITTEN_BY_KUBECTL}
    converted = {"apiVersion": API_VERSION, "kind": KIND, "metadata": kept, "spec": made}
    return Converted(converted, tuple(notes), tuple(wrong))


def source_of(path: Path) -> Path:
    """Where that field of the converted job stands in the original, or the nearest around it."""
    match path:
        case ("spec", "worker", "requests" | "limits" as bound, *_):
            return ("spec", "elasticPolicy", "minReplicas" if bound == "requests" else "maxReplicas")
        case ("spec", "worker" | "ps" as role, *rest):
            name = next(name for name, ours in TYPES.items() if ours == role)
            return ("spec", REPLICAS, name, *rest)
        case ("spec", "elastic", *_):
            return ("spec", "elasticPolicy")
        case ("spec", field, *rest):
            return ("spec", "runPolicy", field, *rest)
        case _:
            return path


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _in_camel_case(spec: Json) -> Json:
    """That operator takes the types of replicas in any case."""
    found = spec.get(REPLICAS)
    if not isinstance(found, dict):
        return spec
    names = {name.lower(): name for name in TYPES}
    return {**spec, REPLICAS: {names.get(str(name).lower(), name): one for name, one in found.items()}}


def _unknown_fields(document: Json) -> Iterator[Mistake]:
    for where, known in _FIELDS.items():
        path = tuple(where.split(".")) if where else ()
        found: Any = document
        for step in path:
            found = _mapping(found).get(step)
        if found is None:
            continue
        if not isinstance(found, dict):
            yield Mistake(path, "must be a mapping (lines of `key: value`)")
            continue
        for name in found.keys() - {*known}:
            yield Mistake((*path, name), f"there is no such field: use one of {', '.join(known)}")


def _replicas(spec: Json) -> Iterator[tuple[str, RoleName, Json]]:
    found = _mapping(spec.get(REPLICAS))
    for name, role in TYPES.items():
        if found.get(name) is not None:
            yield name, role, _mapping(found[name])


def _roles(spec: Json) -> Json:
    return {role: _role(one, elastic=_is_elastic(spec)) for _, role, one in _replicas(spec)}


def _is_elastic(spec: Json) -> bool:
    return spec.get("elasticPolicy") is not None


def _role(one: Json, *, elastic: bool) -> Json:
    template = one.get("template")
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        pod = {name: value for name, value in template["spec"].items() if name != "restartPolicy"}
        # A pod that ends is a matter of the job: Paddle takes no single one back, but for elastic workers.
        template = {**template, "spec": pod if elastic else {**pod, "restartPolicy": "Never"}}
    return {"replicas": one.get("replicas", 1), **({"template": template} if template is not None else {})}


def _run_policy(spec: Json, notes: list[str]) -> Json:
    policy = _mapping(spec.get("runPolicy"))
    written = policy.get("cleanPodPolicy") or "None"
    made: Json = {"cleanPodPolicy": CLEANING.get(written, written)}
    made |= {name: policy[name] for name in SAME if policy.get(name) is not None}
    made |= _restarts(spec, policy, notes)
    if (gang := policy.get("schedulingPolicy")) is not None:
        made["schedulingPolicy"] = {name: gang[name] for name in GANG if _mapping(gang).get(name)}
        if _mapping(gang).get("scheduleTimeoutSeconds") is not None:
            notes.append(
                "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds: no counterpart; startingDeadlineSeconds ends a"
                " job that does not run in time"
            )
    if policy.get("managedBy") not in (None, "kubeflow.org/training-operator"):
        notes.append("spec.runPolicy.managedBy: no counterpart; whoever has paddle-operator runs the job")
    return made


def _restarts(spec: Json, policy: Json, notes: list[str]) -> Json:
    limit = policy.get("backoffLimit")
    policies = {one.get("restartPolicy") or "OnFailure" for _, _, one in _replicas(spec)}
    if policies <= {"Never"}:
        if limit:
            notes.append("spec.runPolicy.backoffLimit: left out; with restartPolicy Never nothing was started again")
        return {}
    if _is_elastic(spec):
        return {"backoffLimit": limit} if limit is not None else {}
    named = "/".join(sorted(policies - {"Never"}))
    text = f"restartPolicy {named}: a single pod cannot come back to its peers, so the whole job starts again"
    notes.append(f"{text}, at most backoffLimit times")
    if "ExitCode" in policies:
        notes.append("restartPolicy ExitCode: every failure counts, whatever its exit code")
    return {"backoffLimit": MOST_RESTARTS if limit is None else limit}


def _add_elastic_policy(made: Json, policy: Json | None, notes: list[str]) -> None:
    if policy is None:
        return
    worker = made.get("worker", {})
    # That operator takes a bound that is missing from the other one.
    least = policy.get("minReplicas") or policy.get("maxReplicas") or worker.get("replicas")
    most = policy.get("maxReplicas") or policy.get("minReplicas") or worker.get("replicas")
    made["elastic"] = 1
    made["worker"] = {**worker, "requests": least, "limits": most}
    notes.append("spec.elasticPolicy: an elastic job needs an etcd, see docs/elastic.md")
    if policy.get("maxRestarts") is not None:
        notes.append("spec.elasticPolicy.maxRestarts: no counterpart; workers that exit have a budget of their own")
    if policy.get("metrics") is not None:
        notes.append("spec.elasticPolicy.metrics: no counterpart; `kubectl scale pdj` changes the number of workers")


def _programs(spec: Json) -> Iterator[tuple[Path, str]]:
    """Each container, and all that its command, arguments and variables say."""
    for name, _, one in _replicas(spec):
        pod = _mapping(_mapping(one.get("template")).get("spec"))
        containers = pod.get("containers")
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            path = ("spec", REPLICAS, name, "template", "spec", "containers", index)
            words = [_mapping(container).get(field) for field in ("command", "args", "env")]
            yield path, msgspec.json.encode(words).decode()


def _has_servers(spec: Json) -> bool:
    return any(role == "ps" for _, role, _ in _replicas(spec))


def _launched_servers(spec: Json) -> Iterator[Mistake]:
    for path, words in _programs(spec) if _has_servers(spec) else ():
        if launcher := next((one for one in _LAUNCHERS if one in words), None):
            text = f"{launcher} knows no parameter servers here: run the program itself, such as `python train.py`"
            yield Mistake(path, f"{text}; its role is in its environment")


def _note_programs(spec: Json, notes: list[str]) -> None:
    if _has_servers(spec):
        success = "the job is Completed when all workers have succeeded, not when the masters have"
        notes.append(f"spec.{REPLICAS}.Master: parameter servers; {success}")
    for path, words in _programs(spec):
        used = [name for name in _VARIABLES if name in words]
        if used:
            notes.append(f"{shown(path)} uses {', '.join(used)}: not set here; leave out what uses it, or set it")
