"""How to talk to Kubernetes: client, credentials, reflector, store, queue, lease.

Knows no PaddleJob: whoever uses it brings the types. It refuses to hide failures; it says what they are.
"""

from paddlejob.kube.client import Call, Client
from paddlejob.kube.config import ClusterConfig, load_config
from paddlejob.kube.events import Page, WatchEvent
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.lease import Election, LeaseDurations
from paddlejob.kube.objects import Key, Object, Resource, key_of
from paddlejob.kube.queue import WorkQueue
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Change, Store

__all__ = [
    "Call",
    "Change",
    "Client",
    "ClusterConfig",
    "Election",
    "FairLimiter",
    "Key",
    "LeaseDurations",
    "Object",
    "Page",
    "Reflector",
    "Resource",
    "Store",
    "WatchEvent",
    "WorkQueue",
    "key_of",
    "load_config",
]
