"""Every reason that a job's status, its conditions and its events can have, and when.

A reason is one word for programs and for the table of `kubectl get`; the sentence beside it is for people. Those of
Kubernetes stand below, under its own names. docs/troubleshooting.md says what to do about each.
"""

from __future__ import annotations

# Stalls: what holds up a job that has not ended. In `status.reason`, in the condition Stalled and as an event.

SAMPLE_SET = "SampleSet"  # it refers to a SampleSet of paddle-operator 0.3, which nobody provides here
NOT_SUPPORTED = "NotSupported"  # the job combines fields that this release cannot run together
NO_WORKERS = "NoWorkers"  # it has no worker, which only a v1beta1 CRD accepts
NO_SERVERS = "NoServers"  # it has heter workers but no parameter servers; likewise
TOO_MANY_PODS = "TooManyPods"  # it asks for more pods than a job may have; likewise
NEVER_ENDS = "NeverEnds"  # its pods have restartPolicy Always; likewise
NO_PORTS = "NoPorts"  # on the host's network: no free block of ports is large enough
IPV6_ADDRESS = "IPv6Address"  # by address: a pod has one that PaddlePaddle cannot use
NAME_TAKEN = "NameTaken"  # an object with a name that the job needs exists, and is not the job's
QUOTA_EXCEEDED = "QuotaExceeded"  # a quota of the namespace refuses an object of the job
FORBIDDEN = "Forbidden"  # the API server or an admission policy forbids one, or forbids to change or delete one
INVALID = "Invalid"  # the API server calls one invalid, most often the pod template
WEBHOOK_FAILED = "WebhookFailed"  # an admission webhook that the API server must ask does not answer
SERVER_ERROR = "ServerError"  # the API server itself fails at an object of the job
IMAGE_PULL = "ImagePull"  # the image of a container cannot be pulled; the kubelet has several words for that
BACK_OFF = "BackOff"  # it waits for the time of its next attempt, and nothing says what ended the one before
PODS_REMAIN = "PodsRemain"  # a pod was deleted and is still there, long after its grace period
NOT_ADMITTED = "NotAdmitted"  # the queue of its gang has no room for it yet; the message has the scheduler's words
POD_GROUP_MISSING = "PodGroupMissing"  # its template names Volcano, and nobody has made its PodGroup
SCHEDULER_MISSING = "SchedulerMissing"  # it is to be placed by a scheduler that is not installed here
SCHEDULER_SILENT = "SchedulerSilent"  # the scheduler of its gang has said nothing of its pods
HANGING = "Hanging"  # its training has not moved for longer than its own steps make likely; also why it started again
ETCD_MISSING = "EtcdMissing"  # an elastic job, and neither it nor the operator names an etcd
ETCD_ADDRESS = "EtcdAddress"  # its etcd is not given as ADDRESS:PORT
ETCD_NOT_ALLOWED = "EtcdNotAllowed"  # its etcd is at an address to which the operator does not talk for a job
ETCD_UNREACHABLE = "EtcdUnreachable"  # its etcd did not answer the last question

# On this machine only: what a container waits for that no kubelet would know of. Shown with its pod.

NO_COMMAND = "NoCommand"  # the template relies on the entry point of its image
VOLUME_NOT_MAPPED = "VolumeNotMapped"  # no --volume says which folder to use
STOPPED = "Stopped"  # its runner was stopped before the job ended

# In place of a phase, where `paddlejob` shows a job, and as an event.

UNREADABLE = "Unreadable"  # what is stored of it does not have the shape of a PaddleJob

# Ends: why a job failed, or started again. In `status.reason` and `status.failure`.

POD_LOST = "PodLost"  # a pod of a running job is gone, and nothing says why
ADDRESS_CHANGED = "AddressChanged"  # a pod has another address than its peers were told
DEADLINE_EXCEEDED = "DeadlineExceeded"  # it did not complete within activeDeadlineSeconds
STARTING_DEADLINE_EXCEEDED = "StartingDeadlineExceeded"  # it was not running within startingDeadlineSeconds
OTHER_OPERATOR = "OtherOperator"  # an earlier operator wrote that it has ended, in words that are not ours
# Final phases of paddle-operator 0.3.5 that are none of ours, and those of ours that mean the same.
ENDS_OF_OTHERS = {"Succeed": "Completed", "Aborted": "Failed", "Terminated": "Failed"}
TOO_MANY_COMEBACKS = "TooManyComebacks"  # workers of an elastic job kept exiting and never completed

# Events that are not stalls: what happened to a job.

CREATED = "Created"  # its first pods are created, or the first ones after it was suspended
STARTED = "Started"  # all of its pods are running
RESTARTED = "Restarted"  # all of its pods are deleted and a new attempt begins
REPLACED = "Replaced"  # one worker is replaced, the others stay
SCALING = "Scaling"  # the number of workers of an elastic job is being changed
SUSPENDED = "Suspended"  # its pods are deleted because spec.suspend became true
LABELS_MISSING = "LabelsMissing"  # somebody removed labels from an object of the job; they are put back
ADOPTED = "Adopted"  # another operator made the pods of a job that has begun: they run on
UNKNOWN_POD = "UnknownPod"  # a pod of the job was not made for this attempt, nor labelled: it is deleted and made again
NODE_AVOIDED = "NodeAvoided"  # two attempts were in trouble on a node: new pods prefer others for a while
COMPLETED = "Completed"  # all workers have succeeded
FAILED = "Failed"  # it has ended in any other way; the message says how

# In conditions the reason is the phase, but for Stalled: there it is that of the stall, and this one afterwards.

PROGRESSING = "Progressing"  # what held up the job is over

# Kubernetes' own, read from pods and passed on as they are.

UNSCHEDULABLE = "Unschedulable"  # no node can take a pod
CREATE_CONTAINER_CONFIG_ERROR = "CreateContainerConfigError"  # a Secret or ConfigMap of the template is missing
CREATE_CONTAINER_ERROR = "CreateContainerError"  # a container cannot be made
RUN_CONTAINER_ERROR = "RunContainerError"  # a container cannot be started
CRASH_LOOP_BACK_OFF = "CrashLoopBackOff"  # a container ended, and the kubelet waits before it starts it again
CONTAINER_CREATING = "ContainerCreating"  # a container is about to start: nothing is wrong
POD_INITIALIZING = "PodInitializing"  # a container waits for the init containers before it: nothing is wrong
FAILED_MOUNT = "FailedMount"  # a volume of a pod cannot be mounted; from the pod's events, like the next ones
FAILED_ATTACH_VOLUME = "FailedAttachVolume"  # a volume cannot be attached to the pod's node
FAILED_MAP_VOLUME = "FailedMapVolume"  # a block device cannot be given to the pod
FAILED_CREATE_POD_SAND_BOX = "FailedCreatePodSandBox"  # a pod gets no network, or no place on its node otherwise
NETWORK_NOT_READY = "NetworkNotReady"  # the network of the pod's node is not ready
ERROR = "Error"  # a container exited with a code other than 0
START_ERROR = "StartError"  # a container's command could not be executed
EVICTED = "Evicted"  # the kubelet of a pod ended it: its node lacked something, or the pod exceeded its own limit

CONTAINER_STALLS = frozenset(
    {CREATE_CONTAINER_CONFIG_ERROR, CREATE_CONTAINER_ERROR, RUN_CONTAINER_ERROR, CRASH_LOOP_BACK_OFF}
)
# What only the events of a pod tell.
KUBELET_STALLS = frozenset(
    {FAILED_MOUNT, FAILED_ATTACH_VOLUME, FAILED_MAP_VOLUME, FAILED_CREATE_POD_SAND_BOX, NETWORK_NOT_READY}
)
# What only the events of a PodGroup tell, under Volcano.
GROUP_STALLS = frozenset({UNSCHEDULABLE})
# With these a status says nothing about why a container has not started.
SILENT = frozenset({CONTAINER_CREATING, POD_INITIALIZING, ""})
# What often passes by itself within a second.
PASSING = frozenset({WEBHOOK_FAILED, SERVER_ERROR})
# While an image cannot be pulled the kubelet alternates between these; a person needs one word: IMAGE_PULL.
IMAGE_STALLS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"}
)
# What a kubelet or a controller writes on a pod that it ends, or does not admit, because of its node. Another node, or
# the same one later, would take the pod. Beside each: where Kubernetes 1.34 says it, or where an older one did.
DISRUPTIONS = frozenset(
    {
        "NodeLost",  # pkg/util/node/node.go NodeUnreachablePodReason
        "NodeShutdown",  # pkg/kubelet/nodeshutdown NodeShutdownNotAdmittedReason
        "Terminated",  # pkg/kubelet/nodeshutdown nodeShutdownReason
        "Shutdown",  # the same, of older kubelets
        "Preempting",  # pkg/kubelet/preemption: events.PreemptContainer, for a critical pod
        "InvalidNodeInfo",  # pkg/kubelet/lifecycle/predicate.go, as the next three
        "UnexpectedAdmissionError",  # also pkg/kubelet/cm/admission, of device plugins
        "UnknownReason",
        "UnexpectedPredicateFailureType",
        "NodeAffinity",  # pkg/scheduler/eventhandlers.go AdmissionCheck, as the next two
        "NodeName",
        "NodePorts",
        "TaintToleration",  # pkg/kubelet/lifecycle/predicate.go generalFilter
        "MatchNodeSelector",  # pkg/scheduler/algorithm/predicates/error.go of older releases, as the next three
        "HostName",
        "PodFitsHostPorts",
        "PodToleratesNodeTaints",
        "TopologyAffinityError",  # pkg/kubelet/cm/topologymanager ErrorTopologyAffinity
        "VolumeAttachmentLimitExceeded",  # pkg/kubelet/volumemanager VolumeAttachmentLimitExceededReason
    }
)
# How reasons begin that name what a node lacked for a pod, such as OutOfmemory.
OUT_OF = "OutOf"  # pkg/kubelet/lifecycle/predicate.go InsufficientResourcePrefix
# Not among them is what no other node of its sort would admit either, because the template itself asks for it:
# AppArmor, SysctlForbidden, PodOSNotSupported, PodOSSelectorNodeLabelDoesNotMatch, PodLevelResourcesNotSupported,
# SupplementalGroupsPolicyNotSupported, InitContainerRestartPolicyForbidden, SMTAlignmentError; nor DeadlineExceeded
# of a pod, which is the template's activeDeadlineSeconds.

# With these a DisruptionTarget blames the node: k8s.io/api/core/v1 types.go and the taint eviction controller.
# It is not with PreemptionByScheduler and EvictionByEvictionAPI.
TARGETS_OF_NODES = frozenset({"DeletionByTaintManager", "DeletionByPodGC", "TerminationByKubelet"})

# An eviction is the node's doing, also where its words say that a container used more than it had requested (older
# kubelets: "which exceeds its request of"). These words say that the pod went beyond a limit of its own.
OWN_LIMITS = (
    "exceeded its local ephemeral storage limit",  # pkg/kubelet/eviction/helpers.go containerEphemeralStorageMessageFmt
    "usage exceeds the total limit",  # podEphemeralStorageMessageFmt
    "exceeds the limit",  # emptyDirMessageFmt
)

# How a container seems to have ended of which nobody knows how it ended, for its node was started again meanwhile:
# reason and exit code.
LOST_CONTAINERS = frozenset(
    {
        ("Unknown", 255),  # containerd, internal/cri/server/restart.go unknownContainerStatus
        ("ContainerStatusUnknown", 137),  # pkg/kubelet/container/runtime.go ContainerReasonStatusUnknown
    }
)
