"""A campaign for as long as SECONDS says, with the seed of the run: it is printed at its start and another each time.

`PYTEST_ADDOPTS=--randomly-seed=n` gives the same again, and so does `make chaos SEED=n`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.chaos.campaign import a_script, run
from tests.cluster.binaries import Binaries

SECONDS = float(os.environ.get("SECONDS") or 120)
# Time for calm and for the end, which take as long as they must.
LONGEST = SECONDS + 600


@pytest.mark.campaign
@pytest.mark.timeout(LONGEST)
def test_whatever_happens_the_rules_hold(binaries: Binaries, pytestconfig: pytest.Config) -> None:
    seed = int(os.environ.get("SEED") or pytestconfig.getoption("randomly_seed"))
    folder = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-"))
    complaints = run(binaries, folder, a_script(seed, SECONDS))
    told = "\n".join(map(str, complaints))
    assert not complaints, f"make chaos SECONDS={SECONDS:g} SEED={seed} (all that happened is in {folder}):\n{told}"
    shutil.rmtree(folder)


def test_the_same_seed_gives_the_same_campaign() -> None:
    assert a_script(7, 60) == a_script(7, 60)
    assert a_script(7, 60) != a_script(8, 60)
