"""One word for each thing: whoever reads a name need not ask which of two is meant."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def test_no_two_classes_have_one_name() -> None:
    trees = (ast.parse(file.read_text()) for file in SOURCE.rglob("*.py"))
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
