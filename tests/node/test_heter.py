"""A heter job in pods, as far as PaddlePaddle itself gets: every pod finds its place (docs/heter.md)."""

import json
from typing import Any

import pytest

from tests.node.conftest import Tell
from tests.node.jobs import a_job, a_role, running
from tests.node.user import ROOT, Story, User

pytestmark = pytest.mark.timeout(600)


def said(story: Story, role: str) -> list[dict[str, Any]]:
    """What the pods of a role say, in order of their ids."""
    logs = "\n".join(log for pod, log in story.logs.items() if f"-{role}-" in pod)
    found = [json.loads(line.partition("RESULT ")[2]) for line in logs.splitlines() if "RESULT " in line]
    return sorted(found, key=lambda one: int(one["id"]))


def test_every_pod_of_a_heter_job_finds_its_place_by_name(user: User, tell: Tell) -> None:
    role = running(user, a_role(2, "python", "/program/roles.py"), ROOT / "tests" / "training" / "roles.py")
    user.submit(a_job("pipeline", intranet="Service", ps={**role, "replicas": 1}, worker=role, heter=role))
    story = user.sees_through("pipeline")
    assert story.row["STATUS"] == "Completed", story.told()
    servers, workers, heter = (said(story, name) for name in ("ps", "worker", "heter"))
    assert [len(one) for one in (servers, workers, heter)] == [1, 2, 2], story.told()
    endpoints = [[one["endpoint"] for one in pods] for pods in (servers, workers, heter)]
    for one in (*servers, *workers, *heter):
        assert (one["servers"], one["heter"], one["workers"]) == (endpoints[0], endpoints[2], 2)
    for one in workers:
        assert (one["stage"], one["next"], one["previous"]) == (1, endpoints[2], [])
    for one in heter:
        assert (one["stage"], one["next"], one["previous"]) == (2, [], endpoints[1])
    tell(f"{'heter (not training)':<26} {story.row['STATUS']:<10} {story.row['MODE']:<11} all 5 pods found their place")
