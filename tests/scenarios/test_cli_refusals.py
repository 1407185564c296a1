"""What `paddlejob` says when the cluster cannot or will not: one sentence that says what to do, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.person import Person, Said
from tests.scenarios.desk import Desk, a_job

# Every command that asks a cluster, with a job that does not exist.
COMMANDS = {
    "list": ("list",),
    "describe": ("describe", "none"),
    "logs": ("logs", "none"),
    "wait": ("wait", "none"),
    "delete": ("delete", "none"),
    "scale": ("scale", "none", "2"),
    "suspend": ("suspend", "none"),
    "resume": ("resume", "none"),
    "submit": ("submit", "FILE"),
    "install": ("install",),
    "uninstall": ("uninstall",),
}
ABOUT_A_JOB = ("describe", "logs", "wait", "delete", "scale", "suspend", "resume")


def ask(person: Person, command: str, *flags: str) -> Said:
    path = person.home / "job.yaml"
    path.write_text(yaml.safe_dump(a_job("none")))
    return person.pipes(*(str(path) if one == "FILE" else one for one in COMMANDS[command]), *flags)


def changed(person: Person, path: str, old: str, new: str) -> None:
    """Another kubeconfig: with one thing wrong in it."""
    right = Path(person.env["KUBECONFIG"])
    wrong = right.with_name(path)
    text = right.read_text()
    assert old in text
    wrong.write_text(text.replace(old, new))
    person.env["KUBECONFIG"] = str(wrong)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_answer_from_the_server(person: Person, desk: Desk, command: str) -> None:
    changed(person, "dead", desk.control_plane.url, "https://127.0.0.1:1")
    said = ask(person, command)
    assert said.code == 3
    assert "no answer from https://127.0.0.1:1" in said.sentence
    assert "check the server's address" in said.sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_an_expired_token(person: Person, desk: Desk, command: str) -> None:
    changed(person, "expired", desk.control_plane.admin_token, "was-valid-once")
    said = ask(person, command)
    assert said.code == 3
    assert "does not accept your credentials (401): log in again" in said.sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_no_right_to_do_it(person: Person, desk: Desk, command: str, tmp_path: Path) -> None:
    token = desk.control_plane.token_for("default", desk.namespace)
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "nobody", token=token, namespace=desk.namespace)
    person.env["KUBECONFIG"] = str(kubeconfig)
    said = ask(person, command)
    assert said.code == 3
    assert "is forbidden" in said.sentence
    assert "ask the cluster's administrator" in said.sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_context(person: Person, command: str) -> None:
    said = ask(person, command, "--context=elsewhere")
    assert said.code == 3
    assert "elsewhere" in said.sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_no_cluster_at_all(person: Person, command: str) -> None:
    del person.env["KUBECONFIG"]
    said = ask(person, command, *(() if command in ("install", "uninstall") else ("-n", "somewhere")))
    assert said.code == 3
    assert "there is no cluster to talk to" in said.sentence
    assert "--kubeconfig" in said.sentence


@pytest.mark.parametrize("command", [*ABOUT_A_JOB, "list", "submit"])
def test_a_namespace_that_is_not_there(person: Person, command: str) -> None:
    said = ask(person, command, "-n", "nowhere")
    assert said.code == 2
    assert "there is no namespace nowhere: make it with `kubectl create namespace nowhere`" in said.sentence


@pytest.mark.parametrize("command", ABOUT_A_JOB)
def test_a_job_that_is_not_there(person: Person, desk: Desk, command: str) -> None:
    said = ask(person, command)
    assert said.code == 2
    assert f"there is no job none in namespace {desk.namespace}" in said.sentence
    assert "none of that name on this machine either" in said.sentence


def test_a_job_that_is_there_already(person: Person) -> None:
    ask(person, "submit").fine()
    said = ask(person, "submit")
    assert said.code == 2
    assert "delete it with `paddlejob delete none" in said.sentence


BAD_FILES = {
    "no file": (None, "cannot be read: No such file"),
    "no YAML": ("a: [", "is not YAML"),
    "no job": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}", "it holds no PaddleJob"),
    "no name": ("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {}", "has no metadata.name"),
    "no object": ("just words", "every object needs apiVersion, kind and metadata"),
    "another version": ("apiVersion: v0\nkind: PaddleJob\nmetadata: {name: a}", "write batch.paddlepaddle.org/v1"),
    "a typo": (yaml.safe_dump(a_job("typo", wrker={})), 'unknown field "spec.wrker"'),
    "no workers": (yaml.safe_dump(a_job("idle", worker={"replicas": 0})), "worker"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_is_wrong_is_explained(person: Person, case: str) -> None:
    text, words = BAD_FILES[case]
    path = person.home / "bad.yaml"
    if text is not None:
        path.write_text(text)
    said = person.pipes("submit", path)
    assert said.code == 2
    assert words in said.sentence
