"""Which Python runs a job: the first that has PaddlePaddle, wherever it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paddlejob.local.interpreter import find_python, named_python
from tests.local.workbench import Workbench, a_role


def a_python(folder: Path, *, paddle: bool, name: str = "python") -> Path:
    """A stand-in that answers the one question it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {0 if paddle else 1}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_the_one_that_the_user_names_comes_first(tmp_path: Path, env: dict[str, str]) -> None:
    named = a_python(tmp_path / "mine", paddle=False)
    assert named_python({**env, "PADDLEJOB_PYTHON": str(named)}, None) == named
    flagged = a_python(tmp_path / "flagged", paddle=False)
    assert named_python({**env, "PADDLEJOB_PYTHON": str(named)}, str(flagged)) == flagged
    assert named_python(env, None) is None


def test_the_one_on_the_path_is_taken_if_it_has_paddle(tmp_path: Path, env: dict[str, str]) -> None:
    a_python(tmp_path / "bin", paddle=False)
    other = a_python(tmp_path / "bin", paddle=True, name="python3")
    assert find_python(env) == other


def test_the_one_of_the_demo_is_found_in_the_cache(tmp_path: Path, env: dict[str, str]) -> None:
    a_python(tmp_path / "bin", paddle=False)
    cached = a_python(tmp_path / "cache" / "paddle-operator" / "paddle-2.6.2-py3.11" / "bin", paddle=True)
    assert find_python(env) == cached


def test_an_elastic_job_gets_one_that_can_talk_to_etcd(tmp_path: Path, env: dict[str, str]) -> None:
    cache = tmp_path / "cache" / "paddle-operator"
    plain = a_python(cache / "paddle-2.6.2-py3.11" / "bin", paddle=True)
    plain.write_text('#!/bin/sh\ncase "$2" in *etcd3*) exit 1;; esac\n')
    elastic = a_python(cache / "elastic-paddle-2.6.2-py3.11" / "bin", paddle=True)
    assert find_python(env) == plain
    assert find_python(env, elastic=True) == elastic


FOUND: dict[str, tuple[str, bool]] = {"PaddlePaddle": ("base", True), "only our own paddle.job": ("job", False)}


@pytest.mark.parametrize("case", FOUND)
def test_paddle_is_told_by_its_files_and_never_imported(tmp_path: Path, env: dict[str, str], case: str) -> None:
    """Its import takes seconds, on a busy machine so many that it was taken for missing."""
    part, is_paddle = FOUND[case]
    (tmp_path / "site" / "paddle" / part).mkdir(parents=True)
    (tmp_path / "site" / "paddle" / "__init__.py").write_text("raise SystemExit('imported')")
    python = a_python(tmp_path / "bin", paddle=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/site" exec "{sys.executable}" "$@"\n')
    assert find_python(env) == (python if is_paddle else None)


def test_when_there_is_none_the_user_is_told_how_to_get_one_and_the_job_runs_on(bench: Workbench) -> None:
    a_python(bench.folder / "bin", paddle=False)
    bench.env |= {"PATH": f"{bench.folder / 'bin'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(bench.folder)}
    bench.env.pop("PADDLEJOB_PYTHON", None)
    (bench.folder / "bin" / "python3").symlink_to("python")
    done = bench.paddlejob("run", bench.write("plain", worker=a_role(1, "sh", "-c", "echo no python here")))
    assert "no Python with PaddlePaddle was found" in done.stdout
    assert "pip install paddlepaddle==2.6.2" in done.stdout
    assert done.returncode == 0
