"""Jobs that are refused at submission, each with words that both the API server and Python answer with: the sentence of
a rule, or the field that is wrong. And jobs that look odd and are taken by both.
"""

from __future__ import annotations

import copy
from typing import Any

from paddlejob.api import rules
from tests.scenarios.desk import Json, a_job, a_role

EMPTY = {"replicas": 1, "template": {"spec": {"containers": []}}}
BOUNDED = {**a_role(2), "requests": 1, "limits": 4}
POD = "spec.worker.template.spec"
CONTAINER = f"{POD}.containers[0]"


RULES: tuple[rules.Rule[Any], ...] = (*rules.ROOT, *rules.SPEC, *rules.ROLE)


def message(words: str) -> str:
    """The whole message of the rule that says these words."""
    (found,) = (one.message for one in RULES if words in one.message)
    return found


def without(field: str) -> Json:
    job = a_job("sample")
    del job["spec"][field]
    return job


def changed(path: str, value: Any) -> Json:
    """A good job but for one field of it; `0` in a path is the first of a list."""
    job = copy.deepcopy(a_job("sample"))
    *above, last = path.split(".")
    node: Any = job
    for step in above:
        node = node[int(step)] if step.isdecimal() else node.setdefault(step, {})
    node[last] = value
    return job


def in_pod(path: str, value: Any) -> Json:
    return changed(f"{POD}.{path}", value)


NO_WORKERS = message("never ends: set spec.worker")
NO_CONTAINER = message("needs a container")
NO_SERVERS = message("heter workers")
BAD_NAME = message("becomes part of host names")
LONG_NAME = message("too long")
ENDLESS = message("restartPolicy Always")
NO_PATTERN = message("is read by RE2")
TOO_MANY = message("at most 10000 pods")

REFUSED: dict[str, tuple[Json, str]] = {
    "no worker": (without("worker"), NO_WORKERS),
    "zero workers": (a_job("sample", worker=a_role(0)), NO_WORKERS),
    "no container": (a_job("sample", worker=EMPTY), NO_CONTAINER),
    "no template": (a_job("sample", worker={"replicas": 1}), NO_CONTAINER),
    "an empty template": (changed("spec.worker.template", {}), NO_CONTAINER),
    "no container in ps": (a_job("sample", ps=EMPTY), NO_CONTAINER),
    "no container in heter": (a_job("sample", ps=a_role(1), heter=EMPTY), NO_CONTAINER),
    "pods that never end": (in_pod("restartPolicy", "Always"), ENDLESS),
    "servers that never end": (a_job("sample", ps=in_pod("restartPolicy", "Always")["spec"]["worker"]), ENDLESS),
    "more than 10,000 workers": (a_job("sample", worker=a_role(10_001)), TOO_MANY),
    "more than 10,000 pods": (a_job("sample", worker=a_role(9_000), ps=a_role(999), heter=a_role(2)), TOO_MANY),
    "more than 10,000 workers to come": (a_job("sample", elastic=1, worker={**a_role(2), "limits": 10_001}), TOO_MANY),
    "name begins with a digit": (a_job("1st"), BAD_NAME),
    "name with a dot": (a_job("a.b"), BAD_NAME),
    "name too long": (a_job("n" * 55), LONG_NAME),
    "name too long for eleven workers": (a_job("n" * 54, worker=a_role(11)), LONG_NAME),
    "name too long for the workers to come": (a_job("n" * 54, worker={**a_role(2), "limits": 11}), LONG_NAME),
    "ps with elastic": (a_job("sample", ps=a_role(1), elastic=1, worker=BOUNDED), message("no parameter servers")),
    "heter without ps": (a_job("sample", heter=a_role(1)), NO_SERVERS),
    "heter with zero ps": (a_job("sample", heter=a_role(1), ps=a_role(0)), NO_SERVERS),
    "requests above replicas": (changed("spec.worker.requests", 3), message("replicas or below")),
    "replicas above limits": (changed("spec.worker.limits", 1), message("replicas or above")),
    "two clean policies": (
        a_job("sample", cleanPodPolicy="Never", cleanPolicy="Always"),
        message("set only cleanPodPolicy"),
    ),
    "a SampleSet": (
        a_job("sample", sampleSetRef={"name": "a", "mountPath": "/data"}),
        message("sampleSetRef is not supported"),
    ),
    "a pattern that is no regular expression": (a_job("sample", progress={"pattern": "(?P<step>"}), NO_PATTERN),
    "a pattern with look-ahead": (a_job("sample", progress={"pattern": r"(?=a)(?P<step>\d+)"}), NO_PATTERN),
    "a pattern that explodes": (a_job("sample", progress={"pattern": "(?P<loss>(a{1000}){1000})"}), NO_PATTERN),
    "a pattern that names nothing": (a_job("sample", progress={"pattern": r"step (\d+)"}), NO_PATTERN),
    "a pattern that is too long": (
        a_job("sample", progress={"pattern": f"(?P<step>{'1' * 1000})"}),
        "progress.pattern",
    ),
    "a pattern and a profile": (
        a_job("sample", progress={"pattern": r"(?P<step>\d+)", "profile": "plain"}),
        message("in place of a profile"),
    ),
    "an unknown profile": (a_job("sample", progress={"profile": "tensorflow"}), "spec.progress.profile"),
    "an unknown action": (a_job("sample", hang={"action": "Pray"}), "spec.hang.action"),
    "a budget of zero": (a_job("sample", hang={"afterSeconds": 0}), "spec.hang.afterSeconds"),
    "negative replicas": (a_job("sample", ps=a_role(-1)), "spec.ps.replicas"),
    "requests of zero": (changed("spec.worker.requests", 0), "spec.worker.requests"),
    "replicas beyond all bounds": (a_job("sample", ps=a_role(2**31)), "spec.ps.replicas"),
    "negative backoffLimit": (a_job("sample", backoffLimit=-1), "spec.backoffLimit"),
    "negative ttl": (a_job("sample", ttlSecondsAfterFinished=-1), "spec.ttlSecondsAfterFinished"),
    "negative elastic": (a_job("sample", elastic=-1), "spec.elastic"),
    "active deadline of zero": (a_job("sample", activeDeadlineSeconds=0), "spec.activeDeadlineSeconds"),
    "starting deadline of zero": (a_job("sample", startingDeadlineSeconds=0), "spec.startingDeadlineSeconds"),
    "unknown intranet": (a_job("sample", intranet="Pigeon"), "spec.intranet"),
    "intranet in small letters": (a_job("sample", intranet="service"), "spec.intranet"),
    "unknown cleanPodPolicy": (a_job("sample", cleanPodPolicy="Perhaps"), "spec.cleanPodPolicy"),
    "withGloo of three": (a_job("sample", withGloo=3), "spec.withGloo"),
    "withGloo of minus one": (a_job("sample", withGloo=-1), "spec.withGloo"),
    "no spec": ({**a_job("sample"), "spec": None}, "spec"),
    "spec left out": ({name: one for name, one in a_job("sample").items() if name != "spec"}, "spec"),
    "replicas as text": (changed("spec.worker.replicas", "two"), "spec.worker.replicas"),
    "half a worker": (changed("spec.worker.replicas", 1.5), "spec.worker.replicas"),
    "replicas as a flag": (changed("spec.worker.replicas", True), "spec.worker.replicas"),
    "suspend as text": (a_job("sample", suspend="true"), "spec.suspend"),
    "a role that is a number": (a_job("sample", ps=2), "spec.ps"),
    "a template that is a list": (changed("spec.worker.template", []), "spec.worker.template"),
    "an unknown field of the spec": (a_job("sample", wrker={}), "spec.wrker"),
    "an unknown field of a role": (changed("spec.worker.replica", 2), "spec.worker.replica"),
    "an unknown field of a policy": (changed("spec.schedulingPolicy.qeue", "a"), "spec.schedulingPolicy.qeue"),
    "an unknown field of a pod": (in_pod("contaners", []), f"{POD}.contaners"),
    "an unknown field of a container": (in_pod("containers.0.comand", ["a"]), f"{CONTAINER}.comand"),
    "an unknown field of the metadata": (changed("metadata.lables", {}), "metadata.lables"),
    "an unknown field of the job": ({**a_job("sample"), "spce": {}}, "spce"),
    "containers that are a mapping": (in_pod("containers", {"name": "paddle"}), f"{POD}.containers"),
    "a container that is text": (in_pod("containers", ["paddle"]), CONTAINER),
    "a container without a name": (in_pod("containers", [{"image": "a"}]), f"{CONTAINER}.name"),
    "a command that is no list": (in_pod("containers.0.command", "python"), f"{CONTAINER}.command"),
    "a variable that is a number": (
        in_pod("containers.0.env", [{"name": "A", "value": 1}]),
        f"{CONTAINER}.env[0].value",
    ),
    "memory in GB": (
        in_pod("containers.0.resources.limits", {"memory": "1GB"}),
        f"{CONTAINER}.resources.limits.memory",
    ),
    "half a CPU as a number": (
        in_pod("containers.0.resources.limits", {"cpu": 0.5}),
        f"{CONTAINER}.resources.limits.cpu",
    ),
    "an unknown restartPolicy": (in_pod("restartPolicy", "Sometimes"), f"{POD}.restartPolicy"),
    "a namespace that is a path": (changed("metadata.namespace", "../x"), "namespace"),
    # What fuzzing found the API server and Python to disagree about.
    "no kind": ({key: value for key, value in a_job("sample").items() if key != "kind"}, "missing"),
    "an empty kind": (changed("kind", None), "missing"),
    "another kind": (changed("kind", "Job"), "kind"),
    "an unknown field that is empty": (in_pod("PADDLE_JOB_ID", None), f"{POD}.PADDLE_JOB_ID"),
    "an unknown field of the status": (changed("status", {"foo": 1}), "status.foo"),
    "a field where the status has text": (changed("status", {"phase": {"a": 1}}), "status.phase.a"),
    "a field within a list where the status has a number": (
        changed("status", {"restarts": [{"a": 1}]}),
        "status.restarts",
    ),
    "a label's key that ends with a slash": (changed("metadata.labels", {"a/": "b"}), "metadata.labels"),
    "a label's key that is too long": (changed("metadata.labels", {"x" * 64: "b"}), "metadata.labels"),
    "a label that ends with a new line": (changed("metadata.labels", {"a": "b\n"}), "metadata.labels"),
    "a label that is too long": (changed("metadata.labels", {"a": "x" * 64}), "metadata.labels"),
    "an annotation's key with a space": (changed("metadata.annotations", {"a b": "c"}), "metadata.annotations"),
    "an annotation's key with a long prefix": (
        changed("metadata.annotations", {f"{'a' * 254}/b": "c"}),
        "metadata.annotations",
    ),
    "too many annotations": (changed("metadata.annotations", {"a": "x" * 256 * 1024}), "metadata.annotations"),
    "a nearly whole number": (changed("spec.ttlSecondsAfterFinished", 1.0000000001), message("numbers of a job")),
    "a number with a point": (changed("spec.backoffLimit", 1.0), message("numbers of a job")),
    "a gang with a point": (changed("spec.schedulingPolicy.minAvailable", 1.0), message("numbers of a job")),
    "a budget with a point": (changed("spec.hang.afterSeconds", 1.0), message("numbers of a job")),
    "half a second": (changed("spec.ttlSecondsAfterFinished", 1.5), "spec.ttlSecondsAfterFinished"),
    "a number of more than 64 bits": (
        in_pod("terminationGracePeriodSeconds", 2**63),
        f"{POD}.terminationGracePeriodSeconds",
    ),
    "a quantity of more than 64 bits": (
        in_pod("containers.0.resources.limits", {"cpu": -(2**63) - 1}),
        f"{CONTAINER}.resources.limits.cpu",
    ),
    "resources of a gang of more than 64 bits": (
        changed("spec.schedulingPolicy.minResources", {"cpu": 2**63}),
        "spec.schedulingPolicy.minResources.cpu",
    ),
    "a quantity that ends with a new line": (
        in_pod("containers.0.resources.limits", {"cpu": "1\n"}),
        f"{CONTAINER}.resources.limits.cpu",
    ),
    "a time that is a list": (
        changed("spec.worker.template.metadata.creationTimestamp", []),
        "spec.worker.template.metadata.creationTimestamp",
    ),
    "an empty item": (in_pod("containers", [None]), CONTAINER),
    "an empty name": (in_pod("containers", [{"name": None}]), f"{CONTAINER}.name"),
    "a node selector of numbers": (in_pod("nodeSelector", {"gpu": 1}), f"{POD}.nodeSelector.gpu"),
}

TAKEN: dict[str, Json] = {
    "a short name": a_job("a"),
    "a name that just fits": a_job("n" * 54),
    "10,000 workers to come": a_job("sample", elastic=1, worker={**a_role(2), "limits": 10_000}),
    "10,000 pods": a_job("sample", worker=a_role(9_000), ps=a_role(999), heter=a_role(1)),
    "no replicas given": changed("spec.worker", {"template": a_role(1)["template"]}),
    "zero servers": a_job("sample", ps=a_role(0)),
    "zero heter workers": a_job("sample", heter=a_role(0)),
    "an elastic job": a_job("sample", elastic=1, worker=BOUNDED),
    "an elastic job without bounds": a_job("sample", elastic=1),
    "an elastic job without limits": a_job("sample", elastic=1, worker={**a_role(2), "requests": 1}),
    "elastic: 0 with servers": a_job("sample", elastic=0, ps=a_role(1)),
    "bounds without elastic": a_job("sample", worker={**a_role(2), "requests": 2, "limits": 2}),
    "a policy as paddle-operator 0.3 writes it": a_job("sample", cleanPodPolicy="OnFailed"),
    "the same policy twice": a_job("sample", cleanPodPolicy="Never", cleanPolicy="Never"),
    "restartPolicy OnFailure": in_pod("restartPolicy", "OnFailure"),
    "a sidecar that is always restarted": in_pod(
        "initContainers", [{"name": "side", "image": "a", "restartPolicy": "Always"}]
    ),
    "fields that are empty and have a default": a_job("sample", withGloo=None, intranet=None, suspend=None),
    "an empty role": a_job("sample", ps=None),
    "a program whose output is known": a_job("sample", progress={"profile": "paddleseg"}),
    "lines of one's own": a_job("sample", progress={"pattern": r"done: (?P<step>\d+) of (?<total>\d+) é"}),
    "a watch for hangs": a_job("sample", hang={"action": "Restart", "afterSeconds": 600}),
    "an empty watch for hangs": a_job("sample", hang={}, progress={}),
    "an empty field of a container": in_pod("containers.0.resources", None),
    "an empty variable": in_pod("containers.0.env", [{"name": "A", "value": None}]),
    "an empty value of a map": in_pod("nodeSelector", {"gpu": None}),
    "empty annotations": changed("metadata.annotations", None),
    "a template as other tools write it": changed("spec.worker.template.metadata.creationTimestamp", None),
    "quantities as numbers and text": in_pod("containers.0.resources.limits", {"cpu": 1, "memory": "1Gi", "a/b": "1"}),
    "half a CPU in quotes": in_pod("containers.0.resources.limits", {"cpu": "0.5"}),
    "a quantity of thousands of digits": in_pod("containers.0.resources.limits", {"cpu": "9" * 5000}),
    "a port by name": in_pod("containers.0.livenessProbe", {"httpGet": {"port": "http"}}),
    "a port by number": in_pod("containers.0.livenessProbe", {"httpGet": {"port": 80}}),
    "a variable that stands twice": in_pod(
        "containers.0.env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    ),
    # What fuzzing found the API server and Python to disagree about.
    "a status of another operator": changed("status", {"phase": "Succeed", "restarts": "many"}),
    "a status that is text": changed("status", "Running"),
    "labels and annotations": changed(
        "metadata", {"name": "a", "labels": {"a.b/C_d": "", "0": "A"}, "annotations": {}}
    ),
    "an annotation in capital letters": changed("metadata.annotations", {"A.B/C": "any\nthing"}),
    "a whole number of the template with a point": in_pod("terminationGracePeriodSeconds", 5.0),
    "a nearly whole number of the template": in_pod("terminationGracePeriodSeconds", 5.0000000001),
    "a quantity with a point": in_pod("containers.0.resources.limits", {"cpu": 1.0}),
    "resources of a gang with a point": changed("spec.schedulingPolicy.minResources", {"cpu": 1.0}),
    "resources of a gang that are nearly whole": changed("spec.schedulingPolicy.minResources", {"cpu": 1.0000000001}),
    "resources of a gang": changed("spec.schedulingPolicy.minResources", {"cpu": 4, "memory": "8Gi"}),
}
