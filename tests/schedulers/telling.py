"""What a job must tell while something holds it up, and when that is over."""

from __future__ import annotations

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json

# Seconds, with schedulers that look several times a second.
SOON = 30.0


def says_why(desk: Desk, name: str, reason: str, *texts: str, within: float = SOON) -> Json:
    """In its status, in the last column of `kubectl get -o wide`, in `kubectl describe`, and in an event."""

    def told(status: Json) -> bool:
        return status.get("reason") == reason and all(text in status["message"] for text in texts)

    status = desk.until(name, told, timeout=within)
    assert status["phase"] in ("Pending", "Restarting"), status
    header, line = desk.kubectl("get", "pdj", name, "-o", "wide").splitlines()
    assert (header.split()[-1], line.split()[-1]) == ("REASON", reason)
    condition = next(one for one in status["conditions"] if one["type"] == "Stalled")
    assert (condition["status"], condition["reason"]) == ("True", reason)
    wait_until(lambda: reason in desk.told(name))
    described = desk.kubectl("describe", "pdj", name)
    assert all(text in described for text in texts), described
    return status


def goes_on(desk: Desk, name: str, timeout: float = 90) -> Json:
    """The job runs, and no longer says that it is held up."""
    status = desk.in_phase(name, "Running", timeout=timeout)
    condition = next((one for one in status["conditions"] if one["type"] == "Stalled"), {"status": "False"})
    assert (condition["status"], "reason" in status) == ("False", False), status
    return status


def placed(desk: Desk) -> dict[str, str]:
    """Pods that have a node, and which."""
    return {name: pod["spec"]["nodeName"] for name, pod in desk.pods().items() if pod["spec"].get("nodeName")}


def nothing_leaks(desk: Desk, name: str, groups: str) -> None:
    """What was made for a job that waited goes with it; `groups` is where those of its scheduler are."""
    desk.delete(name, propagationPolicy="Foreground")

    def is_gone() -> bool:
        left = [pod for pod in desk.pods() if pod.startswith(f"{name}-")]
        left += [one["metadata"]["name"] for one in desk.api.get(groups)["items"] if one["metadata"]["name"] == name]
        assert not left, left
        return desk.gone(name)

    wait_until(is_gone)
