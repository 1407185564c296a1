"""What `paddlejob plan` promises is what the operator makes on the real API server."""

from __future__ import annotations

import json

import pytest
import yaml

from paddlejob.cli.plan import UID
from paddlejob.core.kinds import BY_NAME
from tests.cli.person import Person
from tests.scenarios.desk import Desk, a_job, a_role


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("intranet", ["PodIP", "Service"])
def test_the_plan_is_what_the_operator_makes(person: Person, desk: Desk, intranet: str) -> None:
    steer = {"starts": "at-once"} if intranet == "Service" else {}
    job = a_job("same", intranet=intranet, ps=a_role(1, **steer), worker=a_role(2, **steer))
    said = person.pipes("plan", "-", "-n", desk.namespace, stdin=json.dumps(job)).fine()
    promised = list(yaml.safe_load_all(said.out))
    desk.submit(job)
    desk.in_phase("same", "Running")
    uid = desk.job("same")["metadata"]["uid"]
    pods = desk.pods()
    for one in promised:
        meta = one["metadata"]
        (made,) = [each for each in desk.of_kind(BY_NAME[one["kind"]]) if each["metadata"]["name"] == meta["name"]]
        assert made["metadata"]["labels"].items() >= meta["labels"].items()
        text = json.dumps(one).replace(UID, uid).replace(f"-{UID[:8]}-", f"-{uid[:8]}-")
        text = text.replace(f"_{UID[:8]}_", f"_{uid[:8]}_")
        for name, pod in pods.items():
            text = text.replace(f"<address of {name}>", pod["status"]["podIP"])
        wanted = json.loads(text)
        assert made["metadata"]["ownerReferences"] == wanted["metadata"]["ownerReferences"]
        if one["kind"] == "ConfigMap":
            assert made["data"] == wanted["data"]
        if one["kind"] == "Pod":
            ours, theirs = wanted["spec"]["containers"][0], made["spec"]["containers"][0]
            assert ours["env"] == theirs["env"]
