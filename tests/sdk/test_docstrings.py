"""The examples in the docstrings of the SDK are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import paddlejob.sdk

MODULES = [one.name for one in pkgutil.iter_modules(paddlejob.sdk.__path__, "paddlejob.sdk.")]


def examples(module: str) -> int:
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    return sum(len(one.examples) for one in found)


@pytest.mark.parametrize("module", [one for one in MODULES if examples(one)])
def test_the_examples_of_a_module(module: str, at_home: Path) -> None:
    assert at_home.exists()
    done = doctest.testmod(importlib.import_module(module))
    assert done.failed == 0
    assert done.attempted == examples(module)


def test_the_main_classes_have_examples() -> None:
    assert {"paddlejob.sdk.job", "paddlejob.sdk.aio", "paddlejob.sdk.written"} <= {
        one for one in MODULES if examples(one)
    }
