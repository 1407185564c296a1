"""examples/notebook.ipynb is run cell by cell, in a kernel of its own, and trains for real."""

from __future__ import annotations

import ast
import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.environments import PADDLE, python_of

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
RUN = """
import sys, nbformat
from nbclient import NotebookClient

read = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(read, timeout=400, kernel_name="python3").execute()
nbformat.write(read, sys.argv[2])
"""


def outputs(cells: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    (found,) = (cell["outputs"] for cell in cells if cell["id"] == name)
    return list(found)


@pytest.mark.paddle
@pytest.mark.timeout(600)
def test_every_cell_runs_and_the_loss_falls(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_STATE_HOME": str(tmp_path / "state")}
    env |= {"PADDLEJOB_PYTHON": str(python_of(f"paddle-{PADDLE}")), "HOME": str(tmp_path)}
    ran = tmp_path / "ran.ipynb"
    command = [str(python_of("notebook")), "-c", RUN, str(NOTEBOOK), str(ran)]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads(ran.read_text())["cells"]
    (table,) = outputs(cells, "submit")
    assert "Completed" in "".join(table["data"]["text/html"])
    (curve,) = outputs(cells, "read")
    ((first, last),) = ast.literal_eval("".join(curve["data"]["text/plain"])).values()
    assert last < first / 100
    (pods,) = outputs(cells, "together")
    names = "['notebook-1-worker-0', 'notebook-2-worker-0', 'notebook-2-worker-1']"
    assert "".join(pods["data"]["text/plain"]) == names
    (plot,) = outputs(cells, "plot")
    assert base64.b64decode(plot["data"]["image/png"]).startswith(b"\x89PNG")


def test_the_notebook_is_kept_without_what_it_printed() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert not [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")]
