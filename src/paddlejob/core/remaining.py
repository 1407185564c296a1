"""Pods that were deleted and do not go: their kubelet does not answer, or a finalizer holds them.

Whatever they were deleted for waits for them: a restart, a suspension, fewer workers, clean-up after the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from paddlejob.api import reasons
from paddlejob.core.children import Pod
from paddlejob.core.observe import Observed
from paddlejob.core.stalls import Stall
from paddlejob.core.times import moment

# How long after its grace period a pod may still be there before somebody should look.
PATIENCE = timedelta(seconds=30)


def remaining_stall(observed: Observed, now: datetime) -> Stall | None:
    late = [pod for at, pod in _overdue(observed) if now >= at]
    if not late:
        return None
    pod = min(late, key=lambda pod: pod.metadata.name)
    where = f" on node {pod.spec.node_name}" if pod.spec.node_name else ""
    text = (
        f"{len(late)} pods were deleted and are still there: {pod.metadata.name}{where}: if the node is lost for"
        " good, delete the Node, or force-delete the pod; otherwise look for a finalizer"
    )
    return Stall(reasons.PODS_REMAIN, text)


def remaining_stalls_at(observed: Observed, now: datetime) -> datetime | None:
    """When it is time to call the next pod a stall."""
    return min((at for at, _ in _overdue(observed) if now < at), default=None)


def _overdue(observed: Observed) -> Iterator[tuple[datetime, Pod]]:
    """Deleted pods, and when each should be gone at the latest."""
    for pod in observed.pods:
        if at := pod.metadata.deletion_timestamp:
            yield moment(at) + PATIENCE, pod
