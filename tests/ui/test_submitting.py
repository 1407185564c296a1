"""A job that is submitted from the page to a cluster: judged before, asked back with all that is made, or not made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.served import Served, serving

LATER = "2100-01-01T00:00:00Z"
# A question that was asked later: what was asked before has been answered, too.
AN_ANSWER = "async () => { await (await fetch('api/about')).json(); }"


@pytest.fixture
def shown(person: Person, tmp_path: Path) -> Iterator[Served]:
    with serving(person.env, tmp_path) as started:
        yield started


@pytest.fixture
def page(visit: Visit, shown: Served) -> Visitor:
    made = visit(shown.address)
    made.page.get_by_role("link", name="New job").click()
    return made


def write(page: Visitor, *objects: Json) -> str:
    text = yaml.safe_dump_all(objects, sort_keys=False)
    page.page.get_by_label("The job as YAML").fill(text)
    return text


def submit(page: Visitor, button: str = "Submit") -> None:
    page.page.get_by_role("button", name="Submit").click()
    page.page.get_by_role("dialog").get_by_role("button", name=button).click()


def test_what_the_api_server_refuses_is_told_before_and_nothing_is_made(page: Visitor, desk: Desk) -> None:
    desk.submit(a_job("taken"))
    write(page, a_job("taken"))
    page.sees("taken already exists in namespace")
    job = a_job("fresh", withGloo=5)
    line = write(page, job).splitlines().index("  withGloo: 5") + 1
    page.sees(f"Line {line}: spec.withGloo must be 2 or less, not 5")
    assert page.page.locator(".numbers .wrong").all_inner_texts() == [str(line)]
    write(page, {**a_job("fresh"), "metadata": {"name": "fresh", "namespace": "no-such"}})
    page.sees("there is no namespace no-such")
    assert page.page.get_by_role("button", name="Submit").is_disabled()
    assert desk.gone("fresh")


def test_a_quota_that_is_used_up_is_told_before(page: Visitor, desk: Desk) -> None:
    desk.submit(a_job("first"))
    hard = {"count/paddlejobs.batch.paddlepaddle.org": "1"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": hard}}
    desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(quota))
    wait_until(lambda: desk.objects("resourcequotas")[0]["status"]["used"] == hard)
    write(page, a_job("second"))
    page.sees("exceeded quota: few")
    assert page.page.get_by_role("button", name="Submit").is_disabled()


def test_what_is_said_of_an_older_text_is_not_said_of_this_one(page: Visitor, desk: Desk) -> None:
    """The answer comes while the next text is being written, before that is asked about."""
    held: list[Any] = []

    def hold(asked: Any) -> None:
        held.append(asked)

    page.page.clock.install()
    page.page.clock.pause_at(LATER)
    page.page.route("**/api/check", hold)
    write(page, a_job("first"))
    page.page.clock.run_for(1000)
    wait_until(lambda: page.page.evaluate("() => null") or held)
    write(page, a_job("second"))
    with page.page.expect_response("**/api/check") as answered:
        held[0].continue_()
    answered.value.finished()
    page.page.evaluate(AN_ANSWER)
    assert page.page.get_by_role("button", name="Submit").is_disabled()
    assert page.page.get_by_text("Nothing is wrong").count() == 0
    page.page.unroute("**/api/check")
    page.page.clock.run_for(1000)
    page.page.get_by_role("button", name="Submit").click()
    page.page.get_by_role("heading", name="Submit second?").wait_for()
    assert desk.gone("first")


def test_all_that_is_made_is_asked_back(page: Visitor, desk: Desk) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"password": "x"}}
    write(page, secret, a_job("one"), a_job("two"))
    page.sees("Nothing is wrong with it.")
    submit(page, "Cancel")
    assert desk.gone("one")
    page.page.get_by_role("button", name="Submit").click()
    page.page.get_by_role("heading", name="Submit one, two?").wait_for()
    page.sees(f"It is submitted to namespace {desk.namespace} of cluster")
    page.sees("Made or changed beside it: Secret keys.")
    page.page.get_by_role("dialog").get_by_role("button", name="Submit").click()
    page.page.get_by_role("heading", name="one", level=1).wait_for()
    page.sees("no operator has picked it up")
    assert not desk.gone("one")
    assert not desk.gone("two")
    assert [one["metadata"]["name"] for one in desk.objects("secrets")] == ["keys"]


def test_a_job_that_another_has_replaced_is_not_deleted_in_its_place(shown: Served, desk: Desk, person: Person) -> None:
    """What was asked back is done to that very job: the API server itself compares."""
    old = desk.submit(a_job("train"))["metadata"]["uid"]
    desk.delete("train")
    wait_until(lambda: desk.gone("train"))
    new = desk.submit(a_job("train"))["metadata"]["uid"]
    assert old != new
    for what in ("delete", "suspend"):
        order = {"place": "cluster", "namespace": desk.namespace, "name": "train", "uid": old, "do": what}
        answer = shown.act(order)
        assert (answer.status, "is another job now" in answer.body) == (404, True)
    assert desk.job("train")["metadata"]["uid"] == new
    assert not desk.job("train")["spec"].get("suspend")
    assert person.env


def test_secrets_in_a_template_are_dots_and_what_a_tenant_wrote_is_text(
    visit: Visit, shown: Served, desk: Desk, tmp_path: Path
) -> None:
    """In the YAML, its copy and its download; a label cannot hold markup, an annotation and an event can."""
    evil = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
    job = a_job("quiet")
    job["metadata"]["annotations"] = {"note": evil}
    (container,) = job["spec"]["worker"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "DB_PASSWORD", "value": "geheim-1"}, {"name": "LR", "value": "0.1"}]
    container["command"] = ["sh", "-c", "login --token geheim-2; curl -H 'Authorization: Bearer geheim-3' u"]
    desk.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(job))
    about = {"kind": "PaddleJob", "name": "quiet", "namespace": desk.namespace}
    uid = desk.job("quiet")["metadata"]["uid"]
    event = {
        "metadata": {"name": "evil"},
        "involvedObject": {**about, "uid": uid, "apiVersion": "batch.paddlepaddle.org/v1"},
        "type": "Warning",
        "reason": evil,
        "message": evil,
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/events", event)
    page = visit(shown.address)
    page.job("quiet")
    page.page.locator(".events", has_text="<img src=x").wait_for()
    page.tab("YAML")
    source = page.page.locator("pre.source", has_text="kind: PaddleJob")
    shown_text = source.inner_text()
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "quiet.yaml")
    page.page.get_by_role("button", name="Copy").click()
    page.page.get_by_role("button", name="Copied").wait_for()
    kept = (tmp_path / "quiet.yaml").read_text()
    for text in (shown_text, kept, page.page.evaluate("() => navigator.clipboard.readText()")):
        assert "geheim" not in text
        assert "0.1" in text
        assert "<script>" in text
    assert yaml.safe_load(kept)["metadata"]["name"] == "quiet"
    assert page.page.title() != "pwned"
    assert page.page.locator("img, main script").count() == 0
