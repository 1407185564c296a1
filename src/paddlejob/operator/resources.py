"""The kinds of objects the operator deals with: where they live, and the types they are read into."""

from __future__ import annotations

from typing import Any

import msgspec

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.names import GROUP, PLURAL, VERSION
from paddlejob.api.stored import mended_json
from paddlejob.core import KINDS, Pod
from paddlejob.core.children import KindName
from paddlejob.kube.objects import Resource


class Regarding(msgspec.Struct, frozen=True):
    uid: str = ""


class Series(msgspec.Struct, frozen=True, rename="camel"):
    last_observed_time: str | None = None


class KubeEvent(msgspec.Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta = ObjectMeta()
    reason: str = ""
    note: str = ""
    regarding: Regarding = Regarding()
    event_time: str | None = None
    series: Series | None = None
    deprecated_last_timestamp: str | None = None

    @property
    def last_seen(self) -> str:
        """Kubelets use the older fields, newer programs the others."""
        repeated = self.series.last_observed_time if self.series else None
        return repeated or self.deprecated_last_timestamp or self.event_time or self.metadata.creation_timestamp or ""


JOBS = Resource(GROUP, VERSION, PLURAL, Job, mend=mended_json)
EVENTS = Resource("events.k8s.io", "v1", "events", KubeEvent)

CHILDREN: dict[KindName, Resource[Any]] = {
    kind.name: Resource(kind.group, kind.version, kind.plural, kind.type) for kind in KINDS
}
PODS: Resource[Pod] = CHILDREN[Pod.kind]
