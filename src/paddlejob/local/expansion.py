"""`$(VAR)` as Kubernetes expands it in commands, arguments and values: unknown names stay, `$$` is a dollar sign."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, known: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "$"
        return known.get(name, found[0])

    return _REFERENCE.sub(value, text)
