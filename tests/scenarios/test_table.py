"""The table of lives on a real API server, all jobs at once."""

from __future__ import annotations

from functools import partial

import pytest

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.table import SCENARIOS, Scenario

pytestmark = pytest.mark.usefixtures("operator")


def job(row: Scenario) -> Json:
    spec: Json = {"worker": a_role(row.workers, starts="at-once"), "intranet": "Service"}
    if row.servers:
        spec["ps"] = a_role(row.servers, starts="at-once")
    if row.policy != "unset":
        spec["cleanPodPolicy"] = row.policy
    return a_job(row.name, **spec)


def test_every_life_ends_as_the_table_says(desk: Desk) -> None:
    for row in SCENARIOS:
        desk.submit(job(row))
    for row in SCENARIOS:
        desk.in_phase(row.name, "Running", timeout=90)
        for pod, code in row.exits:
            desk.steer(f"{row.name}-{pod}", ends="failed" if code else "succeeded", exit_code=str(code))
    for row in SCENARIOS:
        status = desk.in_phase(row.name, row.end, timeout=90)
        if row.failure:
            pod, code = row.failure
            assert status["failure"]["pod"].startswith(f"{row.name}-{pod}")
            assert status["failure"]["exitCode"] == code
        wait_until(partial(is_left, desk, row))


def is_left(desk: Desk, row: Scenario) -> bool:
    def mine(names: set[str]) -> set[str]:
        return {name.removeprefix(f"{row.name}-") for name in names if name.startswith(f"{row.name}-")}

    services = {one["metadata"]["name"] for one in desk.objects("services")}
    found = (mine(set(desk.pods())), mine(services))
    assert found == (row.left, row.services_left), (row.name, found)
    return True
