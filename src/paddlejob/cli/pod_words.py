"""Pods in a word or two."""

from __future__ import annotations

from paddlejob.api import reasons
from paddlejob.cli.output import age
from paddlejob.core.children import Pod


def pod_word(pod: Pod) -> str:
    """The one word that tells most about a pod."""
    for one in pod.containers:
        if one.state.waiting and one.state.waiting.reason not in ("", reasons.CONTAINER_CREATING):
            return one.state.waiting.reason
        if one.state.terminated and one.state.terminated.exit_code:
            return f"exit {one.state.terminated.exit_code}"
    return "stopping" if pod.deleting else pod.state


def restarts(pod: Pod) -> int:
    return sum(one.restart_count for one in pod.containers)


def uptime(pod: Pod) -> str:
    starts = [one.state.running.started_at for one in pod.containers if one.state.running]
    first = min((one for one in starts if one), default=None)
    return "" if first is None else age(first)
