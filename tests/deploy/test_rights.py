"""Least privilege: the operator uses every verb of its role and needs each of them.

Runs on an API server that refuses streaming lists (so that `list` is needed) and that checks owner references (so that
`paddlejobs/finalizers` is), with the service account and the role of deploy/v1/operator.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from paddlejob.api import Job
from paddlejob.cli.plan import becomes
from paddlejob.core.kind import Kind
from paddlejob.core.kinds import BUILT_IN
from paddlejob.core.services import SERVICES
from tests.cluster.audit import Call
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import MANIFEST
from tests.operator.process import ACCOUNT, OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role

FLAGS = ("--feature-gates=WatchList=false", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{OPERATOR_NAMESPACE}/leases/paddle-operator"
ROLES: list[Json] = [one for one in yaml.safe_load_all(MANIFEST.read_text()) if one["kind"] in ("ClusterRole", "Role")]
Right = tuple[str, str]
"""A resource and a verb."""

RIGHTS: list[Right] = [
    (resource, verb)
    for role in ROLES
    for rule in role["rules"]
    for resource in rule["resources"]
    for verb in rule["verbs"]
]
# Not called by itself: the API server asks for it when an object with blockOwnerDeletion is created.
FOR_OWNER_REFERENCES: Right = ("paddlejobs/finalizers", "update")

_numbers = count(1)


@pytest.fixture(scope="module")
def strict(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("strict")
    with ControlPlane(binaries, folder, apiserver_flags=FLAGS, manifests=[CRD, MANIFEST]) as started:
        yield started


@pytest.fixture(scope="module")
def credentials(strict: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return operator_kubeconfig(strict, tmp_path_factory.mktemp("strict-operator") / "kubeconfig")


@pytest.fixture
def strict_desk(strict: ControlPlane) -> Iterator[Desk]:
    """Its pods go with it: the next operator knows nothing of the node's ports that they hold."""
    name = f"life-{next(_numbers)}"
    strict.add_namespace(name)
    yield Desk(strict, name)
    strict.api.delete(f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")
    wait_until(lambda: not strict.api.get(f"/api/v1/namespaces/{name}/pods")["items"])


@pytest.fixture
def strict_operator(strict_desk: Desk, credentials: Path, tmp_path: Path) -> Iterator[OperatorProcess]:
    """Not started yet; the lease of the one before is gone."""
    strict_desk.control_plane.kubectl("-n", OPERATOR_NAMESPACE, "delete", "lease", "--all")
    args = ("--leader-elect", f"--namespace={strict_desk.namespace}")
    process = OperatorProcess(credentials, tmp_path / "operator.log", args)
    yield process
    process.kill()


def begin_a_life(desk: Desk) -> None:
    """Jobs that together use everything: every network, clean-up, expiry, restarts, and a taken name of each kind."""
    by_name = a_role(1, starts="at-once", ends="succeeded")
    desk.submit(a_job("address", ps=a_role(1), worker=a_role(1, ends="succeeded"), cleanPodPolicy="Always"))
    desk.submit(a_job("name", worker=by_name, intranet="Service", cleanPodPolicy="Always"))
    desk.submit(a_job("brief", worker=by_name, intranet="Service", ttlSecondsAfterFinished=0))
    desk.submit(a_job("evicted", worker=a_role(1, ends="evicted", after="300ms")))
    desk.submit(a_job("host", worker=a_role(1, ends="succeeded"), intranet="Host", cleanPodPolicy="Always"))
    desk.submit(a_job("unmounted", worker=a_role(1, stuck="mount")))
    lose_labels(desk, a_job("bare", worker=by_name, intranet="Service", cleanPodPolicy="Always", suspend=True))
    for kind in BUILT_IN:
        meet(desk, kind, a_job(f"met-{kind.plural}", worker=by_name, intranet="Service"))


def lose_labels(desk: Desk, job: Json) -> None:
    """Submit a job that finds a Service of its own from which somebody took the labels."""
    made = msgspec.convert(desk.submit(job), Job)
    body = next(one for one in becomes(resumed(made)) if one["kind"] == SERVICES.name)
    desk.api.post(desk.path(SERVICES), {**body, "metadata": {**body["metadata"], "labels": {}}})
    desk.change(made.metadata.name, {"suspend": False})


def resumed(job: Job) -> Job:
    return replace(job, spec=replace(job.spec, suspend=False))


def meet(desk: Desk, kind: Kind[Any], job: Json) -> None:
    """Submit a job that finds a stranger where its first object of this kind should be."""
    imagined = msgspec.convert(job, Job)
    body = next(one for one in becomes(imagined) if one["kind"] == kind.name)
    desk.api.post(desk.path(kind), {**body, "metadata": {"name": body["metadata"]["name"]}})
    desk.submit(job)


def calls_since(desk: Desk, moment: datetime) -> list[Call]:
    calls = desk.control_plane.audit(since=moment)
    return [call for call in calls if call.namespace in (desk.namespace, OPERATOR_NAMESPACE)]


def right(call: Call) -> Right:
    return (f"{call.resource}/{call.subresource}" if call.subresource else call.resource, call.verb)


def test_every_verb_of_the_role_is_used_and_no_other(strict_desk: Desk, strict_operator: OperatorProcess) -> None:
    desk, since = strict_desk, datetime.now(timezone.utc)
    strict_operator.start()
    begin_a_life(desk)
    for job in ("address", "name", "host", "bare"):
        desk.in_phase(job, "Completed")
    wait_until(lambda: desk.gone("brief"))
    desk.until("evicted", lambda status: status.get("attempt") and status["phase"] != "Restarting")
    desk.delete("evicted")
    wait_until(lambda: ("events", "list") in {right(call) for call in calls_since(desk, since)})
    desk.delete("unmounted")
    for kind in BUILT_IN:
        desk.stalled(f"met-{kind.plural}", "NameTaken")
    wait_until(lambda: {one for one in desk.pods() if not one.startswith("met")} == set())
    wait_until(lambda: all(one["metadata"]["name"].startswith("met") for one in desk.objects("services")))
    strict_operator.stop()
    calls = calls_since(desk, since)
    assert not [str(call) for call in calls if call.code == 403]
    assert {right(call) for call in calls} == {*RIGHTS} - {FOR_OWNER_REFERENCES}


@pytest.mark.parametrize("missing", RIGHTS, ids=" ".join)
def test_without_any_one_verb_something_is_forbidden(
    strict_desk: Desk, strict_operator: OperatorProcess, missing: Right
) -> None:
    desk, since = strict_desk, datetime.now(timezone.utc)
    refused = ("pods", "create") if missing == FOR_OWNER_REFERENCES else missing
    set_rights(desk.control_plane, without=missing)
    try:
        wait_until(lambda: not any(allowances(desk, missing)))  # the API server learns of its roles by a watch
        strict_operator.start(ready=False)
        begin_a_life(desk)
        wait_until(lambda: [one for one in calls_since(desk, since) if right(one) == refused and one.code == 403])
    finally:
        strict_operator.kill()
        set_rights(desk.control_plane, without=None)
        wait_until(lambda: all(allowances(desk, missing)))


@pytest.mark.parametrize("missing", [("pods", "delete"), ("pods", "patch")], ids=" ".join)
def test_what_the_operator_may_not_do_is_told_and_asked_for_rarely(
    strict_desk: Desk, strict_operator: OperatorProcess, missing: Right
) -> None:
    """Once for each pod, then one after 2 s and one after 4 s more; without pauses it would be hundreds."""
    desk, since = strict_desk, datetime.now(timezone.utc)
    set_rights(desk.control_plane, without=missing)
    try:
        wait_until(lambda: not any(allowances(desk, missing)))
        strict_operator.start()
        ends = {"starts": "at-once", "ends": "succeeded"} if missing == ("pods", "delete") else {}
        network = "Service" if ends else "PodIP"
        desk.submit(a_job("held", worker=a_role(4, **ends), intranet=network, cleanPodPolicy="Always"))
        desk.until("held", lambda status: stall(status) == "Forbidden")
        calls = wait_until(lambda: lasting(refused(desk, since, missing), seconds=5))
        assert len(calls) <= 6
    finally:
        set_rights(desk.control_plane, without=None)
    desk.until("held", lambda status: status["phase"] in ("Running", "Completed") and not stall(status))
    if ends:
        wait_until(lambda: not desk.pods())


def stall(status: Json) -> str:
    found = [one for one in status.get("conditions", ()) if (one["type"], one["status"]) == ("Stalled", "True")]
    return str(found[0]["reason"]) if found else ""


def refused(desk: Desk, since: datetime, wanted: Right) -> list[Call]:
    return [call for call in calls_since(desk, since) if right(call) == wanted and call.code == 403]


def lasting(calls: list[Call], seconds: float) -> list[Call]:
    """The calls, once they went on for so long."""
    return calls if calls and (calls[-1].timestamp - calls[0].timestamp).total_seconds() > seconds else []


def allowances(desk: Desk, wanted: Right) -> list[bool]:
    """Of each role that is to grant the right: whether the operator's account has it where that role counts."""
    name, verb = wanted
    resource, _, subresource = name.partition("/")
    user = f"system:serviceaccount:{OPERATOR_NAMESPACE}:{ACCOUNT}"

    def allowed(role: Json, rule: Json) -> bool:
        asked = {"resource": resource, "subresource": subresource, "verb": verb, "group": rule["apiGroups"][0]}
        asked |= {
            "namespace": role["metadata"].get("namespace", desk.namespace),
            "name": rule.get("resourceNames", [""])[0],
        }
        spec = {"user": user, "resourceAttributes": asked}
        answer = desk.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
        return bool(answer["status"]["allowed"])

    rules = [(role, rule) for role in ROLES for rule in role["rules"]]
    return [allowed(role, rule) for role, rule in rules if name in rule["resources"] and verb in rule["verbs"]]


def set_rights(control_plane: ControlPlane, without: Right | None) -> None:
    """The roles of the manifest, but for one verb on one resource."""
    for role in ROLES:
        rules = [
            {**rule, "verbs": [verb for verb in rule["verbs"] if without is None or (resource, verb) != without]}
            for rule in role["rules"]
            for resource in rule["resources"]
        ]
        kept = [rule for rule in rules if rule["verbs"]]
        namespace = role["metadata"].get("namespace")
        scope = f"namespaces/{namespace}/roles" if namespace else "clusterroles"
        path = f"/apis/rbac.authorization.k8s.io/v1/{scope}/{role['metadata']['name']}"
        control_plane.api.merge(path, {"rules": kept})
