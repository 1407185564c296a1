"""The kinds of objects the operator deals with: where they live, and the types they are read into."""

from __future__ import annotations

from typing import Any

import msgspec

from paddlejob.api import ObjectMeta, PaddleJob
from paddlejob.api.names import GROUP, PLURAL, VERSION
from paddlejob.core import ConfigMap, Pod, Service
from paddlejob.core.observe import Kind
from paddlejob.kube.objects import Resource


class Event(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


JOBS = Resource(GROUP, VERSION, PLURAL, PaddleJob)
PODS = Resource("", "v1", "pods", Pod)
SERVICES = Resource("", "v1", "services", Service)
CONFIG_MAPS = Resource("", "v1", "configmaps", ConfigMap)
EVENTS = Resource("events.k8s.io", "v1", "events", Event)

Child = Pod | Service | ConfigMap
CHILDREN: dict[Kind, Resource[Any]] = {
    "Pod": PODS,
    "Service": SERVICES,
    "ConfigMap": CONFIG_MAPS,
}
