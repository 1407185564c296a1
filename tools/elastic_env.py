"""Makes the Python environment in which elastic jobs run, once, and prints the path of its Python.

Small: it borrows PaddlePaddle from the environment of `tools/paddle_env.py` and adds what the launcher needs to talk to
etcd. It is one of its own because that client wants an older protobuf than everybody else.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from tools.paddle_env import EXAMPLES, STAMP, PaddleEnvironmentError, Say, lock, paddle_python, put_in_place, run

REQUIREMENTS = EXAMPLES / "requirements-elastic.txt"


def elastic_python(say: Say = print) -> Path:
    """The Python that has PaddlePaddle and a client for etcd."""
    paddle = paddle_python(say)
    lender = paddle.parents[1]
    # Whoever looks for a Python with PaddlePaddle does not come upon this one first.
    folder = lender.with_name(f"elastic-{lender.name}")
    wanted = hashlib.sha256((lender / STAMP).read_bytes() + REQUIREMENTS.read_bytes()).hexdigest()
    with lock(folder.parent / f".{folder.name}.lock", say):
        if not _is_current(folder, wanted):
            _make(paddle, folder, wanted, say)
    return folder / "bin" / "python"


def _is_current(folder: Path, wanted: str) -> bool:
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == wanted


def _make(paddle: Path, folder: Path, wanted: str, say: Say) -> None:
    """Builds beside the final place and renames, so that nobody ever sees half an environment."""
    partial = folder.with_name(f"{folder.name}.partial")
    python = str(partial / "bin" / "python")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        say(f"Making a Python environment for elastic jobs in {folder} (once; 50 MB)")
        run([str(paddle), "-m", "venv", str(partial)], "making the environment", say)
        (borrowed,) = paddle.parents[1].glob("lib/python*/site-packages")
        (own,) = partial.glob("lib/python*/site-packages")
        (own / "borrowed.pth").write_text(f"{borrowed}\n")
        # The client exists as source only; setuptools, which builds it, is borrowed too.
        how = ["--only-binary=:all:", "--no-binary=etcd3", "--no-build-isolation", "--require-hashes"]
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *how]
        run([*install, "-r", str(REQUIREMENTS)], "installing", say)
        run([python, "-c", "import etcd3, paddle"], "the first import", say)
        (partial / STAMP).write_text(wanted)
        put_in_place(folder, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def main() -> int:
    try:
        print(elastic_python(lambda line: print(line, flush=True)))
    except PaddleEnvironmentError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
