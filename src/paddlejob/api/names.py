"""Every name that users and other programs see: group, labels, annotations, and how children are called.

Names are functions of the job alone, so that a repeated create meets the object it made before.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

GROUP = "batch.paddlepaddle.org"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "PaddleJob"
PLURAL = "paddlejobs"
SINGULAR = "paddlejob"
SHORT_NAME = "pdj"

RoleName = Literal["ps", "worker", "heter"]
ROLES: tuple[RoleName, ...] = get_args(RoleName)
ROLE_WORDS: dict[RoleName, str] = {"ps": "parameter servers", "worker": "trainers", "heter": "heterogeneous workers"}

# Labels on pods and services. The first two are those of the user's documents.
LABEL_RES_NAME = "paddle-res-name"
LABEL_RES_TYPE = "paddle-res-type"
LABEL_JOB = f"{GROUP}/job-name"
LABEL_INDEX = f"{GROUP}/index"
LABEL_ATTEMPT = f"{GROUP}/attempt"
# On a pod that the job owns and that was made for no attempt that we know.
NO_ATTEMPT = "none"

ANNOTATION_ROLE = "paddle-resource"
# Touched on a pod as soon as its environment exists: the kubelet looks again at once.
ANNOTATION_ENVIRONMENT = f"{GROUP}/environment"

# On a pod whose training container is not named paddle: its name, for a webhook may put others before it.
ANNOTATION_CONTAINER = f"{GROUP}/container"

# On a job whose pods share addresses: the first port of the block that is reserved for it.
ANNOTATION_PORTS = f"{GROUP}/ports"

# On an elastic job: the etcd where its workers meet, ADDRESS:PORT.
ANNOTATION_ETCD = f"{GROUP}/etcd-server"

# On a pod that another operator made and that runs on under this one.
ANNOTATION_ADOPTED = f"{GROUP}/adopted"

# paddle-operator 0.3 puts it on every job, and without that operator no job could be deleted.
FINALIZER_OF_0_3 = "finalizers.paddlepaddle.org"

# On what the SDK made for one job, beside it: somebody else's object of that name is never touched.
ANNOTATION_PART_OF = f"{GROUP}/part-of"

# How pods tell their scheduler which group they belong to: Volcano, the coscheduling plugin, Kueue.
ANNOTATION_GROUP = "scheduling.k8s.io/group-name"
LABEL_GROUP = "scheduling.x-k8s.io/pod-group"
KUEUE = "kueue.x-k8s.io"
LABEL_QUEUE = f"{KUEUE}/queue-name"
LABEL_KUEUE_PRIORITY = f"{KUEUE}/priority-class"
KUEUE_POD_SET = f"{KUEUE}/podset-"
LABEL_KUEUE_GROUP = f"{KUEUE}/pod-group-name"

# Under spec.managedBy: this operator.
OPERATOR = f"{GROUP}/paddle-operator"

CONTAINER = "paddle"
SHARED_MEMORY = "/dev/shm"
SHARED_MEMORY_VOLUME = "paddle-shared-memory"
PORT = 2379
LONGEST_NAME = 63
LABEL = f"use at most {LONGEST_NAME} lower-case letters, digits and '-'"
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def is_label(name: str) -> bool:
    """Whether a namespace can have this name: a label of DNS."""
    return len(name) <= LONGEST_NAME and _LABEL.fullmatch(name) is not None


def pod_name(job: str, role: RoleName, index: int) -> str:
    return f"{job}-{role}-{index}"


def index_in(pod: str, job: str, role: RoleName) -> int | None:
    """The index in the name of a pod; None if the job has no pod of that role and name."""
    text = pod.rpartition("-")[2]
    index = int(text) if text.isascii() and text.isdecimal() else 0
    return index if pod == pod_name(job, role, index) else None


def service_host(pod: str, namespace: str) -> str:
    """The name of a pod's own Service. It holds a dot: with short names Paddle's launcher waits for ever."""
    return f"{pod}.{namespace}.svc"
