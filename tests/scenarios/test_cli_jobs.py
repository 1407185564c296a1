"""The life of a job by `paddlejob` alone, on the real API server: what a person reads on a terminal and in a pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role


def write(person: Person, *objects: Json) -> Path:
    path = person.home / "job.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return path


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@pytest.mark.usefixtures("operator")
def test_submit_list_describe_wait_and_delete(person: Person, desk: Desk) -> None:
    said = person.pipes("submit", write(person, a_job("first"))).fine()
    assert said.out == (
        f"first submitted to namespace {desk.namespace}: `paddlejob logs -f first -n {desk.namespace}`\n"
    )
    assert person.pipes("wait", "first", "--for", "Running", "--timeout=2m").fine().out.startswith("first: Running")
    heads, row = columns(person.pipes("list").fine().out)
    assert heads == ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    assert row[:4] == ["first", "Running", "Collective", "2/2"]
    page = person.pipes("describe", "first").fine().out
    for words in ("Status:     Running", "first-worker-1", "Started", f"paddlejob logs first -n {desk.namespace}"):
        assert words in page
    desk.finish_workers("first")
    done = person.pipes("wait", "first", "--timeout", "30s").fine()
    assert done.out == "first: Completed: 2 of 2 workers succeeded\n"
    assert person.pipes("delete", "first").fine().out == "first deleted\n"
    assert desk.gone("first")
    assert person.pipes("list").fine().out.startswith("no jobs: start one here")


@pytest.mark.usefixtures("operator")
def test_on_a_terminal_states_have_colours(person: Person, desk: Desk) -> None:
    desk.submit(a_job("bright"))
    desk.in_phase("bright", "Running")
    for command in (("list",), ("describe", "bright")):
        shown = person.types(*command).fine()
        assert "\x1b[36mRunning" in shown.out
        assert "Running" in shown.text
        assert not person.pipes(*command).coloured


@pytest.mark.usefixtures("operator")
def test_submit_and_follow_ends_with_the_job_and_its_exit_code(person: Person) -> None:
    fails = a_job("fails", worker=a_role(1, ends="failed", exit_code="3", last_lines="no such file"))
    said = person.pipes("submit", write(person, fails), "--follow")
    assert said.code == 1
    assert said.out.splitlines()[-1].startswith("fails: Failed: fails-worker-0 failed with exit code 3")
    page = person.pipes("describe", "fails").fine().out
    assert "Failure:    fails-worker-0, exit code 3" in page
    assert "  | no such file" in page
    works = a_job("works", worker=a_role(1, ends="succeeded"))
    assert person.pipes("submit", write(person, works), "--wait").fine().out.endswith("1 of 1 workers succeeded\n")


def test_what_stands_beside_a_job_is_applied_first(person: Person, desk: Desk) -> None:
    beside = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beside"}, "data": {"a": "1"}}
    said = person.pipes("submit", write(person, a_job("with"), beside), "-o", "name").fine()
    assert said.out == "paddlejob.batch.paddlepaddle.org/with\n"
    assert "ConfigMap beside applied" in said.err
    assert desk.config("beside") == {"a": "1"}


def test_a_job_comes_from_standard_input(person: Person, desk: Desk) -> None:
    person.pipes("submit", "-", stdin=json.dumps(a_job("piped"))).fine()
    assert desk.job("piped")


def test_every_form_of_output_can_be_read_by_a_program(person: Person, desk: Desk) -> None:
    desk.submit(a_job("one"))
    desk.submit(a_job("two"))
    for load, form in ((json.loads, "json"), (yaml.safe_load, "yaml")):
        listed = load(person.pipes("list", "-o", form).fine().out)
        assert (listed["kind"], [one["metadata"]["name"] for one in listed["items"]]) == ("List", ["one", "two"])
        (single,) = [load(person.pipes("describe", "one", "-o", form).fine().out)]
        assert single["spec"] == desk.job("one")["spec"]
        assert "managedFields" not in single["metadata"]
    names = [f"paddlejob.batch.paddlepaddle.org/{name}" for name in ("one", "two")]
    assert person.pipes("list", "-o", "name").fine().out.splitlines() == names
    assert desk.kubectl("get", names[0], "-o", "name").strip() == names[0]
    wide = columns(person.pipes("list", "-o", "wide").fine().out)
    assert wide[0][-2:] == ["RESTARTS", "REASON"]
    everywhere = columns(person.pipes("list", "-A").fine().out)
    assert everywhere[0][0] == "NAMESPACE"
    assert [desk.namespace, "one"] in [row[:2] for row in everywhere]


def test_a_job_that_nobody_looks_at_says_that_an_operator_is_missing(person: Person, desk: Desk) -> None:
    desk.submit(a_job("lonely"))
    assert "no operator has picked it up" in person.pipes("describe", "lonely").fine().out
    said = person.pipes("wait", "lonely", "--timeout=1s")
    assert said.code == 1
    assert "`paddlejob install` installs it" in said.err
    assert "lonely has not ended after 1 s: it is Pending" in said.err


@pytest.mark.usefixtures("operator")
def test_a_suspended_job_rests_without_pods_until_it_is_resumed(person: Person, desk: Desk) -> None:
    desk.submit(a_job("resting"))
    desk.in_phase("resting", "Running")
    person.pipes("suspend", "resting").fine()
    said = person.pipes("wait", "resting", "--for", "Suspended", "--timeout=2m").fine()
    assert said.out.startswith("resting: Suspended")
    wait_until(lambda: desk.pods() == {})
    person.pipes("resume", "resting").fine()
    person.pipes("wait", "resting", "--for", "Running", "--timeout=2m").fine()


@pytest.mark.usefixtures("operator")
def test_describe_tells_of_a_restart_and_what_led_to_it(person: Person, desk: Desk) -> None:
    desk.submit(a_job("again", backoffLimit=1))
    desk.in_phase("again", "Running")
    desk.steer("again-worker-1", ends="failed", exit_code="3", last_lines="ValueError: no such file")
    desk.in_phase("again", "Restarting")
    page = person.pipes("describe", "again").fine().out
    for words in ("Restarting", "again-worker-1 failed with exit code 3", "ValueError: no such file", "Restarted"):
        assert words in page


def test_suspend_resume_and_scale_change_the_job(person: Person, desk: Desk) -> None:
    elastic = a_job("grows", elastic=1, worker={**a_role(2), "requests": 1, "limits": 4})
    desk.submit(elastic)
    assert person.pipes("scale", "grows", "3").fine().out == "grows scaled from 2 to 3 workers\n"
    assert desk.job("grows")["spec"]["worker"]["replicas"] == 3
    assert person.pipes("suspend", "grows").fine().out == "grows suspended\n"
    assert desk.job("grows")["spec"]["suspend"] is True
    assert person.pipes("suspend", "grows").fine().out == "grows is suspended already\n"
    assert person.pipes("resume", "grows").fine().out == "grows resumed\n"
    assert desk.job("grows")["spec"]["suspend"] is False
    said = person.pipes("scale", "grows", "9")
    assert said.code == 2
    assert "cannot scale job grows" in said.sentence


@pytest.mark.usefixtures("operator")
def test_a_job_that_has_ended_cannot_be_changed(person: Person, desk: Desk) -> None:
    desk.submit(a_job("over", worker=a_role(1, ends="succeeded")))
    desk.in_phase("over", "Completed")
    for command in (("suspend", "over"), ("resume", "over"), ("scale", "over", "2")):
        said = person.pipes(*command)
        assert said.code == 2
        assert "over has ended (Completed)" in said.sentence


@pytest.mark.usefixtures("operator")
def test_a_list_that_is_watched_shows_each_change(person: Person, desk: Desk) -> None:
    desk.submit(a_job("moves"))
    with person.follows("list", "-w") as screen:
        wait_until(lambda: "Running" in screen.text)
        desk.finish_workers("moves")
        wait_until(lambda: "Completed" in screen.text)
        desk.delete("moves")
        wait_until(lambda: "Deleted" in screen.text)
        assert screen.text.count("NAME") == 1


@pytest.mark.usefixtures("operator")
def test_a_watched_list_on_a_terminal_is_one_table_until_control_c(person: Person, desk: Desk) -> None:
    desk.submit(a_job("lives"))
    desk.in_phase("lives", "Running")
    shown = person.types("list", "-w", until=lambda screen: "Running" in screen)
    assert shown.code == 130
    assert "lives" in shown.text
