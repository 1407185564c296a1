"""Names that users and other programs see. They are promises: a change here breaks someone.

The public names of `api` and `core` are pinned here for the same reason.
"""

from __future__ import annotations

import pytest

import paddlejob.api
import paddlejob.core
from paddlejob.api import names


def test_the_names_of_children() -> None:
    assert names.pod_name("wide-and-deep", "ps", 0) == "wide-and-deep-ps-0"
    assert names.pod_name("wide-and-deep", "worker", 12) == "wide-and-deep-worker-12"
    assert names.pod_name("wide-and-deep", "heter", 1) == "wide-and-deep-heter-1"


def test_a_service_host_holds_a_dot() -> None:
    assert names.service_host("job-ps-0", "team") == "job-ps-0.team.svc"


def test_the_resource() -> None:
    assert names.API_VERSION == "batch.paddlepaddle.org/v1"
    assert (names.KIND, names.PLURAL, names.SINGULAR, names.SHORT_NAME) == (
        "PaddleJob",
        "paddlejobs",
        "paddlejob",
        "pdj",
    )


def test_labels_and_annotations() -> None:
    assert (names.LABEL_RES_NAME, names.LABEL_RES_TYPE) == ("paddle-res-name", "paddle-res-type")
    assert names.LABEL_JOB == "batch.paddlepaddle.org/job-name"
    assert names.LABEL_INDEX == "batch.paddlepaddle.org/index"
    assert names.LABEL_ATTEMPT == "batch.paddlepaddle.org/attempt"
    assert names.ANNOTATION_ROLE == "paddle-resource"
    assert names.ANNOTATION_ENVIRONMENT == "batch.paddlepaddle.org/environment"
    assert names.ANNOTATION_PORTS == "batch.paddlepaddle.org/ports"


def test_constants_of_the_contract() -> None:
    assert (names.CONTAINER, names.PORT, names.LONGEST_NAME) == ("paddle", 2379, 63)
    assert names.ROLES == (*names.ROLE_WORDS,) == ("ps", "worker", "heter")


def test_the_public_names_of_api() -> None:
    assert sorted(paddlejob.api.__all__) == [
        "Condition",
        "Failure",
        "HangPolicy",
        "HangStatus",
        "Job",
        "Mark",
        "NodeRecord",
        "ObjectMeta",
        "OwnerReference",
        "PaddleJobSpec",
        "Progress",
        "ProgressPolicy",
        "Role",
        "RoleStatus",
        "SchedulingPolicy",
        "Status",
        "Usage",
        "World",
    ]
    assert all(hasattr(paddlejob.api, name) for name in paddlejob.api.__all__)


def test_the_public_names_of_core() -> None:
    assert sorted(paddlejob.core.__all__, key=str.lower) == [
        "Action",
        "Answer",
        "AskEtcd",
        "Child",
        "Complaint",
        "ConfigMap",
        "Create",
        "Delete",
        "Etcd",
        "ForgetEtcd",
        "Inquiry",
        "JobEvent",
        "KINDS",
        "Listen",
        "Listening",
        "observe",
        "Observed",
        "Plan",
        "plan",
        "Pod",
        "Question",
        "Reading",
        "Refusal",
        "Said",
        "Scheduling",
        "Service",
        "Touch",
        "Unread",
        "Update",
    ]
    assert all(hasattr(paddlejob.core, name) for name in paddlejob.core.__all__)


INDICES = {
    "its own": ("train-worker-12", 12),
    "of another role": ("train-ps-1", None),
    "of another job": ("training-worker-1", None),
    "not a number": ("train-worker-x", None),
    "not as we write numbers": ("train-worker-01", None),
    "no index": ("train-worker", None),
    "digits that are not ours": ("train-worker-²", None),
}


@pytest.mark.parametrize(("pod", "index"), INDICES.values(), ids=INDICES.keys())
def test_the_index_in_the_name_of_a_pod(pod: str, index: int | None) -> None:
    assert names.index_in(pod, "train", "worker") == index
