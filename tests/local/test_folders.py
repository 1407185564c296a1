"""A job's folder: no namespace and no name ever leads out of where folders are, by no command and no call."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from paddlejob import PaddleJob, errors
from paddlejob.errors import Invalid
from paddlejob.local.state import Folder, LastStates, State
from tests.builders import a_job
from tests.local.workbench import Workbench, a_role

STRAY = ("../x", "..", ".", "", "a/b", "/tmp", "A", "a.b", "-a", "a-", "*", "a\n", "a" * 64, "a\0", "[a]")


@pytest.mark.parametrize("said", STRAY)
def test_only_a_dns_label_becomes_a_folder(tmp_path: Path, said: str) -> None:
    for pair in ((said, "name"), ("namespace", said)):
        with pytest.raises(Invalid, match="lower-case letters, digits and '-'"):
            Folder.of(tmp_path, *pair)


@pytest.fixture
def treasure(bench: Workbench) -> Path:
    """A file in a folder that `namespace: ../../x` would name."""
    path = bench.folder / "x" / "job" / "treasure"
    path.parent.mkdir(parents=True)
    path.write_text("gold")
    bench.state_root.mkdir(parents=True)
    return path


def a_stray_file(bench: Workbench) -> Path:
    path = bench.write("job", worker=a_role(1, "true"))
    job = yaml.safe_load(path.read_text())
    job["metadata"]["namespace"] = "../../x"
    path.write_text(yaml.safe_dump(job))
    return path


COMMANDS: dict[str, Callable[[Workbench], tuple[str | Path, ...]]] = {
    "run": lambda bench: ("run", a_stray_file(bench)),
    "logs": lambda _: ("logs", "job", "--local", "-n", "../../x"),
    "describe": lambda _: ("describe", "job", "--local", "-n", "../../x"),
    "delete": lambda _: ("delete", "job", "--local", "-n", "../../x"),
    "list": lambda _: ("list", "--local", "-n", "../../x"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_a_namespace_that_leads_elsewhere(bench: Workbench, treasure: Path, command: str) -> None:
    done = bench.paddlejob(*COMMANDS[command](bench))
    assert (done.returncode, "../../x" in done.stderr) == (2, True), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert treasure.read_text() == "gold"


def test_python_refuses_a_namespace_or_name_that_leads_elsewhere(
    bench: Workbench, treasure: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", bench.env["XDG_STATE_HOME"])
    for asked in (("job", "../../x"), ("../x/job", "default")):
        with pytest.raises(errors.Invalid, match=re.escape("../")):
            PaddleJob.get(*asked, local=True)
    with pytest.raises(ValueError, match=re.escape("../../x")):
        PaddleJob.from_yaml(a_stray_file(bench))
    assert treasure.read_text() == "gold"


DAMAGED = {"empty": b"", "cut": b'{"job":{', "of another version": b'{"state":2}', "no text": b'{"file":"\xff"}'}


FOREIGN = b'{"job":{"spec":{"worker":5}},"pid":0,"start_time":null,"ended":true}'


@pytest.mark.parametrize("damage", [*DAMAGED, "of a job that cannot be read"])
def test_a_state_that_cannot_be_read_is_told_hides_no_other_job_and_its_name_is_free(
    bench: Workbench, damage: str
) -> None:
    folder = Folder.of(bench.state_root, "default", "bad")
    assert bench.paddlejob("run", bench.write("good", worker=a_role(1, "true"))).returncode == 0
    folder.path.mkdir()
    (folder.path / "state.json").write_bytes(DAMAGED.get(damage, FOREIGN))
    listed = bench.paddlejob("list", "--local")
    assert [line.split()[:2] for line in listed.stdout.splitlines()[1:]] == [
        ["bad", "Unreadable"],
        ["good", "Completed"],
    ]
    page = bench.paddlejob("describe", "bad", "--local")
    assert "state.json cannot be read" in page.stdout, page.stderr
    assert bench.paddlejob("run", bench.write("bad", worker=a_role(1, "true"))).returncode == 0
    (folder.path / "state.json").write_bytes(DAMAGED.get(damage, FOREIGN))
    gone = bench.paddlejob("delete", "bad", "--local")
    assert (gone.returncode, folder.path.exists()) == (0, False), gone.stderr


def test_a_phase_of_another_version_hides_nothing_of_a_job(bench: Workbench) -> None:
    assert bench.paddlejob("run", bench.write("good", worker=a_role(1, "true"))).returncode == 0
    file = Folder.of(bench.state_root, "default", "good").path / "state.json"
    file.write_bytes(file.read_bytes().replace(b'"phase":"Completed"', b'"phase":"Succeed"'))
    assert "Status:     Completed" in bench.paddlejob("describe", "good", "--local").stdout
    assert bench.paddlejob("delete", "good", "--local").returncode == 0


def test_who_looks_again_reads_what_was_written_meanwhile_and_nothing_else(tmp_path: Path) -> None:
    def state(pid: int) -> State:
        return State(job=a_job().build(), file="", pid=pid, start_time=None, ended=True)

    folder, reader = Folder(tmp_path), LastStates()
    assert reader.read(folder) is None
    folder.write(state(1))
    first = reader.read(folder)
    assert first == state(1)
    assert reader.read(folder) is first
    folder.write(state(2))
    second = reader.read(folder)
    assert second == state(2)
    reader.forget_others(set())
    assert reader.read(folder) is not second
    (tmp_path / "state.json").unlink()
    assert reader.read(folder) is None
