"""Jobs that an earlier operator left under its own, looser CRD, and one that nobody can read: the others go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml

from paddlejob.api import crd
from tests.cli.person import Person
from tests.cluster.api import ApiError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role

CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd.definition()['metadata']['name']}"


def takes_nonsense(desk: Desk, nonsense: Json) -> bool:
    try:
        desk.submit(nonsense, dry_run=True)
    except ApiError:
        return False
    return True


@contextmanager
def looser_crd(control_plane: ControlPlane, desk: Desk) -> Iterator[None]:
    """One that takes anything, as `preserveUnknownFields` did; ours again afterwards."""
    nonsense = a_job("nonsense", withGloo="many")
    ours = control_plane.api.get(CRD)["spec"]
    (version,) = ours["versions"]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    loose = {**version, "schema": {"openAPIV3Schema": anything}}
    control_plane.api.merge(CRD, {"spec": {"versions": [loose]}})
    try:
        wait_until(lambda: takes_nonsense(desk, nonsense))
        yield
    finally:
        control_plane.api.merge(CRD, {"spec": {"versions": [version]}})
        wait_until(lambda: not takes_nonsense(desk, nonsense))


def leave(control_plane: ControlPlane, desk: Desk, job: Json, status: Json) -> None:
    desk.submit(job)
    path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs/{job['metadata']['name']}/status"
    control_plane.api.merge(path, {"status": status})


@pytest.fixture
def inheritance(control_plane: ControlPlane, desk: Desk) -> None:
    with looser_crd(control_plane, desk):
        leave(control_plane, desk, a_job("succeeded"), {"phase": "Succeed", "worker": {"succeeded": 2}})
        leave(control_plane, desk, a_job("aborted"), {"phase": "Aborted"})
        leave(control_plane, desk, a_job("odd"), {"phase": "Unknown", "restarts": "many", "conditions": 5})
        desk.submit(a_job("broken", withGloo="many"))


@pytest.mark.usefixtures("inheritance")
def test_a_person_sees_them_all_and_can_delete_each(person: Person, desk: Desk) -> None:
    desk.submit(a_job("good"))
    rows = {line.split()[0]: line.split()[1] for line in person.pipes("list").fine().out.splitlines()[1:]}
    assert rows == {
        "aborted": "Failed",
        "broken": "Unreadable",
        "good": "Pending",
        "odd": "Pending",
        "succeeded": "Completed",
    }
    assert "another operator wrote that this job has ended: Aborted" in person.pipes("describe", "aborted").fine().out
    page = person.pipes("describe", "broken").fine().out
    assert "cannot read it: Expected `int`, got `str` - at `$.spec.withGloo`" in page
    assert "withGloo: many" in yaml.safe_dump(
        yaml.safe_load(person.pipes("describe", "broken", "-o", "yaml").fine().out)
    )
    waited = person.pipes("wait", "broken", "--timeout=20s")
    assert (waited.code, "cannot read the Job" in waited.err) == (1, True), waited.err
    for name in rows:
        assert person.pipes("delete", name).fine().out == f"{name} deleted\n"
    assert all(desk.gone(name) for name in rows)


@pytest.mark.usefixtures("inheritance", "operator")
def test_the_operator_leaves_those_that_ended_adopts_the_others_and_goes_on(desk: Desk) -> None:
    desk.submit(a_job("good", worker=a_role(1)))
    assert desk.in_phase("odd", "Running")["restarts"] == 0
    desk.in_phase("good", "Running")
    assert sorted(desk.pods()) == ["good-worker-0", "odd-worker-0", "odd-worker-1"]
    assert desk.status("succeeded")["phase"] == "Succeed"
    wait_until(lambda: "Unreadable" in desk.told("broken"))
