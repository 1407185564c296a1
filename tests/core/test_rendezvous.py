"""Where the workers of an elastic job meet: the etcd, the environment that leads to it, the questions, the keys."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api.names import ANNOTATION_ETCD
from paddlejob.core import Answer, AskEtcd, Create, Etcd, Observed, Pod, observe
from paddlejob.core.building import build
from paddlejob.core.environment import job_id
from paddlejob.core.pods import pod
from paddlejob.core.rendezvous import ask, environment, etcd_stall, forget, forgetting_ends, meeting_stall, server
from tests.builders import ETCD, NOW, JobBuilder, a_job, a_template, an_elastic_job, pods_of

JOB = an_elastic_job(workers=3)
ID = "team-train-8f432e67-0000"
ANSWER = Answer(ID, NOW, "running")


def variable(name: str, value: str) -> JobBuilder:
    return JOB.template(a_template(env=[{"name": name, "value": value}]))


SERVERS: dict[str, tuple[JobBuilder, str]] = {
    "its annotation": (JOB, ETCD),
    "the operator's": (JOB.annotated({}), "10.0.0.9:2379"),
    "what its template says, for that is what Paddle reads": (
        variable("PADDLE_MASTER", "etcd://10.1.1.1:1"),
        "10.1.1.1:1",
    ),
    "written as a URL": (JOB.annotated({ANNOTATION_ETCD: "http://10.1.1.1:1/"}), "10.1.1.1:1"),
}


@pytest.mark.parametrize(("job", "expected"), SERVERS.values(), ids=SERVERS)
def test_its_etcd_is(job: JobBuilder, expected: str) -> None:
    assert server(job.build(), Etcd("10.0.0.9:2379")) == expected


MEETING_STALLS: dict[str, tuple[str, str, str]] = {
    "an address": (ETCD, "", ""),
    "none at all": ("", "EtcdMissing", "annotation batch.paddlepaddle.org/etcd-server, or start the operator with"),
    "a host name": ("etcd.infra:2379", "EtcdAddress", "such as 10.96.0.50:2379, not as etcd.infra:2379"),
    "an address without a port": ("10.96.0.50", "EtcdAddress", "must be given as ADDRESS:PORT"),
    "an IPv6 address": ("[fd00::1]:2379", "EtcdAddress", "must be given as ADDRESS:PORT"),
    "a port in no digits we know": ("10.96.0.50:²", "EtcdAddress", "must be given as ADDRESS:PORT"),
}


@pytest.mark.parametrize(("given", "reason", "message"), MEETING_STALLS.values(), ids=MEETING_STALLS)
def test_workers_can_meet_only_at_an_address(given: str, reason: str, message: str) -> None:
    cause = meeting_stall(JOB.annotated({ANNOTATION_ETCD: given}).build(), Etcd())
    assert (cause.reason if cause else "") == reason
    assert message in (cause.message if cause else "")


def heard(answer: Answer | None) -> Observed:
    return observe(JOB.build(), etcd=Etcd(answer=answer))


def test_an_etcd_that_fails_is_a_stall() -> None:
    assert etcd_stall(JOB.build(), heard(None)) is None
    assert etcd_stall(JOB.build(), heard(ANSWER)) is None
    assert etcd_stall(JOB.build(), heard(Answer("another-id", NOW, error="gone"))) is None
    cause = etcd_stall(JOB.build(), heard(Answer(ID, NOW, error="etcd at 10.96.0.50:2379 cannot be reached")))
    assert cause is not None
    assert cause.reason == "EtcdUnreachable"
    assert cause.message.startswith("etcd at 10.96.0.50:2379 cannot be reached: check that")


SECONDS = timedelta(seconds=1)
QUESTIONS: dict[str, tuple[Answer | None, tuple[str, ...], timedelta, bool]] = {
    "at first": (None, (), 0 * SECONDS, True),
    "about another attempt": (Answer("team-train-8f432e67-0001", NOW), (), 0 * SECONDS, True),
    "right after an answer": (ANSWER, (), 9 * SECONDS, False),
    "after a while": (ANSWER, (), 10 * SECONDS, True),
    "a worker has exited since": (ANSWER, ("uid-1",), 0 * SECONDS, True),
    "that worker is judged": (replace(ANSWER, exited=frozenset({"uid-1"})), ("uid-1",), 9 * SECONDS, False),
    "another worker has exited": (replace(ANSWER, exited=frozenset({"uid-1"})), ("uid-2",), 0 * SECONDS, True),
    "after an error, at once": (Answer(ID, NOW, error="gone"), ("uid-1",), 2 * SECONDS, False),
    "after an error, soon": (Answer(ID, NOW, error="gone"), (), 3 * SECONDS, True),
}


@pytest.mark.parametrize(("answer", "exited", "later", "asks"), QUESTIONS.values(), ids=QUESTIONS)
def test_etcd_is_asked(answer: Answer | None, exited: tuple[str, ...], later: timedelta, asks: bool) -> None:
    asked = ask(JOB.build(), heard(answer), exited, NOW + later)
    assert asked == ((AskEtcd(ETCD, ID, exited),) if asks else ())


def test_the_user_may_choose_the_id() -> None:
    job = variable("PADDLE_JOB_ID", "mine").build()
    assert ask(job, observe(job), (), NOW) == (AskEtcd(ETCD, "mine"),)


def placed(*numbers: int) -> Observed:
    """Workers of these numbers have addresses, all are there."""
    there: list[Pod] = []
    for index, one in enumerate(pods_of(JOB.build()).values()):
        there.append((one if index in numbers else one.with_address("")).build())
    return observe(JOB.build(), there)


def test_no_worker_starts_before_as_many_are_placed_as_can_train() -> None:
    assert environment(JOB.build(), placed()) is None
    assert environment(JOB.build(), placed(2)) is None
    assert environment(JOB.build(), placed(0, 2)) == {
        "PADDLE_MASTER": f"etcd://{ETCD}",
        "PADDLE_NNODES": "2:4",
        "PADDLE_ELASTIC_LEVEL": "1",
        "PADDLE_ELASTIC_TIMEOUT": "30",
        "PADDLE_MAX_RESTART": "20",
        "PADDLE_SORT_IP": "1",
        "PADDLE_PORT": "2379",
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_JOB_ENVIRONMENT_8f432e67_0": "0",
    }


def test_without_bounds_all_workers_start_together_and_none_may_join() -> None:
    job = a_job().with_workers(3).asking(elastic=1).annotated({ANNOTATION_ETCD: ETCD}).build()
    two = environment(job, observe(job, [one.build() for one in [*pods_of(job).values()][:2]]))
    all_three = environment(job, observe(job, [one.build() for one in pods_of(job).values()]))
    assert two is None
    assert all_three is not None
    assert all_three["PADDLE_NNODES"] == "3:3"


def test_a_worker_that_is_going_away_does_not_count() -> None:
    job = JOB.build()
    there = [one.deleting().build() for one in pods_of(job).values()]
    assert environment(job, observe(job, there)) is None


def test_the_config_map_of_an_elastic_job_is_that_environment() -> None:
    (made,) = build(JOB.build(), placed(0, 1, 2), NOW)
    assert isinstance(made, Create)
    assert made.body["data"]["PADDLE_NNODES"] == "2:4"


def test_a_pod_has_neither_endpoints_nor_a_trainer_id() -> None:
    (container,) = pod(JOB.build(), observe(JOB.build()).slots[1])["spec"]["containers"]
    names = {one["name"] for one in container["env"]}
    kept = {"POD_IP", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PORT", "PADDLE_JOB_ID", "PADDLE_DISTRI_BACKEND"}
    assert names == {*kept, "PADDLE_JOB_ENVIRONMENT"}


def test_a_single_elastic_worker_is_collective_too() -> None:
    assert an_elastic_job(workers=1, least=1).build().spec.mode == "Collective"


def test_pods_come_back_in_place_and_have_time_to_stop_unless_the_user_says_otherwise() -> None:
    slot = observe(JOB.build()).slots[0]
    spec = pod(JOB.build(), slot)["spec"]
    assert (spec["restartPolicy"], spec["terminationGracePeriodSeconds"]) == ("OnFailure", 60)
    own = JOB.template(a_template({"restartPolicy": "Never", "terminationGracePeriodSeconds": 5})).build()
    spec = pod(own, slot)["spec"]
    assert (spec["restartPolicy"], spec["terminationGracePeriodSeconds"]) == ("Never", 5)


def test_the_keys_of_all_attempts_are_removed_and_no_others() -> None:
    removed = forget(JOB.with_status(attempt=1).build(), Etcd())
    assert removed is not None
    second = "team-train-8f432e67-0001"
    assert (removed.server, removed.keys) == (ETCD, (f"/paddle/{ID}", f"/paddle/{second}"))
    assert removed.prefixes == (f"/paddle/{ID}/", f"/{ID}/", f"/paddle/{second}/", f"/{second}/")
    others = [a_job().named(f"train{end}").with_uid("11111111").build() for end in ("", "-8f432e67", "-8f432e67-0000")]
    keys = [f"/paddle/{job_id(job, 0)}" for job in others] + [f"/{job_id(job, 0)}/info" for job in others]
    assert not [key for key in keys if key.startswith(removed.prefixes)]


@pytest.mark.parametrize("chosen", ["paddle", "job1", ID, "team-other-11111111-0000", "/", ".."])
def test_of_an_id_that_the_user_chose_nothing_is_removed_for_it_may_be_anothers(chosen: str) -> None:
    assert forget(variable("PADDLE_JOB_ID", chosen).build(), Etcd()) is None


def test_however_many_attempts_a_stranger_wrote_the_keys_of_the_last_ones_are_removed() -> None:
    removed = forget(JOB.with_status(attempt=10**15).build(), Etcd())
    assert removed is not None
    assert removed.keys[-1] == f"/paddle/team-train-8f432e67-{10**15}"
    assert len(removed.keys) == 100
    assert forget(JOB.with_status(attempt=-1).build(), Etcd()) is None


def test_removing_keys_is_given_up_after_a_while() -> None:
    job = JOB.with_status(completion_time="2026-05-04T12:00:00Z").build()
    assert forgetting_ends(job) == NOW + timedelta(minutes=10)
    assert forgetting_ends(JOB.build()) < NOW
