"""PaddleJobs that nobody would write: made from the CRD's own schema, and good ones with something changed.

Half of what is made is refused, so that both verdicts are asked for; numbers of pods stay small where they can.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml
from hypothesis import strategies as st

from paddlejob.api import crd
from paddlejob.api.names import ANNOTATION_ETCD
from tests.api.samples import TAKEN
from tests.scenarios.desk import Json, a_job, a_role

Steps = tuple[str | int, ...]
SCHEMA = crd.schema()
SPEC = SCHEMA["properties"]["spec"]
EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"

QUANTITIES = ("1", "500m", "4Gi", "0", "-1", "1e3", "1E", ".5", "+1.", "9" * 30, "0.1n")
NO_QUANTITIES = ("", "1GB", "1 Gi", " 1", "1\n", "Gi", "--1", "1.2.3", "١")
WORDS = ("", "a", "paddle", "POD_IP", "PADDLE_PORT", "PADDLE_JOB_ID", "a-b.c", "é", "x" * 300, "a\nb", "\0", "2379")
DATES = ("2026-05-04T12:00:00Z", "2026-05-04T12:00:00.123456+02:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z")
EDGES = (0, 1, 2, 3, 9_999, 10_000, 10_001, 2**31 - 1, -1, -(2**31), 2**53, 2**63 - 1)
NAMES = ("a", "train", "a-0", "n" * 40, "n" * 53, "n" * 54, "n" * 55, "n" * 63)
NO_NAMES = ("", "A", "0a", "-a", "a-", "a.b", "a_b", "é", "n" * 64, "a\n", "a/b", "..", " a")

KEYS = ("a", "a/b", "a.b/c-d_e.f", "A", "x" * 63, "0", "batch.paddlepaddle.org/ports", "a" * 253 + "/b")
NO_KEYS = ("", "-a", "a-", "a/", "/a", "a/b/c", "A/b", "x" * 64, "a" * 254 + "/b", "a b", "é", "a/b\n")
LABELS = ("", "a", "A_b.c-d", "0", "x" * 63)
NO_LABELS = ("-a", "a-", "x" * 64, "a b", "é", "a/b", "a\n")
ETCDS = ("10.0.0.5:2379", "etcd:2379", "127.0.0.1:2379", "")
# So deep in a template only required fields are made.
DEEPEST = 9


class Maker:
    """Makes values that follow a structural schema, by what chance says."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def rarely(self, usual: Sequence[Any], other: Sequence[Any]) -> Any:
        return self.chance.choice(other if self.chance.random() < 0.03 else usual)

    def some(self, of: Sequence[Any], most: int) -> list[Any]:
        return self.chance.sample(of, min(len(of), self.chance.randint(0, most)))

    def job(self) -> Json:
        return {
            "apiVersion": "batch.paddlepaddle.org/v1",
            "kind": "PaddleJob",
            "metadata": self.metadata(),
            "spec": self.value(SPEC, ("spec",)),
        }

    def metadata(self) -> Json:
        made: Json = {"name": self.rarely(NAMES, NO_NAMES)}
        pairs = range(self.chance.choice((0, 0, 1, 2)))
        made["labels"] = {self.rarely(KEYS, NO_KEYS): self.rarely(LABELS, NO_LABELS) for _ in pairs}
        made["annotations"] = {self.rarely(KEYS, NO_KEYS): self.chance.choice(WORDS) for _ in pairs}
        made["annotations"][ANNOTATION_ETCD] = self.chance.choice(ETCDS)
        return {name: made[name] for name in ("name", *self.some(("labels", "annotations"), 2))}

    def value(self, schema: Json, path: Steps = ()) -> Any:
        if schema.get("x-kubernetes-int-or-string"):
            return self.chance.choice((*QUANTITIES, 0, 1, 7))
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        match schema["type"]:
            case "object":
                return self._object(schema, path)
            case "array":
                sizes = (1, 1, 1, 2) if path[-1] == "containers" else (0, 1, 1, 2)
                size = self.rarely(sizes, (0,))
                return [self.value(schema["items"], (*path, 0)) for _ in range(size)]
            case "boolean":
                return self.chance.random() < 0.5
            case "integer":
                return self._integer(schema)
            case "string":
                return self.chance.choice(DATES if schema.get("format") == "date-time" else WORDS)
            case other:
                raise AssertionError(other)

    def _integer(self, schema: Json) -> int:
        bits = 31 if schema.get("format") == "int32" else 63
        low, high = schema.get("minimum", -(2**bits)), schema.get("maximum", 2**bits - 1)
        small = [one for one in (1, 1, 2, 2, 3, 0) if low <= one <= high]
        chosen: int = self.rarely(small, [low, high, *(one for one in EDGES if low <= one <= high)])
        return chosen

    def _object(self, schema: Json, path: Steps) -> Json:
        known = schema.get("properties")
        if known is None:
            inner = schema.get("additionalProperties")
            if not isinstance(inner, dict):
                return {}
            return {name: self.value(inner, (*path, name)) for name in self.some((*WORDS, *KEYS), 2)}
        required = [*schema.get("required", ()), *_wanted(path)]
        most = 5 if len(path) < 2 else 2 if len(path) < DEEPEST else 0
        chosen = self.some([name for name in known if name not in required], most)
        return {name: self.value(known[name], (*path, name)) for name in dict.fromkeys([*required, *chosen])}


def _wanted(path: Steps) -> tuple[str, ...]:
    """What nearly every job has: without it one rule would hide all others."""
    match path:
        case ("spec",):
            return ("worker",)
        case ("spec", "ps" | "worker" | "heter"):
            return ("replicas", "template")
        case ("spec", _, "template"):
            return ("spec",)
        case ("spec", _, "template", "spec"):
            return ("containers",)
        case _:
            return ()


chances = st.randoms(use_true_random=True)
schema_jobs = chances.map(lambda chance: Maker(chance).job())


def good_jobs() -> list[Json]:
    examples = [
        one
        for path in sorted(EXAMPLES.glob("*.yaml"))
        for one in yaml.safe_load_all(path.read_text())
        if one and one.get("kind") == "PaddleJob"
    ]
    full = a_job(
        "full",
        ps={**a_role(2), "requests": 1, "limits": 3},
        worker=a_role(2),
        heter=a_role(1),
        withGloo=2,
        intranet="Service",
        cleanPodPolicy="OnFailure",
        schedulingPolicy={"minAvailable": 2, "queue": "q", "priorityClass": "p", "minResources": {"cpu": "1"}},
        elastic=0,
        suspend=False,
        backoffLimit=3,
        activeDeadlineSeconds=100,
        startingDeadlineSeconds=10,
        ttlSecondsAfterFinished=0,
    )
    seen = {**a_job("seen"), "status": {"phase": "Running", "worker": {"running": 2, "ready": "2/2"}, "restarts": 1}}
    return [full, seen, _with_a_full_template(), *TAKEN.values(), *examples]


def _with_a_full_template() -> Json:
    job = a_job("template", worker=a_role(1))
    probe = {"httpGet": {"port": 80, "path": "/"}, "periodSeconds": 3, "failureThreshold": 2}
    job["spec"]["worker"]["template"] = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}, "creationTimestamp": DATES[0]},
        "spec": {
            "hostNetwork": False,
            "terminationGracePeriodSeconds": 5,
            "activeDeadlineSeconds": 100,
            "priority": 1,
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 3}],
            "securityContext": {"runAsUser": 1000, "fsGroup": 1, "supplementalGroups": [1, 2]},
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
                {"name": "map", "configMap": {"name": "map", "defaultMode": 420, "items": [{"key": "a", "path": "b"}]}},
            ],
            "containers": [
                {
                    "name": "paddle",
                    "image": "paddle:test",
                    "command": ["python", "train.py"],
                    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                    "ports": [{"containerPort": 80, "hostPort": 0, "protocol": "TCP"}],
                    "livenessProbe": probe,
                    "resources": {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": "500m"}},
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                    "securityContext": {"runAsUser": 5, "capabilities": {"add": ["SYS_PTRACE"]}},
                }
            ],
        },
    }
    return job


GOOD = good_jobs()
ODD: tuple[Any, ...] = (
    *(None, "", 0, -1, 1, 2, 3, 10_000, 10_001, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 1.0, 1.5, 1e300),
    *(True, False, "0", "1", "true", "x" * 300, "Always", "PodIP", "podip", [], {}, [None], {"a": None}, {"a": 1}),
    *([{}], [[]], ["a"], {"": ""}, "a\nb", "\0", *NAMES, *NO_NAMES, *QUANTITIES, *NO_QUANTITIES, *DATES),
    *("2026-05-04", "2026-13-04T12:00:00Z", "2026-05-04T12:00:00", "2026-05-04t12:00:00z", "2026-05-04T24:00:00Z"),
)


def _places(node: Any, path: Steps = ()) -> list[Steps]:
    """Every path in a document, but for those that only a server judges."""
    if isinstance(node, dict):
        inner = [found for name, child in node.items() for found in _places(child, (*path, name))]
    elif isinstance(node, list):
        inner = [found for index, child in enumerate(node) for found in _places(child, (*path, index))]
    else:
        inner = []
    return [path, *inner] if path else inner


class Mutator:
    """Changes one to three things in a good job."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self._maker = Maker(chance)

    def job(self) -> Json:
        job = copy.deepcopy(self.chance.choice(GOOD))
        for _ in range(self.chance.choice((1, 1, 1, 2, 3))):
            self._mutate(job, self.chance.choice(_places(job)))
        return job

    def _mutate(self, job: Json, path: Steps) -> None:
        *above, last = path
        node: Any = job
        for step in above:
            node = node[step]
        schema = _schema_at(path)
        match self.chance.choice(("odd", "odd", "drop", "add", "made", "wrap", "copy")):
            case "drop":
                del node[last]
            case "wrap":
                node[last] = self.chance.choice(([node[last]], {"a": node[last]}))
            case "copy" if isinstance(node, list):
                node.append(copy.deepcopy(node[int(last)]))
            case "add" if isinstance(node[last], dict):
                self._add(node[last], schema or {}, path)
            case "made" if schema is not None:
                node[last] = self._maker.value(schema, path)
            case _:
                node[last] = copy.deepcopy(self.chance.choice(ODD))

    def _add(self, to: Json, schema: Json, path: Steps) -> None:
        known = schema.get("properties", {})
        if known and self.chance.random() < 0.7:
            name = self.chance.choice([*known])
            to[name] = self._maker.value(known[name], (*path, name))
        else:
            to[self.chance.choice(WORDS)] = copy.deepcopy(self.chance.choice(ODD))


mutations = chances.map(lambda chance: Mutator(chance).job())


def _schema_at(path: Steps) -> Json | None:
    node: Any = SCHEMA
    for step in path:
        if not isinstance(node, dict):
            return None
        inner = node.get("items") if isinstance(step, int) else node.get("properties", {}).get(step)
        node = inner or (node.get("additionalProperties") if isinstance(step, str) else None)
    return node if isinstance(node, dict) and "type" in node and node is not SCHEMA["properties"]["metadata"] else None
