"""The manifests of the user's documents, by name (tests/api/seeds holds them as they were written)."""

from __future__ import annotations

from pathlib import Path

SEEDS = Path(__file__).parents[1] / "api" / "seeds"

NAMES = {
    "user guide: wide and deep": "000-1-paddlejob-wide-ande-deep.yaml",
    "user guide: resnet": "000-2-paddlejob-resnet.yaml",
    "user guide: gpu and node selector": "000-5-paddlejob-wide-ande-deep.yaml",
}


def document(name: str) -> str:
    return (SEEDS / NAMES[name]).read_text()
