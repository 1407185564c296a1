"""Whom a change wakes: the job it belongs to, and only if a decision could come out of it."""

from __future__ import annotations

from msgspec.structs import replace

from paddlejob.api.names import LABEL_ATTEMPT, LABEL_JOB
from paddlejob.core import ConfigMap
from paddlejob.kube.objects import Key
from paddlejob.operator.cache import Cache
from tests.builders import a_config_map, a_job


def written(version: str, attempt: int, **fields: str) -> ConfigMap:
    made = a_config_map(a_job().build())
    labels = {LABEL_JOB: "train", LABEL_ATTEMPT: str(attempt)}
    return replace(made, metadata=replace(made.metadata, resource_version=version, labels=labels, **fields))


def test_a_config_map_that_was_rewritten_for_the_next_attempt_wakes_its_job() -> None:
    woken: list[Key] = []
    cache = Cache(lambda key, _: woken.append(key))
    job = a_job().build()
    cache.jobs.wrote(replace(job, metadata=replace(job.metadata, resource_version="1")))
    cache.wrote(written("2", attempt=0))
    woken.clear()
    cache.wrote(written("3", attempt=0))
    assert woken == []
    cache.wrote(written("4", attempt=1))
    assert woken == [("team", "train")]
