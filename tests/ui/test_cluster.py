"""The page over jobs of a real API server, with a person's own rights, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.served import Served, serving


@pytest.fixture
def shown(person: Person, tmp_path: Path) -> Iterator[Served]:
    with serving(person.env, tmp_path) as started:
        yield started


@pytest.fixture
def page(visit: Visit, shown: Served) -> Visitor:
    return visit(shown.address)


@pytest.fixture
def elsewhere(desk: Desk) -> Iterator[Desk]:
    """Another namespace; the job `theirs` in it is deleted at the end."""
    desk.control_plane.add_namespace(other := f"{desk.namespace}-other")
    other_desk = Desk(desk.control_plane, other)
    yield other_desk
    other_desk.delete("theirs")


def answer(page: Visitor, button: str) -> None:
    page.page.get_by_role("dialog").get_by_role("button", name=button).click()


def why_of(person: Person, name: str) -> str:
    said = person.pipes("describe", name).fine().out
    return next(line for line in said.splitlines() if line.startswith("Why:"))[11:].strip()


def test_a_job_is_seen_from_its_stall_to_its_end(
    page: Visitor, desk: Desk, operator: OperatorProcess, person: Person
) -> None:
    assert operator.exit_code is None
    stuck = a_role(2)
    stuck["template"]["spec"]["nodeSelector"] = {"no-such": "node"}
    desk.submit(a_job("waits", worker=stuck))
    desk.submit(a_job("train", ps=a_role(1)))
    row = page.page.locator("tr", has=page.page.get_by_role("link", name="waits", exact=True))
    row.get_by_text("Unschedulable").wait_for()
    page.job("waits")
    # A scheduler counts nodes in its sentence: other tests' nodes come and go, and its words with them.
    wait_until(lambda: page.page.locator(".why p").inner_text() == why_of(person, "waits"))
    page.page.keyboard.press("Escape")
    page.job("train")
    page.page.locator(".state", has_text="Running").wait_for()
    page.page.locator(".moments .placed").wait_for()
    nodes = {one["spec"]["nodeName"] for name, one in desk.pods().items() if name.startswith("train-")}
    wait_until(lambda: nodes <= set(page.page.locator(".pods tbody td:nth-child(3)").all_inner_texts()))
    desk.steer("train-worker-1", ends="failed", exit_code="7", last_lines="out of luck")
    page.page.locator(".state", has_text="Failed").wait_for()
    page.sees("train-worker-1, exit code 7")
    assert page.page.locator(".failure pre").inner_text() == "out of luck"
    page.page.locator(".events").get_by_text("Failed", exact=True).wait_for()
    assert page.page.locator(".moments .what").all_inner_texts()[0] == "Created"


def test_jobs_name_their_namespace_where_there_are_several(page: Visitor, desk: Desk, elsewhere: Desk) -> None:
    desk.submit(a_job("mine"))
    elsewhere.submit(a_job("theirs"))
    for name, namespace in (("mine", desk.namespace), ("theirs", elsewhere.namespace)):
        row = page.page.locator("tr", has=page.page.get_by_role("link", name=name, exact=True))
        row.get_by_text(namespace, exact=True).wait_for()


def test_jobs_are_suspended_resumed_scaled_and_deleted_each_asked_back(
    page: Visitor, desk: Desk, operator: OperatorProcess
) -> None:
    assert operator.exit_code is None
    desk.submit(a_job("plain"))
    desk.submit(a_job("grows", elastic=1, worker={**a_role(2), "requests": 1, "limits": 4}))
    page.job("plain")
    page.page.locator(".state", has_text="Running").wait_for()
    page.page.get_by_role("button", name="Suspend").click()
    answer(page, "Cancel")
    assert not desk.job("plain")["spec"].get("suspend")
    page.page.get_by_role("button", name="Suspend").click()
    answer(page, "Suspend")
    page.page.locator(".state", has_text="Suspended").wait_for()
    page.page.get_by_role("button", name="Resume").click()
    answer(page, "Resume")
    page.page.locator(".state", has_text="Running").wait_for()
    page.page.get_by_role("button", name="Delete").click()
    answer(page, "Delete")
    page.sees("This job was deleted.")
    wait_until(lambda: desk.gone("plain"))
    page.page.keyboard.press("Escape")
    page.job("grows")
    page.page.get_by_role("button", name="Scale").click()
    page.sees("Workers, from 1 to 4; now 2.")
    page.page.get_by_label("Workers", exact=True).fill("3")
    answer(page, "Scale")
    wait_until(lambda: desk.job("grows")["spec"]["worker"]["replicas"] == 3)


def test_logs_of_pods_on_nodes_are_followed(
    page: Visitor, desk: Desk, kubelet: Kubelet, operator: OperatorProcess
) -> None:
    assert operator.exit_code is None
    desk.submit(a_job("talk", worker=_talking(2)))
    desk.in_phase("talk", "Running")
    kubelet.says(f"{desk.namespace}/talk-worker-0", "\x1b[31mfirst\x1b[0m", "<b>second</b>")
    page.job("talk")
    page.tab("Logs")
    page.sees("<b>second</b>")
    assert page.page.locator(".line .f1").inner_text() == "first"
    kubelet.says(f"{desk.namespace}/talk-worker-1", "later")
    page.page.locator(".line", has_text="later").wait_for()
    assert page.page.locator(".line", has_text="later").locator(".who").inner_text() == "worker-1"


def test_a_cluster_that_cannot_be_reached_is_told_above_this_machines_jobs(
    desk: Desk, person: Person, tmp_path: Path, visit: Visit
) -> None:
    config = yaml.safe_load(Path(person.env["KUBECONFIG"]).read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    dead = tmp_path / "dead"
    dead.write_text(yaml.safe_dump(config))
    assert desk.namespace
    with serving({**person.env, "KUBECONFIG": str(dead)}, tmp_path) as shown:
        page = visit(shown.address)
        page.sees("The cluster: cannot list the jobs in all namespaces")
        page.sees("No jobs yet")


def _talking(replicas: int) -> Json:
    role = a_role(replicas)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return role
