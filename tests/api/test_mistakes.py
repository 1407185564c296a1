"""What is wrong in a job, as Python tells it; tests/scenarios/test_refusals.py asks an API server the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from paddlejob.api import Condition, Status
from paddlejob.api.mistakes import job_of, mistakes
from paddlejob.api.status import as_json
from tests.api.samples import POD, REFUSED, RULES, TAKEN, changed, in_pod
from tests.builders import a_job as a_built_job
from tests.scenarios.desk import Json, a_job, a_role


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_job_is_refused_with_a_sentence_that_helps(case: str) -> None:
    job, words = REFUSED[case]
    (only,) = mistakes(job)
    assert words in str(only)


@pytest.mark.parametrize("case", TAKEN)
def test_a_good_job_is_taken(case: str) -> None:
    assert mistakes(TAKEN[case]) == []
    job_of(TAKEN[case])


def test_every_rule_has_a_sample() -> None:
    told = {words for _, words in REFUSED.values()}
    assert {one.message for one in RULES} <= told


SAID: dict[str, tuple[Json, str]] = {
    "a misspelt field": (changed("spec.backofLimit", 1), "there is no such field: did you mean `backoffLimit`?"),
    "a field in other letters": (in_pod("Hostname", "a"), "there is no such field: did you mean `hostname`?"),
    "a field unlike any": (
        changed("spec.worker.zzz", 1),
        "there is no such field: use one of replicas, requests, limits",
    ),
    "a field unlike any of many": (in_pod("zzz", 1), "remove it, or check its indentation"),
    "roles of any name": (changed("spec.tasks", []), "write the servers as ps, the workers as worker"),
    "a mode": (changed("spec.mode", "PS"), "remove it; with ps the mode is PS"),
    "a value unlike any": (
        changed("spec.intranet", "Pigeon"),
        '"Pigeon" is unknown: write Host or HostNetwork or PodIP',
    ),
    "a misspelt value": (changed("spec.cleanPodPolicy", "onfailure"), "did you mean OnFailure?"),
    "another version": (changed("apiVersion", "v0"), '"v0" is unknown: write batch.paddlepaddle.org/v1'),
    "a number for text": (in_pod("hostname", 7), 'must be text, not 7: write it in quotes, "7"'),
    "a flag for text": (in_pod("hostname", True), 'must be text, not true: write it in quotes, "true"'),
    "text for a number": (changed("spec.worker.replicas", "two"), 'must be a whole number, not "two"'),
    "text for a list": (in_pod("containers", "a"), 'must be a list (each item after a `- `), not "a"'),
    "a list for a mapping": (changed("spec.worker.template", []), "must be a mapping (lines of `key: value`)"),
    "too little": (changed("spec.backoffLimit", -1), "must be 0 or more, not -1"),
    "too much": (changed("spec.withGloo", 3), "must be 2 or less, not 3"),
    "no quantity": (in_pod("overhead", {"cpu": "1 CPU"}), '"1 CPU" is not a quantity: write a number with a unit'),
    "nothing": (in_pod("containers", [None]), "must be a mapping (lines of `key: value`), not nothing"),
}


def test_a_field_of_the_pod_beside_its_template_is_sent_there() -> None:
    (only,) = mistakes(a_job("sample", worker={**a_role(1), "restartPolicy": "Never"}))
    assert str(only) == (
        "spec.worker.restartPolicy: there is no such field: write it under template.spec, as restartPolicy"
    )


@pytest.mark.parametrize("case", SAID)
def test_a_mistake_says_where_it_is_and_what_to_write_instead(case: str) -> None:
    job, words = SAID[case]
    (only,) = mistakes(job)
    assert words in only.text


def test_all_mistakes_are_told_at_once() -> None:
    job = in_pod("restartPolicy", "Always") | {"metadata": {"name": "Train"}}
    job["spec"] |= {"intranet": "Pigeon", "withGloo": "1", "elastik": 1}
    assert [".".join(map(str, one.path)) for one in mistakes(job)] == [
        *("spec.intranet", "spec.withGloo", "spec.elastik"),
        *("metadata.name", f"{POD}.restartPolicy"),
    ]


def silent() -> Iterator[tuple[str, Json, str]]:
    yield "a misspelt worker is no missing worker", {"workers": a_role(1)}, "spec.workers"
    yield "workers that are no mapping are not missing", {"worker": [a_role(1)]}, "spec.worker"
    yield "misspelt containers are not missing", {"worker": {"template": {"spec": {"container": []}}}}, "container"
    role: Any = {**a_role(2), "requests": "one", "limits": 4}
    yield "bounds of another type are not compared", {"elastic": 1, "worker": role}, "spec.worker.requests"


@pytest.mark.parametrize(
    ("spec", "words"), [(spec, words) for _, spec, words in silent()], ids=[x for x, *_ in silent()]
)
def test_a_rule_is_silent_about_what_is_wrong_already(spec: Json, words: str) -> None:
    (only,) = mistakes({**a_job("sample"), "spec": spec})
    assert words in str(only)


def test_a_job_as_an_api_server_shows_it_is_taken() -> None:
    seen: Json = msgspec.to_builtins(a_built_job().build())
    seen["status"] = as_json(Status(phase="Running", conditions=(Condition(type="Running", status="True"),)))
    seen["metadata"] |= {"managedFields": [{"manager": "kubectl"}], "ownerReferences": [{"kind": "CronJob"}]}
    assert mistakes(msgspec.json.decode(msgspec.json.encode(seen))) == []


def test_a_misspelt_second_worker_hides_nothing() -> None:
    job = a_job("sample", workr={}, worker=a_role(0))
    assert len(mistakes(job)) == 2
