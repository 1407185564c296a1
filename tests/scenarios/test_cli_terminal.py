"""Every command on a terminal says what it says in a pipe; only colours and tables that live are added."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from paddlejob.cli.main import COMMANDS
from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.processes import free_ports
from tests.scenarios.desk import Desk, Json, a_job, a_role

THEIRS = Path(__file__).parents[2] / "examples" / "resnet" / "kubeflow.yaml"


def types(person: Person, *args: str | Path) -> str:
    return person.types(*args).fine().text


def in_both(person: Person, *args: str | Path) -> str:
    """A command that changes nothing, in a pipe and on a terminal: the same words."""
    shown = types(person, *args)
    assert shown == person.pipes(*args).fine().out
    return shown


def talking(replicas: int) -> Json:
    role = a_role(replicas)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return role


@pytest.mark.usefixtures("operator")
def test_the_life_of_a_job_on_a_terminal(person: Person, desk: Desk, kubelet: Kubelet) -> None:
    path = person.home / "job.yaml"
    path.write_text(yaml.safe_dump(a_job("seen", worker=talking(1))))
    assert "pod/seen-worker-0\n" in in_both(person, "plan", path, "-o", "name")
    assert types(person, "submit", path).startswith(f"seen submitted to namespace {desk.namespace}")
    assert types(person, "wait", "seen", "--for=Running", "--timeout=2m").startswith("seen: Running")
    kubelet.says(f"{desk.namespace}/seen-worker-0", "epoch 1", "epoch 2")
    assert in_both(person, "logs", "seen") == "[seen-worker-0] epoch 1\n[seen-worker-0] epoch 2\n"
    assert "seen" in types(person, "list")
    assert types(person, "usage", "seen").split()[:8][-1] == "seen"
    assert "seen-worker-0" in types(person, "describe", "seen")
    assert types(person, "suspend", "seen") == "seen suspended\n"
    assert types(person, "resume", "seen") == "seen resumed\n"
    assert types(person, "delete", "seen") == "seen deleted\n"
    elastic = a_job("grows", elastic=1, worker={**a_role(2), "requests": 1, "limits": 4})
    desk.submit(elastic)
    assert types(person, "scale", "grows", "4") == "grows scaled from 2 to 4 workers\n"


def test_what_needs_no_cluster_on_a_terminal(person: Person) -> None:
    container = {"name": "paddle", "image": "none", "command": ["echo", "trained"]}
    path = person.home / "job.yaml"
    worker = {"replicas": 1, "template": {"spec": {"containers": [container]}}}
    path.write_text(yaml.safe_dump(a_job("here", worker=worker)))
    assert "here: Completed: 1 of 1 workers succeeded" in types(person, "run", path)
    assert yaml.safe_load(in_both(person, "crd"))["kind"] == "CustomResourceDefinition"
    assert "_paddlejob()" in in_both(person, "completion", "bash")
    assert yaml.safe_load(in_both(person, "convert", THEIRS))["apiVersion"] == "batch.paddlepaddle.org/v1"


def test_the_operator_on_a_terminal_ends_with_control_c(person: Person, desk: Desk) -> None:
    health, metrics = free_ports(2)
    flags = (f"--health-probe-bind-address=127.0.0.1:{health}", f"--metrics-bind-address=127.0.0.1:{metrics}")
    shown = person.types("operator", "-n", desk.namespace, *flags, until=lambda screen: "leading" in screen)
    assert shown.code == 0


def test_the_page_on_a_terminal_ends_with_control_c(person: Person) -> None:
    shown = person.types("ui", "--no-browser", until=lambda screen: "http://127.0.0.1:" in screen)
    assert shown.code == 0


def test_refusals_on_a_terminal_are_one_sentence_too(person: Person) -> None:
    shown = person.types("describe", "nobody")
    assert shown.code == 2
    assert len(shown.text.splitlines()) == 1
    assert shown.text.startswith("paddlejob: there is no job nobody")


def test_no_command_is_forgotten_here() -> None:
    """install and uninstall have an empty cluster of their own (test_cli_install)."""
    typed = set(re.findall(r'(?:types|in_both)\((?:person, )?"(\w+)"', Path(__file__).read_text()))
    assert set(COMMANDS) - typed == {"install", "uninstall"}
