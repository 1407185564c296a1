"""docs/programs.md holds good runs and says what was not run; `make programs` cannot take a bad run for a good one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.training.page import PAGE, expected, kept, written
from tests.training.programs import Program, wrong
from tests.training.ways import WAYS
from tools.environments import PADDLE


def test_every_program_that_was_run_did_what_it_should_in_every_way() -> None:
    assert {row: set(found.cells) for row, found in kept().items()} == {row: {expected(*row)} for row in kept()}


def test_the_page_is_as_the_last_run_wrote_it_and_names_every_program() -> None:
    assert PAGE.read_text() == written(kept())


ALONE = json.dumps({"rank": 0, "world": 1, "met": [0]})
UNEQUAL = '{"rank": int(id), "world": 2, "met": [0, 1], "together": False}'
TOGETHER = '{"rank": int(id), "world": 2, "met": [0, 1]}'
BEGIN = "import json, os, sys; id = os.environ['PADDLE_TRAINER_ID'];"

BAD = {
    "each trained alone": f"print('RESULT', '{ALONE}')",
    "each learned something else": f"print('RESULT', json.dumps({UNEQUAL}))",
    "nobody says anything": "pass",
    "one failed": f"print('RESULT', json.dumps({TOGETHER})); sys.exit(int(id))",
}


def ran_wrong(script: str, folder: Path, **known: str) -> str:
    program = Program("", ("python", "-c", BEGIN + script), refuses=known)
    return wrong(program, PADDLE, WAYS["PodIP"].run(folder, Path(sys.executable), program.command, program.env))


@pytest.mark.parametrize("case", BAD)
def test_a_bad_run_is_found_out(case: str, tmp_path: Path) -> None:
    assert ran_wrong(BAD[case], tmp_path)


def test_a_good_run_is_good(tmp_path: Path) -> None:
    assert not ran_wrong(f"print('RESULT', json.dumps({TOGETHER}))", tmp_path)


KNOWN = {PADDLE: "no such thing"}


def test_a_known_refusal_is_good(tmp_path: Path) -> None:
    assert not ran_wrong("sys.exit('no such thing')", tmp_path, **KNOWN)


NO_REFUSAL = {
    "another error": "sys.exit('out of memory')",
    "only a warning": f"print('no such thing'); print('RESULT', json.dumps({TOGETHER}))",
    "one goes on alone": f"print('no such thing'); print('RESULT', '{ALONE}'); sys.exit(int(id))",
}


@pytest.mark.parametrize("case", NO_REFUSAL)
def test_what_is_no_refusal_is_not_taken_for_one(case: str, tmp_path: Path) -> None:
    assert ran_wrong(NO_REFUSAL[case], tmp_path, **KNOWN)
