"""What cannot be started is said in a sentence that tells a person where to look and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from paddlejob.local.processes import NotStarted
from paddlejob.local.supervisor import program
from tests.local.supervisor_programs import Stage, a_stage


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as stage:
        yield stage


async def refusal(stage: Stage, id: str) -> tuple[int, str]:
    event = await stage.ended(id)
    assert isinstance(event, NotStarted)
    assert stage.about(id) == [event]
    return event.code, event.message.replace(str(stage.folder), "HERE")


async def test_a_program_that_is_nowhere_on_the_path(stage: Stage) -> None:
    code, message = await refusal(stage, stage.launch("pyhton", env={"PATH": "/usr/bin:/none"}))
    assert code == 127
    assert message == (
        "program not found: pyhton; looked in PATH=/usr/bin:/none. Install it, or give its whole path in command"
    )


async def test_a_program_without_any_path_to_look_on(stage: Stage) -> None:
    code, message = await refusal(stage, stage.launch("pyhton", env={}))
    assert code == 127
    assert f"env has no PATH, so looked in {os.defpath}" in message


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("./train.py", "program not found: ./train.py in HERE; correct command, or workingDir"),
        ("/none/train.py", "program not found: /none/train.py; correct command, or workingDir"),
    ],
)
async def test_a_file_that_does_not_exist(stage: Stage, program: str, said: str) -> None:
    assert await refusal(stage, stage.launch(program, cwd=str(stage.folder))) == (127, said)


async def test_no_command_at_all(stage: Stage) -> None:
    said = "there is no command to run: give command or args in the container"
    assert await refusal(stage, stage.launch()) == (127, said)
    assert await refusal(stage, stage.launch("", name="empty")) == (127, said)


async def test_a_script_whose_interpreter_is_missing(stage: Stage) -> None:
    script = stage.folder / "train"
    script.write_text("#!/opt/none/python9 -u\n")
    script.chmod(0o755)
    said = "HERE/train is there, but what its first line asks for is not: /opt/none/python9 -u"
    assert await refusal(stage, stage.launch(str(script))) == (127, said)


async def test_a_link_to_nowhere(stage: Stage) -> None:
    (stage.folder / "train").symlink_to("/none")
    code, message = await refusal(stage, stage.launch(f"{stage.folder}/train"))
    assert code == 127
    assert "a broken link" in message


async def test_a_file_that_is_not_executable(stage: Stage) -> None:
    (stage.folder / "train.py").touch(0o644)
    said = "HERE/train.py is not executable: chmod +x HERE/train.py, or run it with its interpreter, as in "
    assert await refusal(stage, stage.launch(f"{stage.folder}/train.py")) == (126, f"{said}`python HERE/train.py`")


async def test_a_directory_as_a_program(stage: Stage) -> None:
    said = "HERE is a directory, not a program: correct command"
    assert await refusal(stage, stage.launch(str(stage.folder))) == (126, said)


async def test_a_file_that_is_no_program(stage: Stage) -> None:
    (stage.folder / "train").write_bytes(b"\x7fELF nonsense")
    (stage.folder / "train").chmod(0o755)
    code, message = await refusal(stage, stage.launch("train", env={"PATH": str(stage.folder)}))
    assert code == 126
    assert message == "HERE/train cannot be run: it is built for another machine, or is a script without a #! line"


async def test_more_environment_than_the_system_takes(stage: Stage) -> None:
    code, message = await refusal(stage, stage.launch("true", "x" * 10_000_000))
    assert code == 126
    assert "too long" in message


async def test_a_zero_byte_in_an_argument(stage: Stage) -> None:
    code, message = await refusal(stage, stage.launch("true", "a\0b"))
    assert code == 126
    assert "null" in message


async def test_half_a_character_in_an_argument(stage: Stage) -> None:
    code, message = await refusal(stage, stage.launch("true", "\ud800"))
    assert code == 126
    assert "surrogates not allowed" in message


@pytest.mark.parametrize(
    ("cwd", "said"),
    [
        ("/none", "the working directory /none does not exist: make it, or change workingDir"),
        ("/dev/null", "the working directory /dev/null is not a directory: change workingDir"),
        ("x" * 300, f"cannot enter the working directory '{'x' * 300}': file name too long"),
    ],
)
async def test_a_working_directory_that_cannot_be_entered(stage: Stage, cwd: str, said: str) -> None:
    assert await refusal(stage, stage.launch("true", cwd=cwd)) == (128, said)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("/none/log", "cannot write the log /none/log: no such file or directory; its directory does not exist"),
        ("/", "cannot write the log /: is a directory; is it a path to a file?"),
        # Not even root makes a file there.
        ("/sys/log", "cannot write the log /sys/log: permission denied; you may not write there"),
        ("/dev/null/log", "cannot write the log /dev/null/log: not a directory; is it a path to a file?"),
    ],
)
async def test_a_log_that_cannot_be_written(stage: Stage, log: str, said: str) -> None:
    assert await refusal(stage, stage.launch("true", log=log)) == (128, said)


def test_a_directory_that_we_may_not_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may enter any: the kernel's refusal is played."""

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "chdir", refuse)
    with pytest.raises(program.Refused, match="you may not enter the working directory /closed"):
        program._enter("/closed")


def test_a_full_disk_is_noticed_before_the_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is the one thing here that cannot be had for a test without root."""
    full = os.statvfs_result((4096, 4096, 1000, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "fstatvfs", lambda _: full)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    with pytest.raises(program.Refused) as refused:
        program._redirect(str(tmp_path / "log"))
    assert refused.value.code == 128
    assert refused.value.message.endswith(f"log: {os.strerror(errno.ENOSPC).lower()}; make room on that disk")


async def test_after_a_refusal_the_next_one_runs(stage: Stage) -> None:
    await stage.ended(stage.launch("none"))
    assert (await stage.ended(stage.launch("true", name="next"))).code == 0
