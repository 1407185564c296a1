"""Job files: what is read from them, and what is said about bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlejob.errors import Invalid
from paddlejob.local.manifest import read_manifest

JOB = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: train}
spec:
  worker: {replicas: 2, template: {spec: {containers: [{name: paddle, image: a, command: [python]}]}}}
"""
OTHERS = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {RATE: "0.1"}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
data: {TOKEN: c2VjcmV0}
stringData: {PLAIN: text}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return path


def test_a_file_may_bring_the_config_maps_and_secrets_that_pods_refer_to(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, JOB + OTHERS))
    assert manifest.job.metadata.name == "train"
    secret = {"TOKEN": "secret", "PLAIN": "text"}
    assert manifest.maps == {"ConfigMap/settings": {"RATE": "0.1"}, "Secret/keys": secret}
    assert manifest.folder == tmp_path.resolve()


def test_every_example_of_the_documents_can_be_read() -> None:
    seeds = sorted((Path(__file__).parents[1] / "api" / "seeds").glob("*paddlejob*.yaml"))
    assert len([read_manifest(path) for path in seeds]) == 14


BAD = {
    "not YAML": ("a: [", "is not YAML"),
    "empty": ("", "it contains nothing"),
    "two jobs": (JOB + "---" + JOB, "but has 2"),
    "no job": (OTHERS, "contains no PaddleJob, only ConfigMap, Secret"),
    "another version": (JOB.replace("/v1", "/v9"), "write batch.paddlepaddle.org/v1"),
    "a wrong type": (JOB.replace("replicas: 2", "replicas: two"), "spec.worker.replicas"),
    "no workers": (JOB.replace("replicas: 2", "replicas: 0"), "never ends"),
    "no container": (JOB.replace("[{name: paddle, image: a, command: [python]}]", "[]"), "needs a container"),
    "a bad name": (JOB.replace("train", "Train"), "begin with a letter"),
    "a long name": (JOB.replace("train", "t" * 60), "too long"),
    "an unknown policy": (JOB + "  cleanPodPolicy: Perhaps\n", "cleanPodPolicy"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_a_sentence_that_says_where(tmp_path: Path, case: str) -> None:
    text, said = BAD[case]
    with pytest.raises(Invalid, match=r"job\.yaml") as refused:
        read_manifest(written(tmp_path, text))
    assert said in str(refused.value)
