"""examples/elastic/train.py, which waits after certain steps until the test opens the gate: each world does its part.

How long a change of workers takes depends on the machine; what is trained by whom must not.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.environ["EXAMPLE"])

import train  # type: ignore[import-not-found, unused-ignore]  # found by the line above, not by mypy

GATES = Path(os.environ["GATES"])


def wait_at_the_gate(step: int) -> None:
    gate = GATES / str(step + 1)
    while (GATES / f"{step + 1}.closed").exists() and not gate.exists():
        time.sleep(0.1)


train.pause = wait_at_the_gate
train.main()
