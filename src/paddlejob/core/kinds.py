"""The table of what a job owns, in the order in which it is made."""

from __future__ import annotations

from typing import Any

from paddlejob.core.children import KindName
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.kind import Kind
from paddlejob.core.pods import PODS
from paddlejob.core.services import SERVICES

KINDS: tuple[Kind[Any], ...] = (CONFIG_MAPS, SERVICES, PODS)
BY_NAME: dict[KindName, Kind[Any]] = {kind.name: kind for kind in KINDS}
