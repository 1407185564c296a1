"""CONTRIBUTING.md is true: its targets exist and do what it says, its files are where it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
TARGETS = sorted(set(re.findall(r"`make ([a-z]+)`", PAGE)))


def recipe(target: str) -> str:
    """What make would do, with an environment that is up to date."""
    made = ["make", "-n", "-C", str(ROOT), target, f"VENV={Path(sys.executable).parents[1]}"]
    return subprocess.run(made, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_of_the_page_exists(target: str) -> None:
    assert recipe(target)


def test_quick_finds_the_tests() -> None:
    (line,) = [line for line in recipe("quick").replace("\\\n", " ").splitlines() if "pytest" in line]
    paths = [word for word in line.split() if word.startswith("tests/")]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert len(found.splitlines()) > 500


def test_generate_writes_what_is_checked_in() -> None:
    assert "tools/generate.py" in recipe("generate")
    subprocess.run([sys.executable, "tools/generate.py", "--check"], cwd=ROOT, check=True)


def test_every_file_of_the_table_is_there() -> None:
    named = re.findall(r"`((?:api|core|kube|operator|local|places|sdk|ui|cli)/[\w./]*)`", PAGE)
    assert len(named) > 10
    assert not [one for one in named if not (ROOT / "src" / "paddlejob" / one).exists()]
