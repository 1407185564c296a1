"""What people install: a wheel and a source package, in an environment that holds nothing else of ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from trove_classifiers import classifiers as known

from tests.sdk.environments import environment
from tools import pythons
from tools.environments import RUNTIME
from tools.installer import ROOT, build, build_sdist

pytestmark = [pytest.mark.paddle, pytest.mark.timeout(300)]  # the environment is made with those for PaddlePaddle

JOB = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: hello}
spec:
  worker:
    replicas: 2
    template:
      spec:
        containers:
          - name: paddle
            image: none
            command: [sh, -c, 'echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM']
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheels(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """From this folder, and from the source package as anybody who has only that would build it."""
    return {
        "wheel": build(tmp_path_factory.mktemp("wheel")),
        "sdist": build(tmp_path_factory.mktemp("from-sdist"), source=sdist),
    }


@pytest.fixture(scope="module")
def metadata(wheels: dict[str, Path]) -> Message:
    with zipfile.ZipFile(wheels["wheel"]) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def installed(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> Iterator[Path]:
    with environment(None, wheels[request.param]) as made:
        yield made


def run(installed: Path, folder: Path, *args: str) -> str:
    """As a person who has nothing but this environment; the last line of both outputs tells why it failed."""
    env = {"PATH": f"{installed / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(args, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_commands_and_imports_work(installed: Path, tmp_path: Path, metadata: Message) -> None:
    for command in ("paddlejob", "kubectl-paddlejob"):
        assert run(installed, tmp_path, command, "--version") == f"{metadata['Version']}\n"
    assert run(installed, tmp_path, "paddlejob", "crd").startswith("apiVersion: apiextensions.k8s.io/v1")
    run(installed, tmp_path, "python", "-I", "-c", "import paddlejob, paddle.job; assert paddle.job.PaddleJob")


def test_a_job_runs_to_its_end(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    said = run(installed, tmp_path, "paddlejob", "run", "job.yaml")
    assert "rank 0 of 2" in said
    assert "rank 1 of 2" in said


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_source_package_makes_the_same_wheel(wheels: dict[str, Path]) -> None:
    assert contents(wheels["wheel"]) == contents(wheels["sdist"])


def test_a_package_built_again_is_the_same_to_the_byte(sdist: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == wheels["wheel"].read_bytes()
    assert build_sdist(tmp_path).read_bytes() == sdist.read_bytes()


def test_the_packages_hold_what_is_needed_and_nothing_of_this_machine(sdist: Path, wheels: dict[str, Path]) -> None:
    inside = contents(wheels["wheel"])
    assert {name.split("/")[0] for name in inside if ".dist-info" not in name} == {
        "paddlejob",
        "paddle",
        "paddle_operator_zlib.pth",
    }
    assert "paddlejob/py.typed" in inside
    assert [name for name in inside if name.endswith("LICENSE")]
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert {"src", "pyproject.toml", "README.md", "LICENSE", "SECURITY.md", "PKG-INFO"} <= tops
    assert tops <= {*(one.name for one in ROOT.iterdir()), "PKG-INFO"}
    assert not [name for name, text in inside.items() if str(ROOT).encode() in text]


def test_what_the_package_says_of_itself(metadata: Message) -> None:
    said = metadata.get_all("Classifier") or []
    assert not [one for one in said if one not in known]
    assert metadata["License-Expression"] == "Apache-2.0"
    ours = [one.rpartition(" ")[2] for one in said if re.search(r"Python :: 3\.\d+$", one)]
    assert ours == list(pythons.SUPPORTED)
    assert metadata["Requires-Python"] == f">={ours[0]}"


def test_the_list_of_contents_names_all_that_is_installed_and_nothing_else(installed: Path, tmp_path: Path) -> None:
    """The image gets the same packages: tests/tools/test_environments.py reads the Dockerfile."""
    bom = json.loads(run(installed, tmp_path, "python", str(ROOT / "tools" / "sbom.py")))
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    listed = {one["purl"].removeprefix("pkg:pypi/") for one in bom["components"] if one["purl"].startswith("pkg:pypi/")}
    pins = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", RUNTIME.read_text(), re.MULTILINE))
    pinned = {f"{name.lower().replace('_', '-')}@{version}" for name, version in pins.items()}
    ours = {one for one in listed if one.startswith("paddle-operator@")}
    assert len(ours) == 1
    assert listed - ours <= pinned
    assert {"aiohttp", "msgspec", "pyyaml"} <= {one.partition("@")[0] for one in listed}
    refs = [one["bom-ref"] for one in bom["components"]]
    assert len(refs) == len(set(refs))
    (image,) = bom["dependencies"]
    assert image["dependsOn"] == refs
    assert not [
        one["name"] for one in bom["components"] if one["purl"].startswith("pkg:pypi/") and not one.get("licenses")
    ]


def test_the_list_of_contents_of_anything_else_is_refused(tmp_path: Path) -> None:
    program = [sys.executable, "-I", "-S", str(ROOT / "tools" / "sbom.py")]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run this in its image" in done.stderr
