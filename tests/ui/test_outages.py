"""What the page tells while its server or its cluster is away, and that it comes back by itself with what happened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served, serving
from tests.ui.tunnel import Tunnel, tunnel

SILENT = "The server does not answer."


@pytest.fixture
def way(desk: Desk) -> Iterator[Tunnel]:
    """How the page's server reaches the cluster."""
    with tunnel(int(desk.control_plane.url.rpartition(":")[2])) as made:
        yield made


@pytest.fixture
def far(way: Tunnel, person: Person, tmp_path: Path) -> Iterator[Served]:
    config = yaml.safe_load(Path(person.env["KUBECONFIG"]).read_text())
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{way.port}"
    (tmp_path / "far").write_text(yaml.safe_dump(config))
    with serving({**person.env, "KUBECONFIG": str(tmp_path / "far")}, tmp_path) as started:
        yield started


def silence(page: Visitor, text: str) -> None:
    """The notice is gone, too, when it is over."""
    page.page.locator(".notice", has_text=text).wait_for(state="detached")


def test_a_cluster_that_goes_away_is_told_and_comes_back(desk: Desk, way: Tunnel, far: Served, visit: Visit) -> None:
    for name in ("before", "deleted"):
        desk.submit(a_job(name))
    page = visit(far.address)
    for name in ("before", "deleted"):
        page.page.get_by_role("link", name=name, exact=True).wait_for()
    way.cut()
    page.page.locator(".notice", has_text="The cluster: cannot").wait_for()
    page.page.get_by_role("link", name="before", exact=True).wait_for()
    desk.submit(a_job("meanwhile"))
    desk.delete("deleted")
    way.mend()
    page.page.get_by_role("link", name="meanwhile", exact=True).wait_for()
    page.page.get_by_role("link", name="deleted", exact=True).wait_for(state="detached")
    silence(page, "The cluster: cannot")


def test_a_job_that_is_looked_at_is_told_of_and_comes_back(
    desk: Desk, way: Tunnel, far: Served, visit: Visit, operator: OperatorProcess
) -> None:
    assert operator.exit_code is None
    desk.submit(a_job("train"))
    page = visit(far.address)
    page.job("train")
    page.page.locator(".state", has_text="Running").wait_for()
    way.cut()
    page.page.locator(".notice", has_text="cannot").wait_for()
    page.page.get_by_role("button", name="Delete").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.page.locator("#toast .bad", has_text="cannot get job train").wait_for()
    desk.finish_workers("train")
    way.mend()
    page.page.locator(".state", has_text="Completed").wait_for()
    silence(page, "cannot")


def test_the_lines_of_a_log_stay_while_the_cluster_is_away(
    desk: Desk, way: Tunnel, far: Served, visit: Visit, kubelet: Kubelet, operator: OperatorProcess
) -> None:
    assert operator.exit_code is None
    role = a_role(1)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    desk.submit(a_job("talk", worker=role))
    desk.in_phase("talk", "Running")
    kubelet.says(f"{desk.namespace}/talk-worker-0", "before")
    page = visit(far.address)
    page.job("talk")
    page.tab("Logs")
    page.page.locator(".line .text", has_text="before").wait_for()
    way.cut()
    page.page.locator(".notice", has_text="cannot").wait_for()
    assert page.page.locator(".line .text").all_inner_texts() == ["before"]
    way.mend()
    kubelet.says(f"{desk.namespace}/talk-worker-0", "after")
    page.page.locator(".line .text", has_text="after").wait_for()
    assert page.page.locator(".line .text").all_inner_texts() == ["before", "after"]


def test_a_way_to_the_server_that_is_cut_is_told_and_the_page_comes_back(
    laptop: Laptop, served: Served, visit: Visit
) -> None:
    """Through `ssh -L`, to another port than the server's own."""
    with tunnel(int(served.host.rpartition(":")[2])) as forwarded:
        page = visit(served.address.replace(served.host, f"127.0.0.1:{forwarded.port}"))
        page.page.get_by_role("link", name="hello", exact=True).wait_for()
        forwarded.cut()
        page.page.locator(".notice", has_text=SILENT).wait_for()
        page.page.get_by_role("link", name="New job").click()
        page.page.locator("textarea").fill("kind: PaddleJob\n")
        page.page.locator(".notes li", has_text=SILENT).wait_for()
        page.page.keyboard.press("Escape")
        page.page.keyboard.press("Escape")
        page.page.locator(".notice", has_text=SILENT).wait_for()
        laptop.submit("meanwhile", "true")
        forwarded.mend()
        page.page.get_by_role("link", name="meanwhile", exact=True).wait_for()
        silence(page, SILENT)
        page.page.get_by_role("link", name="meanwhile", exact=True).click()
        page.page.locator(".state", has_text="Completed").wait_for()
    wait_until(lambda: page.page.locator(".notice").count() <= 1)


def test_a_server_that_was_ended_is_told_until_the_page_is_closed(laptop: Laptop, tmp_path: Path, visit: Visit) -> None:
    with serving(laptop.env, tmp_path) as shown:
        page = visit(shown.address)
        page.page.get_by_role("link", name="hello", exact=True).wait_for()
    page.sees(SILENT)
    page.page.get_by_role("link", name="hello", exact=True).click()
    page.page.get_by_role("heading", name="hello", level=1).wait_for()
    page.sees(SILENT)


def test_a_page_without_its_cookie_says_how_to_get_in(served: Served, visit: Visit) -> None:
    page = visit(served.address)
    page.page.get_by_role("link", name="hello", exact=True).wait_for()
    page.page.context.clear_cookies()
    page.page.get_by_role("link", name="hello", exact=True).click()
    page.sees(SILENT)
    page.page.reload()
    page.sees("Open the address that `paddlejob ui` printed")
    page.errors.clear()  # the browser itself says in the console that it was refused
