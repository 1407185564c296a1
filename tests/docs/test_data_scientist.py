"""docs/data-scientist.md is true: its blocks are run from top to bottom, as in one notebook.

In an environment with PaddlePaddle 2.6.2 and our wheel, against the real API server with simulated nodes; a colleague
lets simulated trainers succeed once they run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.api import ApiError
from tests.scenarios.desk import Desk
from tests.sdk.engines import Engines
from tests.sdk.environments import environment
from tools.environments import PADDLE
from tools.installer import build

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "data-scientist.md"
BLOCKS = re.findall(r"```(python|bash)\n(.*?)```", PAGE.read_text(), re.DOTALL)

# Lines that the fixture has done already, with the same versions.
DONE = ("pip install paddlepaddle==2.6.2 'protobuf<5' 'numpy<2' 'setuptools<81'", "pip install .")

# What a notebook does: one namespace, and sources that can be looked up. Commands are typed into one terminal.
NOTEBOOK = """
import json, linecache, subprocess, sys
names, terminal = {"__name__": "__main__"}, "."
for number, (language, text) in enumerate(json.load(open(sys.argv[1])), start=1):
    print(f"== block {number}", flush=True)
    if language == "bash":
        left = sys.argv[1] + ".folder"
        subprocess.run(["bash", "-e", "-c", text + 'pwd > "$0"', left], cwd=terminal, check=True)
        terminal = open(left).read().strip()
        continue
    name = f"block-{number}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), names)
"""


@contextmanager
def a_colleague(desk: Desk) -> Iterator[None]:
    """Lets the trainers of every job that runs succeed."""
    leaving = threading.Event()

    def work() -> None:
        path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs"
        while not leaving.wait(0.3):
            for job in desk.api.get(path)["items"]:
                if job.get("status", {}).get("phase") == "Running":
                    try:
                        desk.finish_workers(job["metadata"]["name"])
                    except ApiError as error:
                        if error.code != 404:  # the page deletes its jobs
                            raise

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        leaving.set()
        thread.join()


def test_the_installation_is_the_one_that_the_tests_use() -> None:
    first, second = DONE
    assert BLOCKS[0] == ("bash", f"{first}\n{second}\n")
    pins = (ROOT / "examples" / "requirements-paddle.txt").read_text().splitlines()[2]
    assert sorted(pins.strip("# ").split()) == sorted(first.replace("'", "").split()[2:])


@pytest.mark.paddle
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("operator")
def test_every_block_works(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "tools").symlink_to(ROOT / "tools")
    (tmp_path / "blocks.json").write_text(json.dumps(BLOCKS[1:]))
    engines = Engines(tmp_path / "engines", "docker")
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", namespace=desk.namespace)
    with environment(PADDLE, build(tmp_path / "wheel", editable=False)) as installed, a_colleague(desk):
        path = os.pathsep.join((str(installed / "bin"), str(engines.bin)))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLEJOB", "KUBE"))}
        state = str(tmp_path / "state")
        done = subprocess.run(
            [installed / "bin" / "python", "-c", NOTEBOOK, tmp_path / "blocks.json"],
            cwd=folder,
            env={**kept, "PATH": path, "KUBECONFIG": str(kubeconfig), "XDG_STATE_HOME": state},
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
    said = done.stdout
    assert done.returncode == 0, said[-3000:] + done.stderr[-3000:]
    assert re.search(r"\[first-worker-0\] loss 0\.0000", said)
    for rank in (0, 1):
        assert re.search(rf"trainer {rank} of 2: loss 0\.00", said)
    assert "word2vec was submitted and runs on this machine" in said
    assert said.count("RESULT") == 3
    assert "[(1, 10), (2, 20), (3, 30), (4, 40)]" in said
    assert "[reading-worker-0] hello" in said
    assert "watched-worker-0 ended with exit code 3; its last lines:\ntraining" in said
    assert [call[1] for call in engines.calls] == ["build", "push"]


def test_the_python_of_the_readme_is_on_this_page() -> None:
    found = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    assert [one for one in found if ("python", one) not in BLOCKS] == []
