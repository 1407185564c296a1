"""Where a job is: on this machine, on the cluster, on both; and that no command ever guesses between two."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.person import Person
from tests.cluster.api import ApiError
from tests.scenarios.desk import Desk, a_job

COMMANDS = {
    "describe": ("describe", "twin"),
    "logs": ("logs", "twin"),
    "wait": ("wait", "twin", "--timeout=2m"),
    "delete": ("delete", "twin"),
}


def run_here(person: Person, name: str) -> Path:
    """A job that ran on this machine to its end."""
    container = {"name": "paddle", "image": "none", "command": ["echo", f"I am {name}"]}
    role = {"replicas": 1, "template": {"spec": {"containers": [container]}}}
    path = person.home / f"{name}.yaml"
    path.write_text(yaml.safe_dump(a_job(name, worker=role)))
    person.pipes("run", path).fine()
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_on_both_is_refused_until_the_person_says_which(person: Person, desk: Desk, command: str) -> None:
    run_here(person, "twin")
    desk.submit(a_job("twin"))
    said = person.pipes(*COMMANDS[command])
    assert said.code == 2
    assert said.sentence == (
        f"paddlejob: twin is on this machine and on the cluster: add --local or -n {desk.namespace}"
    )
    person.pipes(*COMMANDS[command], "--local").fine()
    assert desk.job("twin")


def test_minus_n_means_the_cluster(person: Person, desk: Desk) -> None:
    run_here(person, "twin")
    desk.submit(a_job("twin"))
    person.pipes("delete", "twin", "-n", desk.namespace).fine()
    with pytest.raises(ApiError):
        desk.job("twin")
    assert person.pipes("logs", "twin").fine().out == "[twin-worker-0] I am twin\n"


def test_a_list_of_both_says_where_each_job_is(person: Person, desk: Desk) -> None:
    run_here(person, "near")
    heads, row = person.pipes("list").fine().out.splitlines()
    assert "WHERE" not in heads
    assert row.split()[:2] == ["near", "Completed"]
    desk.submit(a_job("far"))
    heads, *rows = person.pipes("list").fine().out.splitlines()
    assert heads.startswith("WHERE")
    assert [row.split()[:3] for row in rows] == [["this", "machine", "near"], ["cluster", "far", "Pending"]]
    assert "near" not in person.pipes("list", "-n", desk.namespace).fine().out
    assert "far" not in person.pipes("list", "--local").fine().out


def test_a_dead_cluster_does_not_hide_the_jobs_of_this_machine(person: Person, desk: Desk) -> None:
    run_here(person, "near")
    kubeconfig = Path(person.env["KUBECONFIG"])
    kubeconfig.write_text(kubeconfig.read_text().replace(desk.control_plane.url, "https://127.0.0.1:1"))
    said = person.pipes("list").fine()
    assert "near" in said.out
    assert "no answer from https://127.0.0.1:1" in said.sentence
    described = person.pipes("describe", "near").fine()
    assert "Where:      this machine" in described.out
    assert "the cluster could not be checked" in described.sentence
    assert person.pipes("list", "-n", "default").code == 3
    person.pipes("delete", "near").fine()
    assert person.pipes("list").code == 3


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("scale", "near", "2"), "near is not elastic: only a job with spec.elastic: 1 can be scaled"),
        (("suspend", "near"), "near runs on this machine, where jobs cannot be"),
        (("resume", "near"), "near runs on this machine, where jobs cannot be"),
    ],
    ids=["scale", "suspend", "resume"],
)
def test_a_job_of_this_machine_cannot_be_changed(person: Person, command: tuple[str, ...], says: str) -> None:
    run_here(person, "near")
    said = person.pipes(*command)
    assert said.code == 2
    assert says in said.sentence


def test_a_job_of_this_machine_can_be_read_by_programs(person: Person) -> None:
    run_here(person, "near")
    found = yaml.safe_load(person.pipes("describe", "near", "-o", "yaml").fine().out)
    assert (found["kind"], found["metadata"]["name"], found["status"]["phase"]) == ("PaddleJob", "near", "Completed")
    assert person.pipes("list", "-o", "name").fine().out == "paddlejob.batch.paddlepaddle.org/near\n"
