"""What is said of a job and of its pods wherever they are shown: in a terminal, in a notebook, on the page.

Owns the words and sentences, not how they look.
"""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from paddlejob.api import reasons
from paddlejob.core.pauses import learned_budget
from paddlejob.core.times import moment

if TYPE_CHECKING:
    from paddlejob.api import Job, Progress
    from paddlejob.core.children import Pod
    from paddlejob.places.place import Found, Json


def why(found: Found) -> str:
    """Why the job is as it is: why it waits, restarts or failed."""
    status = found.job.status
    reason = "" if status.reason in status.message else f"{status.reason}: "
    return found.why or f"{reason}{status.message}{upcoming(found.job)}" or unseen(found.job)


def upcoming(job: Job) -> str:
    """When a job that failed starts again, the whole of it or a single pod."""
    at = job.status.next_attempt_time
    seconds = math.ceil((moment(at) - datetime.now(timezone.utc)).total_seconds()) if at else 0
    if seconds <= 0:
        return ""
    return (
        f"; starts again in {seconds} s (restart {job.status.restarts + job.status.hangs} of {job.spec.backoff_limit})"
    )


def unseen(job: Job) -> str:
    """A job without a status: nobody takes care of it."""
    if job.status.phase is not None:
        return ""
    since = age(job.metadata.creation_timestamp or "")
    return f"no operator has picked it up in {since}: is one installed? `paddlejob install` installs it"


def mode(job: Job) -> str:
    return job.status.mode or (job.spec.mode if job.spec.roles else "")


def far(progress: Progress) -> str:
    """How far it is, in one line."""
    steps = "" if progress.step is None else f"step {progress.step}"
    if steps and progress.total is not None:
        steps += f" of {progress.total}"
    said = (
        progress.summary if progress.summary != steps else "",
        steps,
        "" if progress.epoch is None else f"epoch {progress.epoch}",
        "" if progress.loss is None else f"loss {progress.loss:.4g}",
        *(f"{name} {value:.4g}" for name, value in progress.metrics.items()),
        pace(progress),
        left(progress) and f"{left(progress)} left",
    )
    return ", ".join(one for one in said if one)


def pace(progress: Progress) -> str:
    """Steps that take long are told by their time."""
    if not progress.speed:
        return ""
    return f"{progress.speed:.3g} steps/s" if progress.speed >= 1 else f"{1 / progress.speed:.3g} s/step"


def left(progress: Progress) -> str:
    """How long it still takes, if it goes on like this."""
    if progress.eta is None:
        return ""
    return span((moment(progress.eta) - datetime.now(timezone.utc)).total_seconds())


def age(since: str) -> str:
    return span((datetime.now(timezone.utc) - moment(since)).total_seconds()) if since else ""


def span(time: float) -> str:
    """As kubectl writes it: 45s, 4m4s, 3h12m, 2d4h."""
    seconds = max(0, int(time))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 2:
        return f"{seconds}s"
    if hours < 3:
        return f"{minutes}m{seconds % 60}s" if minutes < 10 else f"{minutes}m"
    return f"{hours}h{minutes % 60}m" if days < 2 else f"{days}d{hours % 24}h"


def patience(job: Job) -> str:
    """How long the job may stand still before it is told to hang, and what follows."""
    asked, known = job.spec.hang, job.status.hang
    if asked is None and known is None:
        return ""
    then = "restarts it" if asked is not None and asked.action == "Restart" else "says so"
    if asked is not None and asked.after_seconds is not None:
        return f"{then} when nothing has moved for {span(asked.after_seconds)}"
    if known is None or not known.longest_pause:
        return f"{then} when nothing moves; after how long is not known before some steps were read"
    longest, budget = span(known.longest_pause), span(learned_budget(known.longest_pause))
    return f"{then} when nothing has moved for {budget} (the longest pause so far was {longest})"


def pod_word(pod: Pod) -> str:
    """The one word that says most about a pod."""
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


def document(found: Found) -> Json:
    """The object itself, as an API server would show it."""
    if found.document is not None:
        return found.document
    import msgspec  # noqa: PLC0415 - only who asks for the object needs it

    from paddlejob.api.status import as_json  # noqa: PLC0415 - likewise

    return {**msgspec.to_builtins(found.job), "status": as_json(found.job.status)}


def without_managed_fields(one: Json) -> Json:
    meta = {key: value for key, value in one["metadata"].items() if key != "managedFields"}
    return {**one, "metadata": meta}


def as_yaml(*objects: object, unicode: bool = False) -> str:
    """`unicode`: characters beyond ASCII as they are, for whoever can show them."""
    import yaml  # noqa: PLC0415 - only yaml is written by it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(
        yaml.dump_all(
            objects, Dumper=dumper, sort_keys=False, width=10**6, default_flow_style=False, allow_unicode=unicode
        )
    )
