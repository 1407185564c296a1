"""Help, completion and what a command loads: the example of every command is run, by name, by a test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from paddlejob.cli.main import COMMANDS
from tests.cli.person import Person

ROOT = Path(__file__).parents[2]


@pytest.fixture
def alone(tmp_path: Path) -> Person:
    return Person(tmp_path)


def example(person: Person, command: str) -> str:
    """The one example in a command's help."""
    text = " ".join(person.pipes(command, "--help").fine().out.split())
    (found,) = re.findall(r"Example: (paddlejob .*?) (?:Arguments|Parameters):", text)
    return str(found).strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example_of_it(alone: Person, command: str) -> None:
    assert example(alone, command).split()[1] == command


def test_help_loads_neither_http_nor_commands() -> None:
    code = (
        "import sys; from paddlejob.cli.main import the_app\n"
        "try: the_app()(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted(set(sys.modules) & {'aiohttp', 'asyncio', 'ssl', 'msgspec', 'yaml', 'paddlejob.api'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_list_of_this_machine_loads_no_http() -> None:
    code = (
        "import sys; from paddlejob.cli.main import the_app\n"
        "the_app()(['list', '--local'], result_action='return_value')\n"
        "print(sorted(set(sys.modules) & {'aiohttp', 'asyncio', 'yaml', 'structlog', 'prometheus_client'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def completes(script: str, words: str) -> list[str]:
    """What bash offers after these words."""
    typed = words.split(" ")
    ask = (
        f"{script}\nCOMP_WORDS=({' '.join(word or repr('') for word in typed)}); COMP_CWORD={len(typed) - 1}\n"
        f"COMP_LINE='{words}'; COMP_POINT={len(words)}; _paddlejob; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_flags_and_choices(alone: Person) -> None:
    script = alone.pipes("completion", "bash").fine().out
    assert set(completes(script, "paddlejob ")) >= set(COMMANDS)
    assert completes(script, "paddlejob desc") == ["describe"]
    assert {"--follow", "--role", "--tail"} <= set(completes(script, "paddlejob logs --"))
    assert set(completes(script, "paddlejob list -o ")) >= {"json", "yaml", "name", "wide"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_that_names_every_command(alone: Person, shell: str) -> None:
    script = alone.pipes("completion", shell).fine().out
    assert ("#compdef paddlejob" if shell == "zsh" else "complete -c paddlejob") in script
    assert not [command for command in COMMANDS if command not in script]


def test_kubectl_finds_the_plugin(alone: Person) -> None:
    scripts = (ROOT / "pyproject.toml").read_text()
    assert 'kubectl-paddlejob = "paddlejob.cli.main:main"' in scripts
    plugin = Path(sys.executable).parent / "kubectl-paddlejob"
    done = subprocess.run([plugin, "list", "--local"], env=alone.env, capture_output=True, text=True, check=True)
    assert "no jobs on this machine" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error(alone: Person) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{sys.executable}' -m paddlejob crd | head -n 1"],
        env=alone.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
