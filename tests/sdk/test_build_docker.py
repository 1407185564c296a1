"""tools/build_docker.sh: which engine it calls, what it gives it, and what it refuses."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.sdk.engines import Engines

ROOT = Path(__file__).parents[2]
SCRIPT = shlex.quote(str(ROOT / "tools" / "build_docker.sh"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A person's folder with a trainer package in ./example."""
    made = tmp_path / "project"
    (made / "example" / "word2vec").mkdir(parents=True)
    (made / "example" / "word2vec" / "train.py").write_text("print('training')\n")
    (made / "example" / ".hidden").write_text("too\n")
    return made


WHICH = {
    "docker before the others": (("docker", "podman", "buildah"), (), "", ["docker", "build"]),
    "podman where there is no docker": (("podman", "buildah"), (), "", ["podman", "build"]),
    "buildah where there is nothing else": (("buildah",), (), "", ["buildah", "bud"]),
    "podman where docker has no daemon": (("docker", "podman"), ("docker",), "", ["podman", "build"]),
    "the one that ENGINE names": (("docker", "podman"), (), "podman", ["podman", "build"]),
}


@pytest.mark.parametrize("case", WHICH)
def test_which_engine_builds(case: str, project: Path, tmp_path: Path) -> None:
    there, broken, wanted, expected = WHICH[case]
    engines = Engines(tmp_path / "engines", *there, broken=broken)
    env = {"ENGINE": wanted} if wanted else {}
    done = engines.bash(f"{SCRIPT} ./example/ /example paddlepaddle/paddle:2.6.2 team/job", project, **env)
    assert done.returncode == 0, done.stderr
    ((*call, context),) = engines.calls
    assert call == [*expected, "--tag", "team/job"]
    assert not Path(context).exists()  # cleaned up
    assert f"push it with: {expected[0]} push team/job" in done.stdout


def test_the_image_holds_the_base_the_sdk_and_the_trainer_package(project: Path, tmp_path: Path) -> None:
    engines = Engines(tmp_path / "engines", "docker")
    done = engines.bash(f"{SCRIPT} example /opt/example paddlepaddle/paddle:2.6.2 team/job", project)
    assert done.returncode == 0, done.stderr
    image = engines.image("team/job")
    assert (image / "Dockerfile").read_text().splitlines() == [
        "FROM paddlepaddle/paddle:2.6.2",
        "COPY paddle-operator /tmp/paddle-operator",
        "RUN python3 -m pip install --no-cache-dir /tmp/paddle-operator && rm -rf /tmp/paddle-operator",
        'COPY ["package/", "/opt/example/"]',
        "WORKDIR /opt/example",
    ]
    assert (image / "package" / "word2vec" / "train.py").read_text() == "print('training')\n"
    assert (image / "package" / ".hidden").exists()
    for needed in ("pyproject.toml", "README.md", "LICENSE", "src/paddlejob/__init__.py", "src/paddle_job/__init__.py"):
        assert (image / "paddle-operator" / needed).exists()


def test_the_defaults(project: Path, tmp_path: Path) -> None:
    engines = Engines(tmp_path / "engines", "docker")
    assert engines.bash(str(SCRIPT), project).returncode == 0
    assert engines.calls[0][1:4] == ["build", "--tag", "paddlepaddle/paddle_job"]
    dockerfile = (engines.image("paddlepaddle/paddle_job") / "Dockerfile").read_text()
    assert "FROM paddlepaddle/paddle:latest\n" in dockerfile
    assert '"/example/"' in dockerfile


REFUSED = {
    "no engine": ((), "example /example a b", "none of docker, podman, buildah works here"),
    "no such folder": (("docker",), "nothing /example a b", "there is no folder nothing"),
    "a relative place": (("docker",), "example example a b", "example is not an absolute path"),
    "a place with a quote": (("docker",), "example '/a\"b' a b", "has characters"),
    "too many words": (("docker",), "example /example a b c", "too many words"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, project: Path, tmp_path: Path) -> None:
    there, words, said = REFUSED[case]
    engines = Engines(tmp_path / "engines", *there)
    done = engines.bash(f"{SCRIPT} {words}", project)
    assert done.returncode == 2
    assert said in done.stderr
    assert engines.calls == []


def test_help(project: Path, tmp_path: Path) -> None:
    done = Engines(tmp_path / "engines").bash(f"{SCRIPT} --help", project)
    assert done.returncode == 0
    assert "tools/build_docker.sh SRC DEST BASE RUNTIME" in done.stdout
    assert "set -euo" not in done.stdout
