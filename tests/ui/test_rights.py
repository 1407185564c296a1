"""The page has the rights of the person who started it: it shows what they may see, and says what they may not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, a_job
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.served import serving

JOBS = "paddlejobs.batch.paddlepaddle.org"


@pytest.fixture
def other(desk: Desk) -> Iterator[Desk]:
    desk.control_plane.add_namespace(name := f"{desk.namespace}-other")
    made = Desk(desk.control_plane, name)
    yield made
    made.delete("theirs")


class Reader:
    """An account that may do nothing until it is allowed to."""

    def __init__(self, desk: Desk, person: Person, folder: Path) -> None:
        self._desk = desk
        self._folder = folder
        self._account = f"--serviceaccount={desk.namespace}:reader"
        desk.kubectl("create", "serviceaccount", "reader")
        token = desk.control_plane.token_for("reader", desk.namespace)
        own = desk.control_plane.kubeconfig(folder / "reader", token=token, namespace=desk.namespace)
        self.env = {**person.env, "KUBECONFIG": str(own)}

    def may(self, what: str, *verbs: str, within: Desk | None = None) -> None:
        name = what.partition(".")[0]
        at = within or self._desk
        at.kubectl("create", "role", f"reader-{name}", f"--verb={','.join(verbs)}", f"--resource={what}")
        at.kubectl("create", "rolebinding", f"reader-{name}", f"--role=reader-{name}", self._account)

    def may_list_namespaces(self) -> None:
        name = f"{self._desk.namespace}-namespaces"
        self._desk.kubectl("create", "clusterrole", name, "--verb=list", "--resource=namespaces")
        self._desk.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", self._account)

    @contextmanager
    def looks(self, visit: Visit) -> Iterator[Visitor]:
        with serving(self.env, self._folder) as shown:
            yield visit(shown.address)


@pytest.fixture
def reader(desk: Desk, person: Person, tmp_path: Path) -> Reader:
    return Reader(desk, person, tmp_path)


def sees_job(page: Visitor, name: str) -> None:
    page.page.get_by_role("link", name=name, exact=True).wait_for()


def test_a_person_with_rights_in_one_namespace_sees_its_jobs(
    desk: Desk, other: Desk, reader: Reader, visit: Visit
) -> None:
    """Who may not even list namespaces sees that of their kubeconfig."""
    desk.submit(a_job("mine"))
    other.submit(a_job("theirs"))
    reader.may(JOBS, "get", "list", "watch")
    with reader.looks(visit) as page:
        sees_job(page, "mine")
        assert page.page.get_by_role("link", name="theirs", exact=True).count() == 0
        assert page.page.locator(".notice").count() == 0
        page.job("mine")
        page.page.locator(".why", has_text="no operator has picked it up").wait_for()
        page.sees("cannot list the pods of job mine")
        page.sees("cannot list the events of job mine")
        page.tab("YAML")
        page.page.locator("pre.source", has_text="kind: PaddleJob").wait_for()
        page.page.get_by_role("button", name="Delete").click()
        page.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.page.locator("#toast .bad", has_text="ask the cluster's administrator to allow it").wait_for()
    assert not desk.gone("mine")


def test_a_person_with_rights_in_some_namespaces_sees_those_and_chooses_among_them(
    desk: Desk, other: Desk, reader: Reader, visit: Visit
) -> None:
    desk.submit(a_job("mine"))
    other.submit(a_job("theirs"))
    reader.may(JOBS, "get", "list", "watch")
    reader.may(JOBS, "get", "list", "watch", within=other)
    reader.may_list_namespaces()
    with reader.looks(visit) as page:
        sees_job(page, "mine")
        sees_job(page, "theirs")
        page.page.get_by_label("Namespace", exact=True).select_option(other.namespace)
        page.page.get_by_role("link", name="mine", exact=True).wait_for(state="detached")
        sees_job(page, "theirs")
        assert wait_until(lambda: page.page.locator("table.jobs a.job").all_inner_texts()) == ["theirs"]


def test_a_person_without_any_right_is_told_whom_to_ask(desk: Desk, reader: Reader, visit: Visit) -> None:
    desk.submit(a_job("mine"))
    with reader.looks(visit) as page:
        page.page.locator(".notice", has_text="ask the cluster's administrator to allow it").wait_for()
        assert page.page.get_by_role("link", name="mine", exact=True).count() == 0
        reader.may(JOBS, "get", "list", "watch")
        sees_job(page, "mine")
        page.page.locator(".notice").wait_for(state="detached")
