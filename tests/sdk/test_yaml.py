"""Jobs from YAML: a file or its text, with what stands beside them; and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from paddlejob import PaddleJob
from tests.scenarios.desk import a_job

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "deploy" / "examples").glob("*.yaml")) + sorted((ROOT / "examples").glob("*/job.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_example_with_one_job_is_read_and_written_unchanged(path: Path) -> None:
    documents = list(yaml.safe_load_all(path.read_text()))
    written = list(yaml.safe_load_all(PaddleJob.from_yaml(path).to_yaml()))
    assert written == sorted(documents, key=lambda one: one["kind"] == "PaddleJob")  # what stands beside it comes first


def text(*documents: Any) -> str:
    return yaml.safe_dump_all(documents)


JOB = a_job("job")
REFUSED = {
    "no such file": ("missing.yaml", r"missing.yaml: cannot be read: No such file"),
    "a binary file": ("binary.yaml", r"binary.yaml: is not a UTF-8 text file"),
    "no YAML": ("a: [\nb: 1\n", "is not YAML"),
    "no job": (
        text({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        "the YAML: it contains no PaddleJob, only ConfigMap",
    ),
    "two jobs": (text(JOB, JOB), "it must contain one PaddleJob, but has 2, at lines 1 and 16"),
    "no mapping": ("- 1\n- 2\n", "the YAML:1:1: an object is a mapping that begins with"),
    "something beside it that is no object": (text(JOB, {"kind": "Pod"}), "the YAML:16:1: apiVersion is missing"),
    "a nameless ConfigMap": (text(JOB, {"kind": "ConfigMap"}), "the YAML:16:1: metadata is missing"),
    "another version": (text({**JOB, "apiVersion": "v2"}), 'the YAML:1:1: apiVersion: "v2" is unknown'),
    "a wrong type": (
        text({**JOB, "spec": {"worker": {"replicas": "two"}}}),
        "spec.worker.replicas must be a whole number",
    ),
    "no name": (text({**JOB, "metadata": {}}), "metadata.name is missing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, said = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=said):
        PaddleJob.from_yaml(source)
