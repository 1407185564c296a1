"""The table of programs by ways by releases of PaddlePaddle, every cell filled by a run of two workers.

`make programs` makes the environments, runs all, prints the table and writes it into docs/programs.md, row by row.
Words after `python -m tests.training.matrix` choose the rows that have one of them in their names. It exits with 1 if
anywhere workers trained alone, or a program did anything else than it is known to do.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.training.page import PAGE, PROGRAMS, Found, expected, kept, rows, written
from tests.training.programs import wrong
from tests.training.ways import WAYS
from tools.environments import python_of
from tools.installer import CannotMake

# They mostly wait for one another.
AT_ONCE = 2
# Seconds: on a busy machine the largest toolkits need minutes to be imported.
PATIENCE = 900

Row = tuple[str, str]


def main(words: list[str]) -> int:
    chosen = [row for row in rows() if not words or any(word in ", ".join(row) for word in words)]
    bad = [row for row in chosen if not fill(row)]
    print(f"\n{PAGE.read_text()}", flush=True)
    return 1 if bad else 0


def fill(row: Row) -> bool:
    """Runs a program in all ways; whether it did what it should."""
    name, release = row
    try:
        python = python_of(f"{PROGRAMS[name].needs}-{release}", lambda line: print(line, flush=True))
    except CannotMake as error:
        print(error, flush=True)
        cells = [f"does not install: {str(error).splitlines()[-1]}" for _ in WAYS]
    else:
        with ThreadPoolExecutor(AT_ONCE) as executor:
            cells = list(executor.map(lambda way: cell(row, python, way), WAYS))
    PAGE.write_text(written({**kept(), row: Found(time.strftime("%Y-%m-%d"), tuple(cells))}))
    return set(cells) == {expected(*row)}


def cell(row: Row, python: Path, way: str) -> str:
    name, release = row
    program = PROGRAMS[name]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program.prepare(folder)
        ran = WAYS[way].run(folder, python, program.command, program.env, PATIENCE)
    found = wrong(program, release, ran)
    said = found or expected(*row)
    print(f"{', '.join(row)}, {way}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    if found:
        print(ran.output[-3000:], flush=True)
    return said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
