"""Service mode: how long the cluster's DNS takes to know a pod that looks for its own name as soon as it starts.

DNS knows a pod when its address has gone from its kubelet to the API server, to a controller and to CoreDNS: a little
after the pod's sandbox is made, which is just when its containers start. A server whose name is not known crashes; what
saves it is that PaddlePaddle takes seconds to load first.
"""

import pytest

from tests.node.conftest import Tell
from tests.node.jobs import PROGRAMS, a_job, a_role, running
from tests.node.user import ENDS, User
from tests.training.reports import reports

pytestmark = pytest.mark.timeout(300)

JOBS, PODS = 3, 12


def test_every_pod_finds_its_own_name(user: User, tell: Tell) -> None:
    role = running(user, a_role(PODS, "python", "/program/own_name.py"), PROGRAMS / "own_name.py")
    said = []
    for number in range(JOBS):
        name = f"named-{number}"
        user.submit(a_job(name, intranet="Service", worker=role))
        assert user.in_phase(name, *ENDS)["phase"] == "Completed"
        said += reports("\n".join(user.kubectl("logs", pod) for pod in user.pods(name)))
    late = [one["seconds"] for one in said if not one["at_once"]]
    longest = f", the last one after {max(late):.2f} s" if late else ""
    tell(f"figures: own names: {len(said) - len(late)} of {len(said)} pods found theirs at once{longest}")
    assert len(said) == JOBS * PODS
