"""docs/programs.md: what `make programs` found the last time, a row for each program on each release of PaddlePaddle.

The page is the record, too: rows are read from it and written back, so that a run of some rows keeps the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from tests.training.programs import OWN, TOOLKITS, Program
from tests.training.ways import WAYS
from tools.environments import ALL, PADDLE, PADDLE_3
from tools.installer import ROOT

PAGE = ROOT / "docs" / "programs.md"
PROGRAMS: dict[str, Program] = {**OWN, **TOOLKITS}
RELEASES = (PADDLE, PADDLE_3)
MET, REFUSES, MISSING = "world 2", "refuses", "not run"

TEXT = """\
# Programs that were seen to train together

The silent wrong result of distributed training is two workers that each train alone and exit with 0. So `make
programs` runs each program below with two workers in every network that a job can have, on both releases of
PaddlePaddle, and fails if they do anything else than this page says. The last run wrote this page; do not edit it.

- **world 2**: each worker met the other. They exchanged their ranks, and what trains a model ended with equal weights
  on both. `paddleformers-cli` and `erniekit` said so in their own logs.
- **refuses**: the program fails on every worker, so the job is `Failed`, never `Completed`. The reason is in the second
  table.
- **not run**: not yet, in the versions that are pinned now.

A cluster's networks were played on one machine: each pod a process with the environment that it has in a cluster. *Host
apart* and *Host on one node* are `intranet: Host` with the pods on two nodes, and on one. *local* is `paddlejob run`,
*local on one address* the same with `--one-address`. Models are tiny, data is generated, and there was no GPU.

"""


class Found(NamedTuple):
    """One row: the day of the run, and what was found in each way."""

    day: str
    cells: tuple[str, ...]


Record = dict[tuple[str, str], Found]


def expected(name: str, release: str) -> str:
    return REFUSES if release in PROGRAMS[name].refuses else MET


def kept() -> Record:
    """What the page says of programs that are still there, in the versions that are pinned."""
    known = {(name, _versions(name, release)): (name, release) for name, release in rows()}
    found: Record = {}
    for line in PAGE.read_text().splitlines() if PAGE.exists() else ():
        name, *words = line.strip("| ").split(" | ")
        if len(words) == 2 + len(WAYS) and words[1] != MISSING and (row := known.get((name, words[0]))):
            found[row] = Found(words[1], tuple(words[2:]))
    return found


def rows() -> list[tuple[str, str]]:
    return [(name, release) for name in PROGRAMS for release in RELEASES]


def written(record: Mapping[tuple[str, str], Found]) -> str:
    table = [["program", "PaddlePaddle", "run on", *WAYS]]
    for name, release in rows():
        found = record.get((name, release), Found(MISSING, (MISSING,) * len(WAYS)))
        table.append([name, _versions(name, release), found.day, *found.cells])
    programs = [["program", "what was run", "refuses because"]]
    programs += [[name, one.what, _refusal(one)] for name, one in PROGRAMS.items()]
    return f"{TEXT}{_table(table)}\n## What was run\n\n{_table(programs)}"


def _versions(name: str, release: str) -> str:
    needs = PROGRAMS[name].needs
    if needs == "paddle":
        return release
    (pins,) = ALL[f"{needs}-{release}"]().pins
    package, _, _ = needs.partition("-")
    (version,) = re.findall(rf"^{package}==(\S+)", pins.read_text(), re.MULTILINE)
    return f"{release}, {package} {version}"


def _refusal(program: Program) -> str:
    said = {
        reason: [one for one in RELEASES if program.refuses.get(one) == reason] for reason in program.refuses.values()
    }
    return "; ".join(f"on {' and '.join(releases)}: `{reason}`" for reason, releases in said.items())


def _table(lines: list[list[str]]) -> str:
    head, *rest = (f"| {' | '.join(line)} |\n" for line in lines)
    return "".join([head, f"|{' --- |' * len(lines[0])}\n", *rest])
