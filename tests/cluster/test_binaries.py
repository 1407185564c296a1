"""Without Go and without binaries: a loud skip for a person, an error for CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ONE_CLUSTER_TEST = "tests/cluster/test_control_plane.py"


def without_go(tmp_path: Path, *args: str, ci: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "CI": ci}
    for name in ("KUBEBUILDER_ASSETS", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        env.pop(name, None)
    command = [sys.executable, "-m", *args]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)], ids=["person", "CI"])
def test_make_says_what_to_install(tmp_path: Path, ci: str, code: int) -> None:
    done = without_go(tmp_path, "tests.cluster.binaries", ci=ci)
    assert done.returncode == code
    assert "install Go 1.24 or newer, or set KUBEBUILDER_ASSETS" in done.stdout + done.stderr


def test_a_person_sees_one_loud_line_and_skips(tmp_path: Path) -> None:
    done = without_go(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", ONE_CLUSTER_TEST, ci="")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("TESTS NEED A CLUSTER AND DID NOT RUN") == 1
    assert "skipped" in done.stdout


def test_ci_fails_instead_of_skipping(tmp_path: Path) -> None:
    done = without_go(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", ONE_CLUSTER_TEST, ci="true")
    assert done.returncode not in (0, 5)
    assert "install Go" in done.stdout + done.stderr
