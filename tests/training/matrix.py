"""The table of programs by ways by releases of PaddlePaddle, every cell filled by a run of two workers.

`make programs` fills the rows of the programs that need PaddlePaddle alone. A toolkit's row needs an environment with
the toolkit in it: `python -m tests.training.matrix paddleformers-cli=/path/to/bin/python`. It exits with 1 if anywhere
the workers did not meet.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.training.programs import OWN, TOOLKITS, Program, wrong
from tests.training.ways import WAYS
from tools.environments import PADDLE, PADDLE_3, python_of

Row = tuple[Program, Path]
MET, REFUSED = "world 2", "refuses to train"


def main() -> int:
    rows = dict(toolkit(word) for word in sys.argv[1:]) or own()
    table = {name: [cell(name, *row, way) for way in WAYS] for name, row in rows.items()}
    print(f"\n| program | {' | '.join(WAYS)} |\n|{' --- |' * (len(WAYS) + 1)}")
    for name, cells in table.items():
        print(f"| {name} | {' | '.join(cells)} |")
    return 0 if {cell for cells in table.values() for cell in cells} <= {MET, REFUSED} else 1


def own() -> dict[str, Row]:
    pythons = {release: python_of(f"paddle-{release}") for release in (PADDLE, PADDLE_3)}
    return {f"{name}, {release}": (one, python) for release, python in pythons.items() for name, one in OWN.items()}


def toolkit(word: str) -> tuple[str, Row]:
    name, _, python = word.partition("=")
    return name, ({**OWN, **TOOLKITS}[name], Path(python))


def cell(name: str, program: Program, python: Path, way: str) -> str:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program.prepare(folder)
        ran = WAYS[way].run(folder, python, program.command, program.env)
    found = wrong(program, ran)
    said = found or (REFUSED if program.refuses else MET)
    print(f"{name}, {way}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    if found:
        print(ran.output[-3000:], flush=True)
    return said


if __name__ == "__main__":
    sys.exit(main())
