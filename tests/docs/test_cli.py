"""docs/cli.md is true: its commands are run from top to bottom, the example of every command's help among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddlejob.cli.main import COMMANDS
from tests.cli.kubelet import Kubelet
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import NODE, ControlPlane
from tests.docs.typist import ROOT, Typist, commands
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role
from tests.ui.served import serving
from tools.environments import PADDLE, python_of

PAGE = ROOT / "docs" / "cli.md"
JOB = "wide-and-deep"


@pytest.fixture(scope="module")
def talking(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ControlPlane, Kubelet]]:
    """A fresh cluster whose only node has logs."""
    with ControlPlane(binaries, tmp_path_factory.mktemp("cli")) as started:
        kubelet = Kubelet(started, tmp_path_factory.mktemp("kubelet"))
        started.remove_node(NODE)
        yield started, kubelet
        kubelet.close()


class World:
    """What happens around the person who types: the operator's pods are simulated, so it runs here; training ends."""

    def __init__(self, cluster: ControlPlane, kubelet: Kubelet, folder: Path) -> None:
        self._kubelet = kubelet
        self._kubeconfig = cluster.kubeconfig(folder / "operator-kubeconfig")
        self._log = folder / "operator.log"
        self._desk = Desk(cluster, "default")
        self.operators: list[OperatorProcess] = []

    def starts_operator(self, *args: str) -> OperatorProcess:
        self.operators.append(OperatorProcess(self._kubeconfig, self._log, args).start())
        return self.operators[-1]

    def before(self, line: str) -> None:
        if line.startswith((f"paddlejob logs {JOB}", "paddlejob suspend")):
            self._desk.in_phase(JOB, "Running")
        if line == f"paddlejob logs -f {JOB}":
            for pod in self._desk.pods():
                self._kubelet.says(f"default/{pod}", f"{pod} is done")
                self._kubelet.ends(f"default/{pod}")
            self._desk.finish_workers(JOB)
        if line.startswith("paddlejob scale"):
            worker = {**a_role(2), "requests": 1, "limits": 4}
            self._desk.submit(a_job("resnet-elastic", elastic=1, worker=worker))

    def after(self, line: str, said: str) -> None:
        if line.startswith("paddlejob install"):
            self.starts_operator()
        if line == f"paddlejob logs -f {JOB}":
            assert f"[{JOB}-worker-0] {JOB}-worker-0 is done" in said
        if line == f"paddlejob wait {JOB} --timeout 10m":
            assert said == f"{JOB}: Completed: 2 of 2 workers succeeded\n"


@pytest.mark.paddle
@pytest.mark.timeout(400)
def test_every_command_of_the_page_works(talking: tuple[ControlPlane, Kubelet], tmp_path: Path) -> None:
    cluster, kubelet = talking
    typist = Typist(cluster, tmp_path, PADDLEJOB_PYTHON=str(python_of(f"paddle-{PADDLE}")))
    world = World(cluster, kubelet, tmp_path)
    try:
        for line in commands(PAGE):
            if line.startswith("paddlejob operator "):
                assert world.starts_operator(*line.split()[2:]).stop() == 0
                continue
            if line == "paddlejob ui":
                with serving(typist.env, tmp_path) as page:
                    assert page.ask("GET", "~/api/about", Cookie=page.cookie()).status == 200
                continue
            world.before(line)
            world.after(line, typist.type(line))
    finally:
        for one in world.operators:
            one.kill()


def test_the_page_runs_the_example_of_every_command() -> None:
    lines = commands(PAGE)
    for function, _ in COMMANDS.values():
        module, _, name = function.partition(":")
        source = (ROOT / "src" / "paddlejob" / "cli" / f"{module}.py").read_text()
        body = source[source.index(f"def {name}(") :]
        example = re.search(r"Example: (paddlejob .*)", body)
        assert example is not None, f"{function} has no example"
        assert example[1] in lines, f"docs/cli.md does not run: {example[1]}"
