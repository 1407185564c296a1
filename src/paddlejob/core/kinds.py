"""The table of what a job owns, in the order in which it is made."""

from __future__ import annotations

from typing import Any

from paddlejob.core.children import KindName
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.kind import Kind
from paddlejob.core.pod_groups import POD_GROUPS
from paddlejob.core.pods import PODS
from paddlejob.core.services import SERVICES
from paddlejob.core.workloads import WORKLOADS

# Every API server has these.
BUILT_IN: tuple[Kind[Any], ...] = (CONFIG_MAPS, SERVICES, PODS)
# These come with a scheduler.
GROUP_KINDS: tuple[Kind[Any], ...] = (*POD_GROUPS, WORKLOADS)
KINDS: tuple[Kind[Any], ...] = (*GROUP_KINDS, *BUILT_IN)
BY_NAME: dict[KindName, Kind[Any]] = {kind.name: kind for kind in KINDS}
