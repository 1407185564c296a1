"""Programs that need PaddlePaddle alone, in the ways in which workers are told of each other: all see them all.

The silent wrong result is two workers that each train alone and exit 0. `make programs` runs every one in every way,
with the newest PaddlePaddle too, and prints the table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.programs import OWN, wrong
from tests.training.ways import WAYS
from tools.environments import PADDLE

pytestmark = [pytest.mark.timeout(300), pytest.mark.paddle]

# Each goes by other variables than the others do: in every way. The rest where these differ.
EVERYWHERE = ("launch", "fleet.init", "PaddleFormers' launch line")
DIFFERENT = ("PodIP", "Host on one node", "local on one address")
CELLS = [(program, way) for program in OWN for way in (WAYS if program in EVERYWHERE else DIFFERENT)]


@pytest.mark.parametrize(("program", "way"), CELLS, ids=[", ".join(cell) for cell in CELLS])
def test_workers_never_train_alone(program: str, way: str, paddle: Path, tmp_path: Path) -> None:
    one = OWN[program]
    ran = WAYS[way].run(tmp_path, paddle, one.command, one.env)
    assert not wrong(one, PADDLE, ran), ran.output[-3000:]
