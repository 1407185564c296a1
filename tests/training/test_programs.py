"""Each program that needs PaddlePaddle alone, in each way in which workers are told of each other: all see them all.

The silent wrong result is two workers that each train alone and exit 0.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.programs import OWN, wrong
from tests.training.ways import WAYS

pytestmark = [pytest.mark.timeout(300), pytest.mark.paddle]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", OWN)
def test_workers_never_train_alone(program: str, way: str, paddle: Path, tmp_path: Path) -> None:
    one = OWN[program]
    ran = WAYS[way].run(tmp_path, paddle, one.command, one.env)
    assert not wrong(ran), ran.output[-3000:]
