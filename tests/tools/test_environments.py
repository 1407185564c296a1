"""Every Python environment holds what is pinned with a hash, and nothing else."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tools.environments import ALL, LARGE, python_of
from tools.installer import ROOT, TOOLS, Recipe

PIN = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)(?:\s*;\s*(.*?))?\s*((?:\\?\s*--hash=sha256:[0-9a-f]{64}\s*)*)$"
)
# The test of the demo makes its environment anew, in a folder of its own.
MADE = [name for name in ALL if name != "demo" and name not in LARGE]
PINS = sorted(
    {
        *ROOT.glob("requirements*.txt"),
        *(ROOT / "examples").glob("requirements*.txt"),
        *(ROOT / "tests" / "training" / "requirements").iterdir(),
        ROOT / "tests" / "ui" / "requirements.txt",
    }
)


def lines(pins: Path) -> list[str]:
    """One line per requirement, its hashes with it, without comments."""
    text = re.sub(r"^\s*#.*\n?", "", pins.read_text(), flags=re.MULTILINE)
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def pinned(recipe: Recipe) -> dict[str, str | None]:
    """Name and version to the marker that says when it is installed, of all that this environment is made from."""
    files = [*recipe.pins, *([recipe.sources] if recipe.sources else [])]
    found = {}
    for line in (line for file in files for line in lines(file)):
        match = PIN.match(line)
        assert match, line
        found[f"{_normal(match[1])}=={match[2]}"] = match[3]
    return found | (pinned(recipe.copy_of) if recipe.copy_of else {})


def held(environment: Path) -> set[str]:
    (packages,) = environment.glob("lib/python*/site-packages")
    return {f"{_normal(one.name)}=={one.version}" for one in distributions(path=[str(packages)])}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("pins", PINS, ids=lambda pins: pins.name)
def test_every_pin_is_one_version_with_its_hashes(pins: Path) -> None:
    assert lines(pins)
    wrong = [line for line in lines(pins) if not (match := PIN.match(line)) or "--hash" not in match[4]]
    assert not wrong


def test_every_environment_is_made_from_those_files() -> None:
    recipes = [make() for make in ALL.values()]
    used = {TOOLS, *(pins for recipe in recipes for pins in recipe.pins)}
    used |= {recipe.sources for recipe in recipes if recipe.sources}
    assert used == set(PINS)


@pytest.mark.paddle
@pytest.mark.parametrize("name", MADE)
@pytest.mark.timeout(600)
def test_an_environment_holds_its_pins_and_nothing_else(name: str) -> None:
    recipe = ALL[name]()
    python_of(name)
    holds, wanted = held(recipe.folder), pinned(recipe)
    own = {one for one in holds if recipe.project and one.startswith("paddle-operator==")}
    assert not (holds - own - set(wanted)), "not pinned"
    seen = holds | (held(recipe.borrows.folder) if recipe.borrows else set())
    assert not ({one for one, marker in wanted.items() if not marker} - seen), "not installed"


def test_only_the_installer_installs() -> None:
    """Whoever calls pip or venv elsewhere makes an environment that these tests do not see."""
    files = [ROOT / "Makefile", ROOT / ".ci" / "run"]
    files += [file for folder in ("tools", "tests", "bench") for file in (ROOT / folder).rglob("*.py")]
    calls = re.compile(r"""-m['", ]+(?:pip|venv|ensurepip)\b|bin/pip3?\b(?!-)|\bEnvBuilder\b""")
    calling = {str(file.relative_to(ROOT)) for file in files if calls.search(file.read_text())}
    talking = {str(Path(__file__).relative_to(ROOT)), "tests/sdk/test_build_docker.py"}  # of it, not calling
    assert calling - talking == {"tools/installer.py"}


def test_the_image_is_made_from_pins() -> None:
    installs = re.findall(r"pip (?:install|wheel) (.*?)(?: \\\n|\n)", (ROOT / "Dockerfile").read_text())
    assert len(installs) == 4
    for how in installs:
        pins = "--require-hashes" in how and "--only-binary=:all:" in how
        own = "--no-deps" in how and ("--no-index" in how or "--no-build-isolation" in how)
        assert pins or own, how
