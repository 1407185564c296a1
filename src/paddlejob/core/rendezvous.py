"""Where the workers of an elastic job meet: which etcd, under which keys, when to ask it, what to remove in the end.

A job names its etcd by an annotation or in its template; otherwise it uses the operator's. It must be an address.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from paddlejob.api import Job, Role, reasons, rules
from paddlejob.api.names import ANNOTATION_ETCD, PORT
from paddlejob.core.actions import AskEtcd, ForgetEtcd
from paddlejob.core.environment import environment_key, job_id
from paddlejob.core.intranet import is_foreign
from paddlejob.core.observe import Answer, Etcd, Observed
from paddlejob.core.ports import PORTS_PER_TRAINER
from paddlejob.core.reach import endpoint
from paddlejob.core.stalls import Stall
from paddlejob.core.template import Mapping, env_value
from paddlejob.core.times import after, moment

COMPLETED = "completed"
# Every change of the workers counts as a restart of the launcher. One that used them all up is started again by its
# kubelet, so more would only keep a broken program alive for longer.
MAX_RESTART = 20
# An etcd that is lost ends every launcher within seconds: people should learn why as fast.
PAUSE = timedelta(seconds=10)
PAUSE_AFTER_AN_ERROR = timedelta(seconds=3)
# The launchers' own words last as long; what is left then is a few bytes under an id that is never used again.
PAUSE_OF_FORGETTING = timedelta(seconds=5)
LONGEST_FORGETTING = 600
# Attempts whose keys are removed; a number that somebody else wrote into the status may be any.
MOST_FORGOTTEN = 100
# Of what somebody wrote in place of an address.
LONGEST_QUOTE = 100


def server(job: Job, etcd: Etcd) -> str:
    """ADDRESS:PORT as somebody wrote it; what the template says wins, for that is what Paddle will read."""
    given = env_value(_template(job), "PADDLE_MASTER") or job.metadata.annotations.get(ANNOTATION_ETCD) or etcd.server
    return _plain(given)


def meeting_stall(job: Job, etcd: Etcd) -> Stall | None:
    """Why the workers can never meet."""
    if not rules.ELASTIC_WITHOUT_SERVERS.holds(job.spec):  # only a v1beta1 CRD lets it pass
        return Stall(reasons.NOT_SUPPORTED, rules.ELASTIC_WITHOUT_SERVERS.message)
    if job.spec.network != "PodIP":
        asked = f"elastic with intranet: {job.spec.network}"
        return Stall(reasons.NOT_SUPPORTED, f"this release cannot run {asked} yet: remove it, or upgrade")
    where = server(job, etcd)
    if not where:
        return Stall(
            reasons.ETCD_MISSING,
            f"an elastic job needs an etcd: give its address in the annotation {ANNOTATION_ETCD},"
            " or start the operator with --etcd-server ADDRESS:PORT",
        )
    found = endpoint(where)
    if found is None:
        return Stall(
            reasons.ETCD_ADDRESS,
            f"etcd must be given as ADDRESS:PORT, such as 10.96.0.50:2379, not as {where[:LONGEST_QUOTE]}: host names"
            " do not work, because PaddlePaddle spoils those that begin with e, t, c or d",
        )
    why = etcd.reach.refusal(found[0])
    if why and where != _plain(etcd.server):
        return Stall(
            reasons.ETCD_NOT_ALLOWED,
            f"the operator does not talk to {found[0]} for a job ({why}): give an etcd at another address, or start the"
            f" operator with --allow-etcd-address {found[0]}",
        )
    return None


def etcd_stall(job: Job, observed: Observed) -> Stall | None:
    """Why nothing is heard from etcd at the moment."""
    last = last_answer(job, observed)
    if last is None or not last.error:
        return None
    advice = "check that etcd runs there without TLS or password, and that the network lets us reach it"
    return Stall(reasons.ETCD_UNREACHABLE, f"{last.error}: {advice}")


def bounds(job: Job) -> tuple[int, int]:
    """The least and the most workers."""
    return (job.spec.worker or Role()).bounds


def environment(job: Job, observed: Observed) -> dict[str, str] | None:
    """The ConfigMap's data; None while so few workers are placed that they could not train: none starts alone."""
    least, most = bounds(job)
    pods = [slot.pod for slot in observed.of_role("worker")]
    placed = [pod.status.pod_ip for pod in pods if pod and pod.status.pod_ip and not pod.deleting]
    if len(placed) < least or any(is_foreign(job, address) for address in placed):
        return None
    return {
        "PADDLE_MASTER": f"etcd://{server(job, observed.etcd)}",
        "PADDLE_NNODES": f"{least}:{most}",
        "PADDLE_ELASTIC_LEVEL": "1",
        "PADDLE_ELASTIC_TIMEOUT": "30",
        "PADDLE_MAX_RESTART": str(MAX_RESTART),
        "PADDLE_SORT_IP": "1",
        "PADDLE_PORT": str(PORT),
        "TRAINER_PORTS_NUM": str(PORTS_PER_TRAINER),
        environment_key(job): str(job.status.attempt),
    }


def meeting_id(job: Job) -> str:
    return env_value(_template(job), "PADDLE_JOB_ID") or job_id(job)


def last_answer(job: Job, observed: Observed) -> Answer | None:
    """The last answer, if it is about this attempt."""
    last = observed.etcd.answer
    return last if last is not None and last.id == meeting_id(job) else None


def ask(job: Job, observed: Observed, exited: tuple[str, ...], now: datetime) -> tuple[AskEtcd, ...]:
    """A question, when it is time for one or a worker has exited that no answer judges yet."""
    last, at = last_answer(job, observed), next_question(job, observed)
    answered = last is not None and (last.error or last.exited.issuperset(exited))
    if answered and at is not None and now < at:
        return ()
    return (AskEtcd(server(job, observed.etcd), meeting_id(job), exited),)


def next_question(job: Job, observed: Observed) -> datetime | None:
    last = last_answer(job, observed)
    return None if last is None else last.at + (PAUSE_AFTER_AN_ERROR if last.error else PAUSE)


def forget(job: Job, etcd: Etcd) -> ForgetEtcd | None:
    """Of the last attempts: exact keys, and prefixes that end where an id ends, for one id may begin like another.

    Only ids that we made. One that a user chose may be another job's, or hold all of them, such as `paddle`.
    """
    if env_value(_template(job), "PADDLE_JOB_ID"):
        return None
    last = job.status.attempt
    ids = [job_id(job, attempt) for attempt in range(max(0, last + 1 - MOST_FORGOTTEN), last + 1)]
    if not ids:
        return None
    return ForgetEtcd(
        server(job, etcd),
        tuple(f"/paddle/{id_}" for id_ in ids),
        tuple(prefix for id_ in ids for prefix in (f"/paddle/{id_}/", f"/{id_}/")),
    )


def forgetting_ends(job: Job) -> datetime:
    return after(moment(job.status.completion_time or ""), LONGEST_FORGETTING)


def _plain(given: str) -> str:
    return given.removeprefix("etcd://").removeprefix("http://").rstrip("/")


def _template(job: Job) -> Mapping:
    return job.spec.worker.template if job.spec.worker else {}
