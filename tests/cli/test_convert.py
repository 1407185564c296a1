"""`paddlejob convert`, and the other commands that read a file of kubeflow.org/v1 by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from paddlejob import PaddleJob
from paddlejob.api.mistakes import mistakes
from tests.cli.person import Person

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "resnet" / "kubeflow.yaml"
BESIDE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\ndata: {a: b}\n"


@pytest.fixture
def alone(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_it_prints_what_this_operator_takes(alone: Person) -> None:
    said = alone.pipes("convert", EXAMPLE).fine()
    assert said.out.startswith(
        "# restartPolicy OnFailure: a single pod cannot come back to its peers, so the whole job"
    )
    assert mistakes(yaml.safe_load(said.out)) == []
    assert said.err == ""


def test_other_objects_stay_as_they_are(alone: Person) -> None:
    said = alone.pipes("convert", "-", stdin=f"{BESIDE}---\n{EXAMPLE.read_text()}").fine()
    beside, job = yaml.safe_load_all(said.out)
    assert (beside, job["metadata"]["name"]) == (yaml.safe_load(BESIDE), "resnet-kubeflow")


NOTHING = {
    "ours already": ((ROOT / "examples/resnet/job.yaml").read_text(), "PaddleJobs of this operator"),
    "no job": (BESIDE, "no PaddleJob"),
}


@pytest.mark.parametrize(("text", "words"), NOTHING.values(), ids=NOTHING)
def test_a_file_without_any_is_refused(alone: Person, text: str, words: str) -> None:
    said = alone.pipes("convert", "-", stdin=text)
    assert (said.code, f"there is nothing to convert: it contains {words}" in said.sentence) == (2, True)


def test_a_plan_reads_it_and_says_what_it_made_of_it(alone: Person) -> None:
    said = alone.pipes("plan", EXAMPLE, "-o", "name").fine()
    assert said.out.split() == [
        "pod/resnet-kubeflow-worker-0",
        "pod/resnet-kubeflow-worker-1",
        "configmap/resnet-kubeflow",
    ]
    assert said.sentence.startswith("paddlejob: note: ")  # nothing is wrong
    assert "the whole job starts again" in said.sentence


def test_python_reads_it_and_warns() -> None:
    with pytest.warns(UserWarning, match="the whole job starts again"):
        job = PaddleJob.from_yaml(EXAMPLE)
    assert job.job_name == "resnet-kubeflow"
