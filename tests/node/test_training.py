"""Jobs of the examples really train with PaddlePaddle in pods, and end as the documents show.

A case is a line of CASES: a file, the line of `kubectl get pdj` in the end, what its workers must have learned, and
what is changed in its spec, if anything is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.node.user import Story, User
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


CASES = {
    "wide_and_deep": Case("deploy/examples/wide_and_deep.yaml", PS, wide_and_deep),
    "wide_and_deep_podip": Case("deploy/examples/wide_and_deep_podip.yaml", PS, wide_and_deep),
    "wide_and_deep_service": Case("deploy/examples/wide_and_deep_service.yaml", PS, wide_and_deep),
    "resnet": Case("deploy/examples/resnet.yaml", COLLECTIVE, resnet),
    "single": Case("examples/resnet/job.yaml", SINGLE, resnet, spec={"worker": {"replicas": 1}}, world=1),
}


@pytest.mark.parametrize("case", CASES)
def test_it_trains_and_ends_as_the_documents_show(case: str, user: User, tell: Callable[[str], None]) -> None:
    wanted = CASES[case]
    job = user.create(wanted.file, wanted.spec)
    story = user.sees_through(job)
    for line in lines(story):
        tell(f"{case:<24} {line}")
    assert tuple(story.row[column] for column in COLUMNS) == wanted.ends, story.told()
    everybody = [(rank, wanted.world) for rank in range(wanted.world)]
    assert [(one["rank"], one["world"]) for one in story.reports] == everybody, story.told()
    for one in story.reports:
        wanted.learned(one)
    user.kubectl("delete", "pdj", job, "--wait")
    user.wait_for_nothing("pods")


def lines(story: Story) -> Iterator[str]:
    """What each worker saw and learned."""
    for one in story.reports:
        losses = one["losses"] if "losses" in one else [one["loss_before"], one["loss_after"]]
        fell = " > ".join(f"{each:.3f}" for each in losses)
        yield f"{story.row['STATUS']:<10} {story.row['MODE']:<11} worker {one['rank']} of {one['world']}  loss {fell}"
