"""What a user writes: modes, aliases, defaults, and what a type refuses by itself.

Specs are given in the names of the API, as they stand in YAML.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paddlejob.api import Job, PaddleJobSpec, Role
from paddlejob.api.spec import CLEAN_POD_POLICIES, NETWORKS, CleanPodPolicy, Mode, Network


def spec(**fields: Any) -> PaddleJobSpec:
    """As a user writes it: in the names of the API."""
    return msgspec.convert(fields, PaddleJobSpec)


MODES: dict[str, tuple[PaddleJobSpec, Mode]] = {
    "servers": (spec(ps={"replicas": 2}, worker={"replicas": 2}), "PS"),
    "one server, one worker": (spec(ps={}, worker={}), "PS"),
    "several workers": (spec(worker={"replicas": 2}), "Collective"),
    "one worker": (spec(worker={"replicas": 1}), "Single"),
    "a worker, silent about replicas": (spec(worker={}), "Single"),
    "zero servers are no servers": (spec(ps={"replicas": 0}, worker={"replicas": 2}), "Collective"),
    "nothing": (spec(), "Single"),
}


@pytest.mark.parametrize(("written", "mode"), MODES.values(), ids=MODES.keys())
def test_the_mode_of(written: PaddleJobSpec, mode: Mode) -> None:
    assert written.mode == mode


NETWORK: dict[str, tuple[PaddleJobSpec, Network]] = {
    "silence": (spec(), "PodIP"),
    "PodIP": (spec(intranet="PodIP"), "PodIP"),
    "Service": (spec(intranet="Service"), "Service"),
    "Host": (spec(intranet="Host"), "Host"),
    "HostNetwork": (spec(intranet="HostNetwork"), "Host"),
}


@pytest.mark.parametrize(("written", "network"), NETWORK.values(), ids=NETWORK.keys())
def test_the_network_of(written: PaddleJobSpec, network: Network) -> None:
    assert written.network == network


CLEANING: dict[str, tuple[PaddleJobSpec, CleanPodPolicy]] = {
    "silence": (spec(), "Running"),
    "cleanPodPolicy": (spec(cleanPodPolicy="Always"), "Always"),
    "a word of paddle-operator 0.3": (spec(cleanPodPolicy="OnFailed"), "OnFailure"),
    "cleanPolicy, as in the user's storage example": (spec(cleanPolicy="OnCompletion"), "OnCompletion"),
    "both": (spec(cleanPodPolicy="Never", cleanPolicy="Always"), "Never"),
}


@pytest.mark.parametrize(("written", "policy"), CLEANING.values(), ids=CLEANING.keys())
def test_the_cleaning_of(written: PaddleJobSpec, policy: CleanPodPolicy) -> None:
    assert written.cleaning == policy


BOUNDS: dict[str, tuple[Role, tuple[int, int]]] = {
    "silence": (Role(replicas=3), (3, 3)),
    "both": (Role(replicas=3, requests=2, limits=4), (2, 4)),
    "the least": (Role(replicas=3, requests=2), (2, 3)),
    "the most": (Role(replicas=3, limits=4), (3, 4)),
    "more replicas than an API server would take": (Role(replicas=3, limits=2), (2, 2)),
    "more than a job may have": (Role(replicas=2**31 - 1), (10_000, 10_000)),
}


@pytest.mark.parametrize(("written", "bounds"), BOUNDS.values(), ids=BOUNDS.keys())
def test_the_bounds_of(written: Role, bounds: tuple[int, int]) -> None:
    assert written.bounds == bounds


def test_servers_come_first_however_they_are_written() -> None:
    written = spec(heter={"replicas": 3}, worker={"replicas": 2}, ps={"replicas": 1})
    assert written.roles == (("ps", Role(replicas=1)), ("worker", Role(replicas=2)), ("heter", Role(replicas=3)))


def test_a_job_without_roles_has_none() -> None:
    assert spec().roles == ()


def test_defaults() -> None:
    silent = spec()
    assert (silent.with_gloo, silent.suspend, silent.backoff_limit, silent.elastic) == (1, False, 0, None)
    assert (silent.active_deadline_seconds, silent.ttl_seconds_after_finished) == (None, None)


def test_every_field_has_the_name_that_users_write() -> None:
    names = {field.encode_name for field in msgspec.structs.fields(PaddleJobSpec)}
    assert names == {
        *("ps", "worker", "heter", "withGloo", "intranet", "cleanPodPolicy", "cleanPolicy", "schedulingPolicy"),
        *("elastic", "suspend", "backoffLimit", "activeDeadlineSeconds", "startingDeadlineSeconds"),
        *("ttlSecondsAfterFinished", "sampleSetRef", "managedBy", "progress", "hang"),
    }


def test_the_values_of_the_enums() -> None:
    assert NETWORKS == ("PodIP", "Service", "Host")
    assert set(CLEAN_POD_POLICIES) == {"Always", "Never", "OnFailure", "OnCompletion", "Running"}


REFUSED: dict[str, dict[str, Any]] = {
    "negative replicas": {"worker": {"replicas": -1}},
    "requests below one": {"worker": {"requests": 0}},
    "gloo of three": {"withGloo": 3},
    "negative gloo": {"withGloo": -1},
    "unknown intranet": {"intranet": "Pigeon"},
    "unknown policy": {"cleanPodPolicy": "Sometimes"},
    "negative backoffLimit": {"backoffLimit": -1},
    "a deadline of zero": {"activeDeadlineSeconds": 0},
    "a starting deadline of zero": {"startingDeadlineSeconds": 0},
    "negative ttl": {"ttlSecondsAfterFinished": -1},
    "a template that is no mapping": {"worker": {"template": []}},
}


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED.keys())
def test_a_type_refuses(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        spec(**fields)


def test_a_job_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Job().kind = "Other"  # type: ignore[misc]  # on purpose: it must be refused


def test_a_job_says_what_it_is() -> None:
    made = msgspec.json.decode(msgspec.json.encode(Job()))
    assert (made["apiVersion"], made["kind"]) == ("batch.paddlepaddle.org/v1", "PaddleJob")
    assert made["spec"] == {}


def test_a_template_passes_through_untouched() -> None:
    template = {"spec": {"containers": [{"name": "paddle", "new-field": {"deep": [1, None, "x"]}}]}}
    written = spec(worker={"template": template})
    assert msgspec.to_builtins(written)["worker"]["template"] == template
