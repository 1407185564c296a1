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


class KubeEvent(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


JOBS = Resource(GROUP, VERSION, PLURAL, Job, mend=mended_json)
EVENTS = Resource("events.k8s.io", "v1", "events", KubeEvent)

CHILDREN: dict[KindName, Resource[Any]] = {
    kind.name: Resource(kind.group, kind.version, kind.plural, kind.type) for kind in KINDS
}
PODS: Resource[Pod] = CHILDREN[Pod.__name__]
