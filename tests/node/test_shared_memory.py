"""/dev/shm on a real kubelet: DataLoaders that need more than a container's 64 MiB train, and a bus error is explained.

The same program in both jobs; one template mounts at /dev/shm what every container would have without us.
"""

import pytest

from tests.node.conftest import Tell
from tests.node.jobs import PROGRAMS, a_job, a_role, mounted, running
from tests.node.user import Manifest, User

pytestmark = pytest.mark.timeout(600)

USUAL = 64 << 20
WHAT_CONTAINERS_HAVE = {"emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}


@pytest.fixture
def loading(user: User) -> Manifest:
    return running(user, a_role(2, "python", "/program/loader.py"), PROGRAMS / "loader.py")


def test_data_loaders_that_need_more_than_containers_have_train(loading: Manifest, user: User, tell: Tell) -> None:
    user.submit(a_job("loading", worker=loading))
    story = user.sees_through("loading")
    assert story.row["STATUS"] == "Completed", story.told()
    assert [(one["rank"], one["world"]) for one in story.reports] == [(0, 2), (1, 2)]
    for one in story.reports:
        first, last = (sum(part) / 3 for part in (one["losses"][:3], one["losses"][-3:]))
        tell(
            f"shared memory: worker {one['rank']} of {one['world']}  loss {first:.3f} > {last:.3f},"
            f" {one['shared_memory'] >> 20} MiB of /dev/shm in use at once"
        )
        assert last < first / 2
        assert one["shared_memory"] > USUAL


def test_a_bus_error_is_explained(loading: Manifest, user: User) -> None:
    user.submit(a_job("small", worker=mounted(loading, "/dev/shm", WHAT_CONTAINERS_HAVE)))
    status = user.in_phase("small", "Failed")
    assert "/dev/shm is full" in status["message"], status
