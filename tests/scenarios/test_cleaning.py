"""cleanPodPolicy on a real API server: every policy, both ends, all three modes, all at once."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role

pytestmark = pytest.mark.usefixtures("operator")

EVERYTHING, RUNNING, NOTHING = "everything goes", "what still runs goes", "nothing goes"

POLICIES = {
    "Always": {"Completed": EVERYTHING, "Failed": EVERYTHING},
    "OnCompletion": {"Completed": EVERYTHING, "Failed": RUNNING},
    "OnFailure": {"Completed": RUNNING, "Failed": EVERYTHING},
    "Never": {"Completed": NOTHING, "Failed": NOTHING},
    "Running": {"Completed": RUNNING, "Failed": RUNNING},
    "unset": {"Completed": RUNNING, "Failed": RUNNING},
}
MODES = {"ps": (1, 2), "collective": (0, 2), "single": (0, 1)}


def job(name: str, policy: str, mode: str) -> Json:
    servers, workers = MODES[mode]
    spec: Json = {"worker": a_role(workers, starts="at-once"), "intranet": "Service"}
    if servers:
        spec["ps"] = a_role(servers, starts="at-once")
    if policy != "unset":
        spec["cleanPodPolicy"] = policy
    return a_job(name, **spec)


@pytest.mark.parametrize("end", ["Completed", "Failed"])
def test_every_policy_leaves_what_it_promises_in_every_mode(desk: Desk, end: str) -> None:
    cases = {f"{policy}-{mode}".lower(): (policy, mode) for policy, mode in product(POLICIES, MODES)}
    for name, (policy, mode) in cases.items():
        desk.submit(job(name, policy, mode))
    for name in cases:
        desk.in_phase(name, "Running", timeout=60)
    for name in cases:
        if end == "Completed":
            desk.finish_workers(name)
        else:
            desk.steer(f"{name}-worker-0", ends="failed")
    for name, (policy, mode) in cases.items():
        desk.in_phase(name, end, timeout=60)
        wait_until(partial(holds, desk, name, POLICIES[policy][end], end, mode))


def holds(desk: Desk, name: str, promise: str, end: str, mode: str) -> bool:
    servers, workers = MODES[mode]
    everybody = {f"{name}-ps-{i}" for i in range(servers)} | {f"{name}-worker-{i}" for i in range(workers)}
    finished = {f"{name}-worker-{i}" for i in range(workers)} if end == "Completed" else {f"{name}-worker-0"}
    pods = {pod for pod in desk.pods() if pod.startswith(f"{name}-")}
    services = {one["metadata"]["name"] for one in desk.objects("services")} & everybody
    expected = {EVERYTHING: (set(), set()), RUNNING: (finished, everybody), NOTHING: (everybody, everybody)}
    assert (pods, services) == expected[promise], (name, promise, pods, services)
    return True
