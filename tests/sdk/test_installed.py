"""`import paddle.job` in the environments that people have: PaddlePaddle 2.6, 3.x or none, installed or editable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sdk.environments import RELEASES, environment
from tools.installer import build, uninstall

pytestmark = [pytest.mark.timeout(600), pytest.mark.paddle]

WITH_PADDLE = """
import paddle
assert paddle.__version__ == {release!r}, paddle.__version__
assert paddle.__file__.endswith("site-packages/paddle/__init__.py"), paddle.__file__
assert paddle.to_tensor([1.0, 2.0]).sum().item() == 3.0
import paddle.distributed.fleet, paddle.nn.functional
"""
WITHOUT_PADDLE = """
import paddle
assert getattr(paddle, "__file__", None) is None, paddle.__file__
"""
JOB = """
import sys
import paddle.job as job
assert job.__file__.endswith("site-packages/paddle/job/__init__.py"), job.__file__
assert "aiohttp" not in sys.modules, "whoever trains needs no HTTP client"
import paddlejob
assert set(paddlejob.__all__) == set(job.__all__)
assert all(getattr(job, name) is getattr(paddlejob, name) for name in job.__all__)
from paddle.job import PaddleJob, CephFSVolume
made = PaddleJob(job_name="a", entry_point="python train.py", cpu_nums=1, runtime_image="b")
assert "kind: PaddleJob" in made.to_yaml()
# There is no cluster; that it is said means that the client loads beside PaddlePaddle.
try:
    made.submit()
except job.PaddleJobError as error:
    assert "kubeconfig" in str(error), error
else:
    raise AssertionError("submitted to no cluster")
assert "aiohttp" in sys.modules
"""


@pytest.fixture(scope="module", params=["installed", "editable"])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"), editable=request.param == "editable")


def run(environment: Path, program: str, folder: Path) -> None:
    done = subprocess.run(
        [environment / "bin" / "python", "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("release", RELEASES, ids=lambda one: f"paddle {one}")
def test_paddle_job_stands_beside_paddle(release: str | None, wheel: Path, tmp_path: Path) -> None:
    paddle = WITH_PADDLE.format(release=release) if release else WITHOUT_PADDLE
    with environment(release, wheel) as installed:
        run(installed, paddle + JOB, tmp_path)
        run(installed, JOB + paddle, tmp_path)


def test_each_can_be_removed_without_the_other(tmp_path: Path) -> None:
    release = RELEASES[0]
    assert release is not None
    with environment(release, build(tmp_path, editable=False)) as installed:
        uninstall(installed, "paddlepaddle")
        run(installed, WITHOUT_PADDLE + JOB, tmp_path)
    with environment(release, next(tmp_path.glob("*.whl"))) as installed:
        uninstall(installed, "paddle-operator")
        gone = "import importlib.util\nassert importlib.util.find_spec('paddle.job') is None\n"
        run(installed, WITH_PADDLE.format(release=release) + gone, tmp_path)


def test_importing_paddlejob_costs_nothing() -> None:
    loaded = "import sys, paddlejob\nassert not {'msgspec', 'yaml', 'aiohttp', 'asyncio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-I", "-c", loaded], check=True)
