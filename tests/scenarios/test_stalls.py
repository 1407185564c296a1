"""A job that cannot go on says why within five seconds, in `kubectl get -o wide` and in one event; the others go on."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role

pytestmark = pytest.mark.usefixtures("operator")

SOON = 5.0

QUOTA: Json = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few"},
    "spec": {"hard": {"pods": "1"}},
}


def says_why(desk: Desk, name: str, reason: str, text: str, within: float = SOON) -> None:
    status = desk.stalled(name, reason, timeout=within)
    assert text in status["message"]
    wide = desk.kubectl("get", "pdj", name, "-o", "wide").splitlines()
    assert wide[0].split()[-1] == "REASON"
    assert wide[1].split()[-1] == reason
    condition = next(one for one in status["conditions"] if one["type"] == "Stalled")
    assert (condition["status"], condition["reason"]) == ("True", reason)
    wait_until(lambda: desk.told(name).count(reason) == 1)
    assert text in desk.kubectl("describe", "pdj", name)


def goes_on(desk: Desk, name: str) -> None:
    """The job runs, and no longer says that it is held up."""
    status = desk.in_phase(name, "Running", timeout=60)
    condition = next(one for one in status["conditions"] if one["type"] == "Stalled")
    assert (condition["status"], "reason" in status) == ("False", False)


def others_go_on(desk: Desk) -> None:
    desk.submit(a_job("healthy", worker=a_role(1, ends="succeeded")))
    desk.in_phase("healthy", "Completed")


def test_a_quota_that_is_too_small(desk: Desk) -> None:
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/resourcequotas", QUOTA)
    wait_until(lambda: desk.api.get(f"/api/v1/namespaces/{desk.namespace}/resourcequotas/few")["status"])
    desk.submit(a_job("greedy", worker=a_role(3)))
    says_why(desk, "greedy", "QuotaExceeded", "exceeded quota: few")
    assert len(desk.pods()) == 1
    desk.api.delete(f"/api/v1/namespaces/{desk.namespace}/resourcequotas/few")
    goes_on(desk, "greedy")
    assert desk.told("greedy").count("QuotaExceeded") == 1


def test_pods_that_an_admission_policy_forbids(desk: Desk) -> None:
    policy = desk.namespace + "-no-root"
    path = "/apis/admissionregistration.k8s.io/v1"
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    where = {"matchLabels": {"kubernetes.io/metadata.name": desk.namespace}}
    spec = {
        "matchConstraints": {"resourceRules": rules, "namespaceSelector": where},
        "validations": [{"expression": "!object.metadata.name.startsWith('bad-')", "message": "bad is not allowed"}],
    }
    desk.api.post(f"{path}/validatingadmissionpolicies", {"metadata": {"name": policy}, "spec": spec})
    binding = {"policyName": policy, "validationActions": ["Deny"]}
    desk.api.post(f"{path}/validatingadmissionpolicybindings", {"metadata": {"name": policy}, "spec": binding})
    try:
        wait_until(lambda: denied(desk, "bad-probe"), timeout=30)
        desk.submit(a_job("bad"))
        says_why(desk, "bad", "Invalid", "bad is not allowed")
        others_go_on(desk)
    finally:
        desk.api.delete(f"{path}/validatingadmissionpolicybindings/{policy}")
        desk.api.delete(f"{path}/validatingadmissionpolicies/{policy}")


def test_an_admission_webhook_that_is_down(desk: Desk) -> None:
    """Nothing listens at its address, and no pod may be made without it."""
    name, path = f"{desk.namespace}-away", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    hook: Json = {
        "name": "away.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": desk.namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
    }
    desk.api.post(path, {"metadata": {"name": name}, "webhooks": [hook]})
    try:
        wait_until(lambda: denied(desk, "probe", "failed calling webhook"), timeout=30)
        desk.submit(a_job("hooked", worker=a_role(3)))
        says_why(desk, "hooked", "WebhookFailed", "failed calling webhook")
        assert not desk.pods()
    finally:
        desk.api.delete(f"{path}/{name}")
    goes_on(desk, "hooked")


def denied(desk: Desk, name: str, why: str = "bad is not allowed") -> bool:
    """Whether the policy is in force by now: the API server reads policies now and then."""
    pod = {"metadata": {"name": name}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    try:
        desk.api.post(f"/api/v1/namespaces/{desk.namespace}/pods?dryRun=All", pod)
    except Exception as error:
        return why in str(error)
    return False


@pytest.mark.parametrize("kind", ["pods", "configmaps", "services"])
def test_a_name_that_is_taken(desk: Desk, kind: str) -> None:
    name = {"pods": "mine-worker-0", "configmaps": "mine", "services": "mine-worker-0"}[kind]
    bodies: dict[str, Json] = {
        "pods": {"spec": {"containers": [{"name": "a", "image": "a"}]}},
        "configmaps": {"data": {"PADDLE_TRAINERS_NUM": "99"}},
        "services": {"spec": {"ports": [{"port": 80}]}},
    }
    path = f"/api/v1/namespaces/{desk.namespace}/{kind}"
    stranger = desk.api.post(path, {"metadata": {"name": name}, **bodies[kind]})
    mode, steer = ("Service", {"starts": "at-once"}) if kind == "services" else ("PodIP", {})
    desk.submit(a_job("mine", worker=a_role(2, **steer), intranet=mode))
    says_why(desk, "mine", "NameTaken", name)
    untouched = desk.api.get(f"{path}/{name}")
    assert untouched["metadata"]["uid"] == stranger["metadata"]["uid"]
    assert "ownerReferences" not in untouched["metadata"]
    desk.api.delete(f"{path}/{name}")
    goes_on(desk, "mine")


def test_an_image_that_cannot_be_pulled(desk: Desk) -> None:
    desk.submit(a_job("imageless", worker=a_role(2, stuck="image")))
    says_why(desk, "imageless", "ImagePull", "paddle:test")
    others_go_on(desk)


def test_a_volume_that_cannot_be_mounted(desk: Desk) -> None:
    """Only the kubelet's event tells; here the test writes it, in the form that kubelets use."""
    desk.submit(a_job("unmounted", worker=a_role(2, stuck="mount")))
    wait_until(lambda: len(desk.pods()) == 2)
    path, now = f"/api/v1/namespaces/{desk.namespace}", datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod = desk.api.get(f"{path}/pods/unmounted-worker-1")
    about = {"kind": "Pod", "namespace": desk.namespace, "name": "unmounted-worker-1", "uid": pod["metadata"]["uid"]}
    said: Json = {
        "metadata": {"name": "unmounted-worker-1.1"},
        "involvedObject": about,
        "type": "Warning",
        "reason": "FailedMount",
        "message": 'MountVolume.SetUp failed for volume "data" : secret "token" not found',
        "source": {"component": "kubelet"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    desk.api.post(f"{path}/events", said)
    says_why(desk, "unmounted", "FailedMount", 'secret "token" not found', within=15)
    desk.kubectl("annotate", "pod", "--all", "test.paddlejob/stuck-")
    goes_on(desk, "unmounted")


def test_a_pod_that_does_not_go_away(desk: Desk) -> None:
    """Someone gave it a finalizer: the job is suspended, and one pod stays."""
    desk.submit(a_job("held", worker=a_role(1)))
    desk.in_phase("held", "Running")
    pod = f"/api/v1/namespaces/{desk.namespace}/pods/held-worker-0"
    desk.api.merge(pod, {"metadata": {"finalizers": ["example.com/keep"]}})
    desk.change("held", {"suspend": True})
    says_why(desk, "held", "PodsRemain", "held-worker-0", within=90)
    desk.api.merge(pod, {"metadata": {"finalizers": None}})
    desk.until("held", lambda status: "reason" not in status)


def test_pods_that_no_node_can_take(desk: Desk) -> None:
    worker = a_role(2)
    worker["template"]["spec"]["nodeSelector"] = {"nowhere": "to-be-found"}
    desk.submit(a_job("homeless", worker=worker))
    says_why(desk, "homeless", "Unschedulable", "nodes are available")
    others_go_on(desk)


def test_what_this_release_cannot_run_is_said_and_nothing_is_made(desk: Desk) -> None:
    worker = {**a_role(2), "requests": 1, "limits": 3}
    desk.submit(a_job("early", elastic=1, worker=worker, intranet="Service"))
    says_why(desk, "early", "NotSupported", "elastic")
    assert not desk.pods()
