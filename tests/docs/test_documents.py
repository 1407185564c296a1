"""The documents are true: every command in them is run here or by a test that is named, every link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Commands that need no cluster of ours, and what runs them for real.
ELSEWHERE = {
    "make test": "CI runs exactly this",
    "pip install .": "test_the_package_installs_as_the_dockerfile_does_it",
}


def commands(path: Path) -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", path.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def fresh(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(binaries, tmp_path_factory.mktemp("documents")) as started:
        yield started


class Reader:
    """A person who types what the README says, line by line."""

    def __init__(self, cluster: ControlPlane, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self.operators: list[OperatorProcess] = []

    def type(self, line: str) -> None:
        if line in ELSEWHERE:
            return
        if line == "paddlejob operator":
            kubeconfig = self._cluster.kubeconfig(self._folder / "kubeconfig")
            self.operators.append(OperatorProcess(kubeconfig, self._folder / "operator.log", []).start())
        elif line == "paddlejob crd | kubectl create -f -":
            printed = subprocess.run([sys.executable, "-m", "paddlejob", "crd"], capture_output=True, check=True)
            self._cluster.kubectl("create", "-f", "-", stdin=printed.stdout.decode())
        else:
            program, *args = line.split()
            assert program == "kubectl", f"no test runs: {line}"
            self._cluster.kubectl(*(one for one in args if one != "-w"))  # a watch would never end


@pytest.mark.timeout(300)
def test_every_command_of_the_readme_works(
    fresh: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    reader = Reader(fresh, tmp_path)
    try:
        for line in commands(ROOT / "README.md"):
            if line.startswith("kubectl -n paddle-system create"):
                wait_until(lambda: "paddlejobs" in fresh.kubectl("api-resources"))
            reader.type(line)
        (operator,) = reader.operators
        desk = Desk(fresh, "default")
        desk.kubectl("create", "-f", "deploy/examples/wide_and_deep.yaml")
        desk.in_phase("wide-ande-deep", "Running", timeout=60)
        assert operator.stop() == 0
    finally:
        for one in reader.operators:
            one.kill()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_other_documents_hold_no_command_that_is_not_run(path: Path) -> None:
    if path.name != "README.md":
        assert commands(path) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_and_every_path_leads_somewhere(path: Path) -> None:
    text = path.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:deploy|docs|tests|tools|examples)/[^`*\s]+)`", text)
    missing = [one for one in links if not (path.parent / one).exists()]
    missing += [one for one in named if not (ROOT / one).exists()]
    assert not missing


def test_every_reason_that_a_job_can_give_is_in_the_troubleshooting_page() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    source = "\n".join(one.read_text() for one in (ROOT / "src" / "paddlejob").rglob("*.py"))
    reasons = set(re.findall(r'Stall\(\s*"(\w+)"', source)) | set(
        re.findall(r'"(NameTaken|QuotaExceeded|Forbidden|Invalid)"', source)
    )
    assert reasons >= {"NotSupported", "NameTaken"}
    assert not {reason for reason in reasons if f"`{reason}`" not in page}


def test_make_alone_lists_every_target_with_its_help() -> None:
    said = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert [target for target in phony[1].split() if f"make {target} " not in said] == []


@pytest.mark.timeout(600)
def test_the_package_installs_as_the_dockerfile_does_it(tmp_path: Path) -> None:
    """All wheels first, then an installation into an empty environment that asks no index any more."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python, wheels = str(tmp_path / "venv" / "bin" / "python"), str(tmp_path / "wheels")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--wheel-dir", wheels, str(ROOT)], check=True)
    subprocess.run([*pip, "install", "--no-index", "--find-links", wheels, "paddle-operator"], check=True)
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "pip wheel" in dockerfile
    assert "--no-index --find-links /wheels paddle-operator" in dockerfile
    for command in ("paddlejob", "kubectl-paddlejob"):
        program = str(tmp_path / "venv" / "bin" / command)
        done = subprocess.run([program, "crd"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("apiVersion: apiextensions.k8s.io/v1")
