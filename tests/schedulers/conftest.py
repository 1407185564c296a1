"""What tests on real schedulers share. Each file has a control plane of its own, with its scheduler beside it and no
node: a test makes the `room` that it needs. Its SCHEDULER says with which rights the operator starts there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from types import MappingProxyType

import pytest

from paddlejob.core.gang import GROUPS, Scheduler
from paddlejob.core.kinds import GROUP_KINDS
from tests.cluster.binaries import Binaries, Kueue, Volcano, find_all
from tests.cluster.control_plane import NODE_LABELS, OPERATOR_NAMESPACE, ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.processes import Process
from tests.operator.fixtures import MANIFEST
from tests.operator.process import ACCOUNT, operator_kubeconfig
from tests.schedulers import kueue as kueues
from tests.schedulers.gangs import SERVERS_FIRST, make_priorities
from tests.schedulers.volcano import RunningVolcano, crds

MakeRoom = Callable[..., list[str]]

_numbers = count(1)


def grant(control_plane: ControlPlane, scheduler: Scheduler) -> None:
    """Returns when the API server knows of it."""
    control_plane.kubectl("apply", "-f", str(MANIFEST.parent / f"scheduling-{scheduler}.yaml"))
    kind = next(one for one in GROUP_KINDS if one.type is GROUPS[scheduler])
    asked = {"resource": kind.plural, "group": kind.group, "verb": "watch"}
    review = {"user": f"system:serviceaccount:{OPERATOR_NAMESPACE}:{ACCOUNT}", "resourceAttributes": asked}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    control_plane.wait(lambda: bool(control_plane.api.post(path, {"spec": review})["status"]["allowed"]))


@pytest.fixture(scope="module")
def volcano_programs() -> Volcano:
    return find_all(Volcano, print)


@pytest.fixture(scope="module")
def volcano_plane(
    binaries: Binaries, volcano_programs: Volcano, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The control plane of a file whose scheduler is Volcano."""
    folder, variant = tmp_path_factory.mktemp("volcano"), Variant(kinds=crds(volcano_programs), node=False)
    with ControlPlane(binaries, folder, manifests=[CRD], variant=variant) as started:
        yield started


@pytest.fixture(scope="module")
def volcano(volcano_plane: ControlPlane, volcano_programs: Volcano) -> RunningVolcano:
    return RunningVolcano(volcano_plane, volcano_programs)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> kueues.Preparation:
    return kueues.Preparation(find_all(Kueue, print), tmp_path_factory.mktemp("kueue"))


@pytest.fixture(scope="module")
def kueue_plane(
    binaries: Binaries, prepared: kueues.Preparation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The control plane of a file whose jobs are Kueue's."""
    folder, variant = tmp_path_factory.mktemp("cluster"), Variant(kinds=prepared.crds, node=False)
    with ControlPlane(binaries, folder, manifests=[CRD], variant=variant) as started:
        yield started


@pytest.fixture(scope="module")
def kueue(kueue_plane: ControlPlane, prepared: kueues.Preparation) -> Process:
    process = prepared.start(kueue_plane)
    kueues.add_priorities(kueue_plane)
    return process


@pytest.fixture(scope="module")
def installed(
    request: pytest.FixtureRequest, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """With the rights that come only for those who use the file's scheduler, and without pods that take room."""
    control_plane.kubectl("apply", "-f", str(MANIFEST))
    control_plane.kubectl("delete", "deployment", "--all", f"--namespace={OPERATOR_NAMESPACE}")
    if request.module.SCHEDULER:
        grant(control_plane, request.module.SCHEDULER)
    make_priorities(control_plane, **{SERVERS_FIRST: 1000})
    return operator_kubeconfig(control_plane, tmp_path_factory.mktemp("operator") / "kubeconfig")


@pytest.fixture
def allowed(control_plane: ControlPlane) -> Iterator[None]:
    """Whatever the operator asked for, it may."""
    since = datetime.now(timezone.utc)
    yield
    assert not [str(call) for call in control_plane.audit(since=since) if call.code == 403]


@pytest.fixture
def room(control_plane: ControlPlane, namespace: str) -> Iterator[MakeRoom]:
    """Makes nodes with so many CPUs each; their names. They go with the test."""
    made: list[str] = []

    def make(cpus: int, nodes: int = 1, labels: Mapping[str, str] = MappingProxyType({})) -> list[str]:
        names = [f"{namespace}-{next(_numbers)}" for _ in range(nodes)]
        for name in names:
            made.append(name)
            capacity = {"cpu": str(cpus), "memory": "1Ti", "pods": "1000"}
            control_plane.add_node(name, labels={**NODE_LABELS, **labels}, capacity=capacity)
        return names

    yield make
    for name in made:
        control_plane.remove_node(name)
