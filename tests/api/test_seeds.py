"""Every manifest of the user's documents, exactly as written there, is read and means what the document says.

`seeds/` holds one document per file: the number of the source text, its place in it, its kind and its name.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from paddlejob.api import Job, PaddleJobSpec
from paddlejob.core import observe, plan
from tests.builders import NOW, JobBuilder, a_volcano_group

SEEDS: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(Path(__file__).with_name("seeds").glob("*.yaml"))
}
JOBS = {name: seed for name, seed in SEEDS.items() if seed["kind"] == "PaddleJob"}


def test_all_documents_are_there() -> None:
    assert Counter(seed["kind"] for seed in SEEDS.values()) == {
        "PaddleJob": 14,
        "PodGroup": 2,
        "PersistentVolume": 2,
        "PersistentVolumeClaim": 2,
    }


def test_what_the_user_wrote_is_kept_as_written() -> None:
    servers = [seed["spec"]["nfs"]["server"] for seed in SEEDS.values() if seed["kind"] == "PersistentVolume"]
    assert servers == ["10.12.201.xx", "10.12.201.xx"]


@pytest.mark.parametrize("seed", JOBS.values(), ids=JOBS.keys())
def test_a_seed_is_read_whole(seed: dict[str, Any]) -> None:
    job = msgspec.convert(seed, Job)
    assert msgspec.json.decode(msgspec.json.encode(job.spec)) == without_defaults(seed["spec"])


def without_defaults(spec: dict[str, Any]) -> dict[str, Any]:
    """What a user writes though it is the default need not be written again."""
    defaults = {"withGloo": 1, "intranet": "PodIP"}
    return {name: value for name, value in spec.items() if defaults.get(name) != value}


@pytest.mark.parametrize("seed", JOBS.values(), ids=JOBS.keys())
def test_no_field_of_a_seed_is_unknown(seed: dict[str, Any]) -> None:
    known = {field.encode_name for field in msgspec.structs.fields(PaddleJobSpec)}
    assert seed["spec"].keys() <= known


@pytest.mark.parametrize("seed", JOBS.values(), ids=JOBS.keys())
def test_a_seed_becomes_pods(seed: dict[str, Any]) -> None:
    job = JobBuilder(msgspec.convert(seed, Job)).in_namespace("paddle-system").with_uid("uid").build()
    is_resnet = job.metadata.name == "resnet"
    assert job.spec.mode == ("Collective" if is_resnet else "PS")
    groups = [a_volcano_group(job, users=True)] if "volcano" in str(seed) else []
    made = plan(job, observe(job, groups), NOW)
    assert made.creates
    assert made.status.reason == ""
    assert made.status.worker is not None
    assert made.status.worker.ready == "0/2"
    assert (made.status.ps is None) == is_resnet


def test_the_users_other_spelling_of_the_policy() -> None:
    demos = [seed for seed in JOBS.values() if seed["metadata"]["name"] == "paddlejob-demo-1"]
    assert [msgspec.convert(seed, Job).spec.cleaning for seed in demos] == ["OnCompletion", "OnCompletion"]
