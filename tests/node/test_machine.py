"""Where the cluster cannot run it says why, and fails: it never looks like a success."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LESS: dict[str, tuple[list[str], str]] = {
    "not root": (["unshare", "--user"], "needs root"),
    "no namespaces": (["setpriv", "--bounding-set=-sys_admin"], "namespaces: "),
    "no network of its own": (["setpriv", "--bounding-set=-net_admin"], "pairs of network devices: "),
}


@pytest.mark.parametrize("case", LESS)
def test_it_says_what_this_machine_refuses(case: str) -> None:
    less, why = LESS[case]
    command = [*less, sys.executable, "-m", "tests.node", "machine"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert why in done.stderr
    assert "can run a cluster" not in done.stdout
