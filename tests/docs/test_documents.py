"""The documents are true: every command in them is run here or by a test that is named, every link leads somewhere."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from paddlejob.api import reasons
from paddlejob.api.status import Phase
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.docs.typist import LANGUAGES, commands, halves
from tests.local.workbench import Workbench
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk
from tools.environments import PADDLE, RUNTIME, python_of
from tools.installer import Recipe, build, install, make
from tools.markdown import anchors, links, sections, units

ROOT = Path(__file__).parents[2]
AT_THE_TOP = [ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md")]
DOCUMENTS = [*AT_THE_TOP, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "charts").rglob("*.md"))]
# Pages of which `make packages` runs the commands, with programs that nothing else needs.
PACKAGES = ROOT / "tests" / "packages"

# Commands that need no cluster of ours, and what runs them for real.
ELSEWHERE = {
    "make test": "CI runs exactly this",
    **dict.fromkeys(("make cluster", "make e2e", "make cluster-down"), "they need root, and change this machine"),
    "make demo": "test_the_demo_trains_for_real_in_an_environment_of_its_own",
    "pip install .": "test_the_package_installs_as_the_dockerfile_does_it",
}


@pytest.fixture(scope="module")
def fresh(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(binaries, tmp_path_factory.mktemp("documents")) as started:
        yield started


class Reader:
    """A person who types what the README says, line by line."""

    def __init__(self, cluster: ControlPlane, bench: Workbench) -> None:
        self._cluster = cluster
        self._bench = bench
        self._folder = bench.folder
        self.operators: list[OperatorProcess] = []

    def type(self, line: str) -> None:
        if line in ELSEWHERE:
            return
        if line == "paddlejob operator":
            kubeconfig = self._cluster.kubeconfig(self._folder / "kubeconfig")
            self.operators.append(OperatorProcess(kubeconfig, self._folder / "operator.log", []).start())
        elif line.startswith("paddlejob ") and "|" not in line:
            done = self._bench.paddlejob(*line.split()[1:], timeout=300)
            assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        elif line == "paddlejob crd | kubectl create -f -":
            printed = subprocess.run([sys.executable, "-m", "paddlejob", "crd"], capture_output=True, check=True)
            self._cluster.kubectl("create", "-f", "-", stdin=printed.stdout.decode())
        else:
            program, *args = line.split()
            assert program == "kubectl", f"no test runs: {line}"
            self._cluster.kubectl(*(one for one in args if one != "-w"))  # a watch would never end


@pytest.mark.paddle
@pytest.mark.timeout(300)
def test_every_command_of_the_readme_works(
    fresh: ControlPlane, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    bench.env["PADDLEJOB_PYTHON"] = str(python_of(f"paddle-{PADDLE}"))
    reader = Reader(fresh, bench)
    try:
        for line in commands(ROOT / "README.md"):
            reader.type(line)
            if "rollout status" in line:  # the operator is ready once it has listed all jobs; these pods are simulated
                wait_until(lambda: "paddlejobs" in fresh.kubectl("api-resources"))
        (operator,) = reader.operators
        desk = Desk(fresh, "default")
        desk.kubectl("create", "-f", "deploy/examples/wide_and_deep.yaml")
        desk.in_phase("wide-ande-deep", "Running", timeout=60)
        assert operator.stop() == 0
    finally:
        for one in reader.operators:
            one.kill()


# Each row of README's first table: a word of it that is the same in both languages, and the page to which it leads.
READERS = (
    ("make demo", ""),
    ("Python", "data-scientist.md"),
    ("YAML", "cli.md"),
    ("", "administrator.md"),
    ("Helm", "helm.md"),
    ("paddle-operator 0.3", "migrating.md"),
    ("`kubeflow.org/v1`", "migrating.md"),
    ("PaddleFlow", "migrating.md"),
    ("", "troubleshooting.md"),
)


@pytest.mark.parametrize("path", halves(ROOT / "README.md"), ids=LANGUAGES)
def test_the_readme_tells_each_reader_in_its_first_lines_where_to_begin(path: Path) -> None:
    _, _, *rows = (one.text for one in sections(units(path.read_text()))[0].units if one.kind.startswith("row"))
    for (word, page), row in zip(READERS, rows, strict=True):
        assert word in row
        assert page in links(row)[-1]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_other_documents_hold_no_command_that_is_not_run(path: Path) -> None:
    """A page with commands has a test of its own name, which runs them; its Chinese half has the same commands."""
    name = f"test_{path.stem.replace('-', '_')}.py"
    runs = any((folder / name).exists() for folder in (Path(__file__).parent, PACKAGES))
    if path not in halves(ROOT / "README.md") and not runs:
        assert commands(path) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_every_path_leads_somewhere(path: Path) -> None:
    text = path.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:charts|deploy|docs|tests|tools|examples)/[^`*\s]+)`", text)
    missing = [one for one in links if not (path.parent / one).exists()]
    missing += [one for one in named if not (ROOT / one).exists()]
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_heading_finds_it(path: Path) -> None:
    found = [link.partition("#") for link in links(path.read_text()) if "#" in link and "://" not in link]
    pages = [(path.parent / name if name else path, anchor) for name, _, anchor in found]
    assert not [f"{page}#{anchor}" for page, anchor in pages if anchor not in anchors(page.read_text())]


REASONS = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
PASSED_ON = reasons.CONTAINER_STALLS | reasons.DISRUPTIONS


@pytest.mark.parametrize("path", halves(ROOT / "docs" / "troubleshooting.md"), ids=LANGUAGES)
def test_every_reason_that_a_job_can_give_is_in_the_troubleshooting_page(path: Path) -> None:
    page = path.read_text()
    assert not {reason for reason in REASONS | PASSED_ON if f"`{reason}`" not in page}


# Where a reason stands among the arguments of what carries one.
CARRIERS = {"JobEvent": 1, "Deadline": 1, "NotYet": 1, "Refusal": 2, "Stall": 0, "DatedEvent": 2}


def written_reasons(file: Path) -> Iterator[str]:
    """Words that stand in the code where a reason belongs, and words that are reasons, wherever they stand.

    But for phases, which are the reasons of conditions.
    """
    known = (REASONS | PASSED_ON | reasons.IMAGE_STALLS) - {*get_args(Phase)}
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Call(func=ast.Name(id=name), args=args) if len(args) > CARRIERS.get(name, len(args)):
                found = [args[CARRIERS[name]]]
            case ast.keyword(arg="reason", value=value):
                found = [value]
            case ast.Compare(left=ast.Attribute(attr="reason"), comparators=comparators):
                found = comparators
            case ast.Constant(value=str(word)) if word in known:
                yield word
                continue
            case _:
                continue
        yield from (str(one.value) for one in found if isinstance(one, ast.Constant) and one.value)


def test_no_reason_is_written_anywhere_but_in_its_file() -> None:
    """`kube` has reasons of its own: those of the API server."""
    source = ROOT / "src" / "paddlejob"
    files = {one for one in source.rglob("*.py") if one.parent != source / "kube"} - {Path(reasons.__file__)}
    assert not [f"{file}: {word}" for file in sorted(files) for word in written_reasons(file)]


def test_make_alone_lists_every_target_with_its_help() -> None:
    said = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert [target for target in phony[1].split() if f"make {target} " not in said] == []


@pytest.mark.paddle
@pytest.mark.timeout(600)
def test_the_demo_trains_for_real_in_an_environment_of_its_own(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "RUN": ""}  # a run of make of its own
    make = ["make", "-C", str(ROOT), "demo", f"VENV={tmp_path / 'venv'}", f"PYTHON={sys.executable}"]
    done = subprocess.run(make, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for said in ("Making a Python environment", "Getting PaddlePaddle", "after training", "What to try next"):
        assert said in done.stdout
    assert "wide-and-deep: Completed: 2 of 2 workers succeeded" in done.stdout


@pytest.mark.timeout(600)
def test_the_package_installs_as_the_dockerfile_does_it(tmp_path: Path) -> None:
    """What it needs, hash for hash, then our wheel; tests/tools/test_environments.py reads the Dockerfile itself."""
    made = make(Recipe(tmp_path / "venv", sys.executable, (RUNTIME,))).parents[1]
    (tmp_path / "wheels").mkdir()
    install(made, build(tmp_path / "wheels"))
    for command in ("paddlejob", "kubectl-paddlejob"):
        program = str(made / "bin" / command)
        done = subprocess.run([program, "crd"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("apiVersion: apiextensions.k8s.io/v1")


def test_ci_runs_what_it_is_said_to_run() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    said = [command for command, where in ELSEWHERE.items() if where == "CI runs exactly this"]
    assert set(re.findall(r"^.*?\b(make [a-z0-9-]+)\b", script, re.MULTILINE)) == set(said)
