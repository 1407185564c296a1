"""Jobs of the examples really train with PaddlePaddle in pods, and end as the documents show.

A case is a line of CASES: a file, the line of `kubectl get pdj` in the end, what its workers must have learned, and
what is changed in its spec, if anything is. What workers learned and saw is printed at the end of the run.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from shutil import copyfile
from typing import Any

import pytest

from tests.node.conftest import Tell
from tests.node.user import ROOT, Manifest, Story, User, read
from tests.training.reports import Report

pytestmark = pytest.mark.timeout(900)

COLUMNS = ("STATUS", "MODE", "PS", "WORKER")
PS = ("Completed", "PS", "2/2", "0/2")
COLLECTIVE = ("Completed", "Collective", "", "0/2")
SINGLE = ("Completed", "Single", "", "0/1")


def wide_and_deep(one: Report) -> None:
    assert one["auc_before"] < 0.6
    assert one["auc_after"] > 0.8
    assert one["loss_after"] < 0.55 < one["loss_before"]
    assert one["auc_on_others_ids"] > 0.8  # learned by another worker: they share one model


def without_meeting(one: Report) -> None:
    """Without gloo workers do not wait for each other: one may begin before the first has made the model, and ends
    before the others have taught it all."""
    assert one["auc_after"] > 0.7
    assert one["loss_after"] < min(0.65, one["loss_before"])


def resnet(one: Report) -> None:
    assert one["accuracy_before"] < 0.5
    assert one["accuracy_after"] > 0.9
    assert one["losses"] == sorted(one["losses"], reverse=True)


@dataclass(frozen=True)
class Case:
    file: str
    ends: tuple[str, str, str, str]
    learned: Callable[[Report], None]
    spec: Mapping[str, Any] | None = None
    world: int = 2


FILES = "deploy/examples"
CASES = {
    "wide_and_deep": Case(f"{FILES}/wide_and_deep.yaml", PS, wide_and_deep),
    "wide_and_deep_podip": Case(f"{FILES}/wide_and_deep_podip.yaml", PS, wide_and_deep),
    "wide_and_deep_service": Case(f"{FILES}/wide_and_deep_service.yaml", PS, wide_and_deep),
    "resnet": Case(f"{FILES}/resnet.yaml", COLLECTIVE, resnet),
    "resnet, by name": Case(f"{FILES}/resnet.yaml", COLLECTIVE, resnet, {"intranet": "Service"}),
    "single": Case("examples/resnet/job.yaml", SINGLE, resnet, {"worker": {"replicas": 1}}, world=1),
    # All pods are on one node here, and have one address.
    "resnet_host": Case(f"{FILES}/resnet_host.yaml", COLLECTIVE, resnet),
    "PS on the node's network": Case(f"{FILES}/wide_and_deep.yaml", PS, wide_and_deep, {"intranet": "Host"}),
    "withGloo 0": Case(f"{FILES}/wide_and_deep.yaml", PS, without_meeting, {"withGloo": 0}),
    "withGloo 2": Case(f"{FILES}/wide_and_deep.yaml", PS, wide_and_deep, {"withGloo": 2}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_trains_and_ends_as_the_documents_show(case: str, user: User, tell: Tell) -> None:
    wanted = CASES[case]
    job = user.create(wanted.file, wanted.spec)
    ends_well(case, wanted, user.sees_through(job), tell)
    user.kubectl("delete", "pdj", job, "--wait")
    user.wait_for_nothing("pods")


@pytest.fixture
def nas(user: User) -> Iterator[list[Manifest]]:
    """The user's storage example with its program on the volume, which is a folder of the node instead of an NFS."""
    folder = user.cluster.folder / "tmp" / "nas" / "wide_and_deep"
    folder.mkdir(parents=True, exist_ok=True)
    copyfile(ROOT / "examples" / "wide_and_deep" / "train.py", folder / "train.py")
    volume, claim, job = read(f"{FILES}/wide_and_deep_storage.yaml")
    for only_of_nfs in ("nfs", "mountOptions"):
        del volume["spec"][only_of_nfs]
    # To recycle it, Kubernetes would start a pod of an image that is not here.
    volume["spec"] |= {"hostPath": {"path": "/tmp/nas"}, "persistentVolumeReclaimPolicy": "Retain"}
    yield [volume, claim, job]
    user.kubectl("delete", "pv", volume["metadata"]["name"], "--wait=false")


def test_its_program_comes_from_a_volume(nas: list[Manifest], user: User, tell: Tell) -> None:
    user.submit(*nas)
    case = "wide_and_deep_storage"
    wanted = Case(f"{FILES}/{case}.yaml", PS, wide_and_deep)
    ends_well(case, wanted, user.sees_through("paddlejob-demo-1"), tell)


def ends_well(case: str, wanted: Case, story: Story, tell: Tell) -> None:
    for line in lines(story):
        tell(f"{case:<26} {line}")
    assert tuple(story.row[column] for column in COLUMNS) == wanted.ends, story.told()
    everybody = [(rank, wanted.world) for rank in range(wanted.world)]
    assert [(one["rank"], one["world"]) for one in story.reports] == everybody, story.told()
    for one in story.reports:
        wanted.learned(one)


def lines(story: Story) -> Iterator[str]:
    """What each worker saw and learned."""
    for one in story.reports:
        losses = one["losses"] if "losses" in one else [one["loss_before"], one["loss_after"]]
        fell = " > ".join(f"{each:.3f}" for each in losses)
        yield f"{story.row['STATUS']:<10} {story.row['MODE']:<11} worker {one['rank']} of {one['world']}  loss {fell}"
