"""What `paddlejob` says when the cluster cannot or will not: one sentence that says what to do, and its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    return person.pipes(*(str(person.home / "job.yaml") if one == "FILE" else one for one in COMMANDS[command]), *flags)


def ask_each(person: Person, commands: Iterable[str] = COMMANDS, *flags: str) -> Iterator[tuple[str, Said]]:
    """Each command and what it said; a few at a time, because starting Python is most of the work."""
    with ThreadPoolExecutor(3) as pool:
        asked = {command: pool.submit(ask, person, command, *flags) for command in commands}
        for command, said in asked.items():
            yield command, said.result()


@pytest.fixture(autouse=True)
def file(person: Person) -> None:
    (person.home / "job.yaml").write_text(yaml.safe_dump(a_job("none")))


def changed(person: Person, path: str, old: str, new: str) -> None:
    """Another kubeconfig: with one thing wrong in it."""
    right = Path(person.env["KUBECONFIG"])
    wrong = right.with_name(path)
    text = right.read_text()
    assert old in text
    wrong.write_text(text.replace(old, new))
    person.env["KUBECONFIG"] = str(wrong)


def test_no_answer_from_the_server(person: Person, desk: Desk) -> None:
    changed(person, "dead", desk.control_plane.url, "https://127.0.0.1:1")
    for command, said in ask_each(person):
        assert said.code == 3, command
        assert "no answer from https://127.0.0.1:1" in said.sentence, command
        assert "check the server's address" in said.sentence, command


def test_an_expired_token(person: Person, desk: Desk) -> None:
    changed(person, "expired", desk.control_plane.admin_token, "was-valid-once")
    for command, said in ask_each(person):
        assert said.code == 3, command
        assert "does not accept your credentials (401): log in again" in said.sentence, command


def test_no_right_to_do_it(person: Person, desk: Desk, tmp_path: Path) -> None:
    token = desk.control_plane.token_for("default", desk.namespace)
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "nobody", token=token, namespace=desk.namespace)
    person.env["KUBECONFIG"] = str(kubeconfig)
    for command, said in ask_each(person):
        assert said.code == 3, command
        assert "is forbidden" in said.sentence, command
        assert "ask the cluster's administrator" in said.sentence, command


def test_a_wrong_context(person: Person) -> None:
    for command, said in ask_each(person, COMMANDS, "--context=elsewhere"):
        assert said.code == 3, command
        assert "elsewhere" in said.sentence, command


def test_no_cluster_at_all(person: Person) -> None:
    del person.env["KUBECONFIG"]
    for commands, flags in ((ABOUT_A_JOB, ("-n", "somewhere")), (("install", "uninstall", "submit"), ())):
        for command, said in ask_each(person, commands, *flags):
            assert said.code == 3, command
            assert "no cluster is configured" in said.sentence, command
            assert "--kubeconfig" in said.sentence, command


def test_a_namespace_that_is_not_there(person: Person) -> None:
    for command, said in ask_each(person, [*ABOUT_A_JOB, "list", "submit"], "-n", "nowhere"):
        assert said.code == 2, command
        assert "there is no namespace nowhere: create it with `kubectl create namespace" in said.sentence, command


def test_a_job_that_is_not_there(person: Person, desk: Desk) -> None:
    for command, said in ask_each(person, ABOUT_A_JOB):
        assert said.code == 2, command
        assert f"there is no job none in namespace {desk.namespace}" in said.sentence, command
        assert "it is not on this machine either" in said.sentence, command


def test_a_job_that_is_there_already(person: Person) -> None:
    ask(person, "submit").fine()
    said = ask(person, "submit")
    assert said.code == 2
    assert "delete it with `paddlejob delete none" in said.sentence


BAD_FILES = {
    "no file": (None, "cannot be read: No such file"),
    "no YAML": ("a: [", "is not YAML"),
    "no job": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}", "it contains no PaddleJob"),
    "no name": ("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {}", "metadata.name is missing"),
    "no object": ("just words", "an object is a mapping that begins with apiVersion and kind"),
    "half an object": ("kind: Pod", "metadata is missing: add it"),
    "another version": ("apiVersion: v0\nkind: PaddleJob\nmetadata: {name: a}", "write batch.paddlepaddle.org/v1"),
    "a typo": (yaml.safe_dump(a_job("typo", wrker={})), "spec.wrker: there is no such field: did you mean `worker`?"),
    "no workers": (yaml.safe_dump(a_job("idle", worker={"replicas": 0})), "worker"),
}


def test_a_namespace_that_file_and_flag_disagree_about(person: Person, desk: Desk) -> None:
    job = a_job("torn")
    job["metadata"]["namespace"] = "elsewhere"
    (person.home / "job.yaml").write_text(yaml.safe_dump(job))
    said = ask(person, "submit", "-n", desk.namespace)
    assert said.code == 2
    assert f"PaddleJob torn says namespace elsewhere, and -n says {desk.namespace}" in said.sentence


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_is_wrong_is_explained(person: Person, case: str) -> None:
    text, words = BAD_FILES[case]
    path = person.home / "bad.yaml"
    if text is not None:
        path.write_text(text)
    said = person.pipes("submit", path)
    assert said.code == 2
    assert words in said.err
