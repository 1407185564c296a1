"""A wrong file is told whole: every mistake with its line, its path in the document and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlejob.errors import Invalid
from paddlejob.local.reading import only_job, read_file, read_text

ROOT = Path(__file__).parents[2]
GOOD = sorted(
    path
    for pattern in ("deploy/examples/*.yaml", "examples/*/*.yaml", "tests/api/seeds/*.yaml")
    for path in ROOT.glob(pattern)
)
OTHER = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}"
JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: train
spec:
  worker:
    replicas: 2
    template:
      spec:
        containers:
        - name: paddle
          image: a
          command: [python, train.py]
"""
POD = "spec.worker.template.spec"


def said(text: str) -> str:
    with pytest.raises(Invalid) as refused:
        only_job("job.yaml", read_text(text, "job.yaml"))
    return str(refused.value)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_file_of_the_documents_is_read(path: Path) -> None:
    assert read_file(path)


ONE_MISTAKE = {
    "a misspelt field of a container": (
        JOB.replace("command", "comand"),
        f"job.yaml:13:11: {POD}.containers[0].comand: there is no such field: did you mean `command`?",
    ),
    "misspelt containers": (
        JOB.replace("containers", "contaners"),
        f"job.yaml:10:9: {POD}.contaners: there is no such field: did you mean `containers`?",
    ),
    "a misspelt field of the spec": (
        JOB + "  backofLimit: 1\n",
        "job.yaml:14:3: spec.backofLimit: there is no such field: did you mean `backoffLimit`?",
    ),
    "a wrong type": (
        JOB.replace("replicas: 2", 'replicas: "two"'),
        'job.yaml:7:5: spec.worker.replicas must be a whole number, not "two"',
    ),
    "an unknown value": (
        JOB + "  cleanPodPolicy: onfailure\n",
        'job.yaml:14:3: spec.cleanPodPolicy: "onfailure" is unknown: did you mean OnFailure?',
    ),
    "a number that should be text": (
        JOB + "          env:\n          - name: A\n            value: 1\n",
        f'job.yaml:16:13: {POD}.containers[0].env[0].value must be text, not 1: write it in quotes, "1"',
    ),
    "a value as it was written": (
        JOB + "          env: [{name: A, value: yes}]\n",
        f'job.yaml:14:27: {POD}.containers[0].env[0].value must be text, not yes: write it in quotes, "yes"',
    ),
    "a number as it was written": (
        JOB + "          env: [{name: A, value: 010}]\n",
        f'job.yaml:14:27: {POD}.containers[0].env[0].value must be text, not 010: write it in quotes, "010"',
    ),
    "a namespace that is a path": (
        JOB.replace("name: train", "name: train\n  namespace: ../x"),
        'job.yaml:5:3: metadata.namespace: "../x" cannot be the name of a namespace: use at most 63 lower-case',
    ),
    "a list that is text": (
        JOB.replace("[python, train.py]", "python train.py"),
        f"job.yaml:13:11: {POD}.containers[0].command must be a list (each item after a `- `), "
        'not "python train.py"',
    ),
    "something left out": (
        JOB.replace("- name: paddle\n          image", "- image"),
        f"job.yaml:11:11: {POD}.containers[0].name is missing: add it",
    ),
    "no name": (JOB.replace("  name: train", "  labels: {}"), "job.yaml:3:1: metadata.name is missing: add it"),
    "a rule": (
        JOB.replace("replicas: 2", "replicas: 0"),
        "job.yaml:7:5: spec.worker.replicas: a job without workers never ends: set spec.worker with replicas of 1 or"
        " more",
    ),
    "a rule about a field that is not there": (
        JOB.replace("containers:\n        - name: paddle\n          image: a\n          command:", "nodeName: x #"),
        f"job.yaml:9:7: {POD}.containers: a role needs a container: give template.spec.containers one named paddle,"
        " with the image to run",
    ),
    "a rule that names its field": (
        JOB.replace("train\n", "Train\n"),
        "job.yaml:4:3: metadata.name becomes part of host names: use lower-case letters, digits and '-', begin with a"
        " letter, end with a letter or digit, no dots",
    ),
    "another version": (
        JOB.replace("org/v1", "org/v9"),
        'job.yaml:1:1: apiVersion: "batch.paddlepaddle.org/v9" is unknown: write batch.paddlepaddle.org/v1',
    ),
    "no version": (
        JOB.partition("\n")[2],
        "job.yaml:1:1: apiVersion is missing: write batch.paddlepaddle.org/v1",
    ),
    "a misspelt kind": (JOB.replace("PaddleJob", "Paddlejob"), "job.yaml:2:1: kind is 'Paddlejob': write PaddleJob"),
    "no kind": (JOB.replace("kind: PaddleJob\n", ""), "job.yaml:1:1: kind is missing: write PaddleJob"),
    "a key that stands twice": (
        JOB.replace("replicas: 2", "replicas: 2\n    replicas: 3"),
        "job.yaml:8:5: spec.worker.replicas is set twice, first at line 7: keep one",
    ),
    "a mistake in the second document": (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\n---\n{JOB}  suspend: 1\n",
        "job.yaml:18:3: spec.suspend must be true or false, not 1",
    ),
    "a mistake in a List": (
        "kind: List\nitems:\n- " + JOB.replace("\n", "\n  ") + "  suspend: 1\n",
        "job.yaml:16:5: items[0].spec.suspend must be true or false, not 1",
    ),
    "a mistake that is merged": (
        JOB.replace("worker:", "ps: &role") + "  worker: {<<: *role, replica: 3}\n",
        "job.yaml:14:23: spec.worker.replica: there is no such field: did you mean `replicas`?",
    ),
    "a ConfigMap of numbers": (
        f"{JOB}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: a}}\ndata:\n  RATE: 0.1\n",
        'job.yaml:19:3: data.RATE must be text, not 0.1: write it in quotes, "0.1"',
    ),
    "a ConfigMap without a version": (
        f"{JOB}---\nkind: ConfigMap\nmetadata: {{name: a}}\n",
        "job.yaml:15:1: apiVersion is missing: add it",
    ),
    "a Secret without a name": (
        f"{JOB}---\nkind: Secret\napiVersion: v1\ndata: {{}}\n",
        "job.yaml:15:1: metadata is missing: add it",
    ),
    "words": ("just words", "job.yaml:1:1: an object is a mapping that begins with apiVersion and kind"),
    "a list": ("- 1\n- 2\n", "job.yaml:1:1: an object is a mapping that begins with apiVersion and kind"),
    "an open bracket": ("a: [\n", "it ends in the middle: is a bracket or quote left open?"),
    "a tab": (
        JOB.replace("    replicas", "\treplicas"),
        "job.yaml:7:1: is not YAML: a tab cannot indent YAML: write spaces",
    ),
    "a colon in a value": ("a: b: c\n", "put a value that contains a colon in quotes"),
    "an anchor that holds itself": ("a: &a\n  b: *a\n", "job.yaml:1:4: is not YAML: an anchor contains itself"),
    "an unknown tag": ("a: !secret b\n", "job.yaml:1:4: is not YAML: could not determine a constructor"),
    "no text": ("a: \x00\n", "job.yaml: is not YAML: "),
    "two jobs": (f"{JOB}---\n{JOB}", "job.yaml: it must contain one PaddleJob, but has 2, at lines 1 and 15"),
    "no job": (f"{OTHER}\n", "job.yaml: it contains no PaddleJob, only Deployment: add a document with kind:"),
    "an object without a name": ("apiVersion: v1\nkind: Pod\nmetadata: {}\n", "job.yaml:3:1: metadata.name is missing"),
    "nothing": ("# nothing\n", "job.yaml: it contains nothing: add a document with kind: PaddleJob"),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_MISTAKE)
def test_a_mistake_is_told_with_its_line(case: str) -> None:
    text, words = ONE_MISTAKE[case]
    assert "\n" not in said(text)
    assert words in said(text)


def test_all_mistakes_are_told_at_once_in_their_order() -> None:
    text = JOB.replace("train\n", "Train\n").replace("command", "comand").replace("2", "two") + "  gloo: 1\n  ps: []\n"
    assert said(text).splitlines() == [
        "job.yaml: 5 mistakes",
        "job.yaml:4:3: metadata.name becomes part of host names: use lower-case letters, digits and '-',"
        " begin with a letter, end with a letter or digit, no dots",
        'job.yaml:7:5: spec.worker.replicas must be a whole number, not "two"',
        f"job.yaml:13:11: {POD}.containers[0].comand: there is no such field: did you mean `command`?",
        "job.yaml:14:3: spec.gloo: there is no such field: did you mean `withGloo`?",
        "job.yaml:15:3: spec.ps must be a mapping (lines of `key: value`), not a list",
    ]


def test_what_kubectl_reads_as_text_is_text() -> None:
    text = JOB.replace("name: train", "name: train\n  labels: {1: a, on: b}\n  annotations: {a: 2024-01-01}")
    (document,) = read_text(text, "job.yaml")
    assert document.body["metadata"] == {
        "name": "train",
        "labels": {"1": "a", "on": "b"},
        "annotations": {"a": "2024-01-01"},
    }


def test_anchors_and_merged_keys_are_followed() -> None:
    text = JOB.replace("worker:", "ps: &role") + "  worker: {<<: *role, replicas: 3}\n"
    (document,) = read_text(text, "job.yaml")
    spec = document.body["spec"]
    assert spec["worker"] == {**spec["ps"], "replicas": 3}


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"nowhere\.yaml: cannot be read: No such file"):
        read_file(tmp_path / "nowhere.yaml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Invalid, match="binary: is not a UTF-8 text file"):
        read_file(tmp_path / "binary")


def laughs(deep: int, one: str) -> str:
    """A line that stands for ten of the line before it, and so on."""
    first = f"a0: &a0 {one}\n"
    return first + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, deep + 1))


MANY = ", ".join(["*e"] * 1000)
TOO_MUCH = {
    "aliases of aliases": (OTHER + "\n" + laughs(9, "[x]"), "its aliases repeat more than 50,000 values"),
    "merges of merges": (
        OTHER + "\n" + laughs(9, "{b: c}").replace("[*", "{<<: [*").replace("]", "]}"),
        "its aliases repeat more than 50,000 values",
    ),
    "a container with its variables, again and again": (
        JOB
        + f"          env: [&e {{name: A, value: b}}, {MANY}]\n"
        + "        - &c {name: a}\n"
        + "        - *c\n" * 50000,
        "its aliases repeat more than 50,000 values",
    ),
    "brackets in brackets": ("a: " + "[" * 100_000, "it is nested more than 100 deep"),
    "lines in lines": ("\n".join(" " * depth + "a:" for depth in range(300)), "it is nested more than 100 deep"),
}


@pytest.mark.parametrize(("text", "told"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_few_lines_that_stand_for_billions_are_refused_before_they_are_read(text: str, told: str) -> None:
    assert told in said(text)


def test_aliases_that_people_write_are_read() -> None:
    shared = JOB.replace("template:", "template: &t") + "  ps: {replicas: 3, template: *t}\n"
    (document,) = read_text(shared, "job.yaml")
    assert document.body["spec"]["ps"]["template"] == document.body["spec"]["worker"]["template"]
    assert read_text(OTHER + "\ndata: " + "[" * 90 + "]" * 90, "other.yaml")
