"""docs/release.md is true: a release is made, signed and checked as it says, and holds what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cluster.binaries import find_all
from tests.docs.typist import ROOT, commands
from tests.packages.programs import Helm3
from tools.installer import cache

PAGE = ROOT / "docs" / "release.md"
DIST = ROOT / "dist"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Who releases: has a key, and helm; trusts herself."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "helm").symlink_to(find_all(Helm3, print).helm)
    (tmp_path / ".ssh").mkdir()
    key = tmp_path / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    kind, public = key.with_suffix(".pub").read_text().split()[:2]
    (tmp_path / "allowed_signers").write_text(f"ada@example.com {kind} {public}\n")
    yield {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(cache().parent),
        "VENV": str(Path(sys.executable).parents[1]),
        "RUN": "",
    }
    shutil.rmtree(DIST, ignore_errors=True)


def type_line(line: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.timeout(300)
def test_every_command_of_the_page_works(person: dict[str, str]) -> None:
    make, sign, verify, check = commands(PAGE)
    for line in (make, sign, verify, check):
        done = type_line(line, person)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert "Good" in type_line(verify, person).stdout
    named = {name for row in re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE) for name in words(row)}
    assert {file.name for file in DIST.iterdir()} == named - {"sbom.json"}
    (DIST / "operator.yaml").write_text("other")
    assert type_line(check, person).returncode == 1
    (DIST / "SHA256SUMS").write_text("other")
    assert type_line(verify, person).returncode != 0


def words(row: str) -> list[str]:
    return [name.replace("VERSION", version("paddle-operator")) for name in re.findall(r"`([^`]+)`", row)]
