"""The lives of jobs that do not go straight: each script a few lines, one for every rule and every pair that can race.

`yield` waits for something. The name of a function is the name of its job.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.scenarios.desk import a_role
from tests.scenarios.play import Actor, Script


def seconds_between(earlier: str, later: str) -> float:
    first, second = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (earlier, later))
    return (second - first).total_seconds()


def running_since(job: Actor) -> str:
    return next(str(one["lastTransitionTime"]) for one in job.status["conditions"] if one["type"] == "Running")


def a_failure_restarts_the_whole_job(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(2), backoffLimit=1)
    yield job.phase("Running")
    before = job.desk.config(job.name)["PADDLE_TRAINER_ENDPOINTS"]
    job.end("worker-1", "failed", exit_code="3", last_lines="ValueError: no such file")
    why = f"{job.name}-worker-1 failed with exit code 3 (Error)"
    yield job.says(phase="Restarting", restarts=1, attempt=1, message=why)
    failed_at = running_since(job)
    yield job.phase("Running")
    assert seconds_between(failed_at, running_since(job)) >= 9  # times are in whole seconds
    assert set(job.attempts()) == {"1"}
    assert job.desk.config(job.name)["PADDLE_TRAINER_ENDPOINTS"] != before
    assert job.status["failure"]["message"] == "ValueError: no such file"
    job.finish()
    yield job.says(phase="Completed", restarts=1, disruptions=0)
    assert job.told() == ["Created", "Started", "Restarted", "Started", "Completed"]


def the_limit_is_used_up(job: Actor) -> Script:
    job.submit(worker=a_role(2, ends="failed", exit_code="7"), backoffLimit=1)
    yield job.says(phase="Failed", restarts=1)
    assert job.status["failure"]["exitCode"] == 7


def two_fail_at_once(job: Actor) -> Script:
    job.submit(worker=a_role(3), backoffLimit=2)
    yield job.phase("Running")
    job.end("worker-0", "failed")
    job.end("worker-2", "failed")
    yield job.says(phase="Running", restarts=1, attempt=1)
    job.finish()
    yield job.says(phase="Completed", restarts=1)


def a_failure_while_others_start(job: Actor) -> Script:
    job.submit(ps=a_role(1, starts="never"), worker=a_role(1, starts="at-once", ends="failed"), intranet="Service")
    yield job.says(phase="Failed", restarts=0)


def somebody_deletes_a_pod(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(2))
    yield job.phase("Running")
    job.delete_pod("ps-0")
    yield job.says(phase="Running", disruptions=1, restarts=0, attempt=1)
    assert job.told() == ["Created", "Started", "Restarted", "Started"]
    job.finish()
    yield job.phase("Completed")


def somebody_deletes_a_pod_before_it_ran(job: Actor) -> Script:
    job.submit(worker=a_role(2, starts="never"))
    yield job.phase("Starting")
    job.delete_pod("worker-0")
    yield job.says(phase="Restarting", disruptions=1, attempt=1)
    yield lambda: job.attempts() == ["1", "1"]


def a_pod_is_evicted(job: Actor) -> Script:
    job.submit(worker=a_role(2, starts="at-once"), intranet="Service")
    yield job.phase("Running")
    job.end("worker-1", "evicted")
    yield job.says(phase="Running", disruptions=1, restarts=0)
    assert job.status["failure"]["reason"] == "Evicted"
    job.finish()
    yield job.phase("Completed")


def peers_of_an_evicted_pod_fall(job: Actor) -> Script:
    job.submit(worker=a_role(2))
    yield job.phase("Running")
    job.end("worker-1", "evicted")
    job.end("worker-0", "failed", exit_code="250")
    yield job.says(phase="Running", attempt=1)
    assert job.status["restarts"] + job.status["disruptions"] == 1


def the_old_pods_are_slow_to_go(job: Actor) -> Script:
    job.submit(worker=a_role(2, lingers="5s"))
    yield job.phase("Running")
    old = {one["metadata"]["uid"] for one in job.pods().values()}
    job.end("worker-0", "evicted")
    yield job.phase("Restarting")
    yield job.says(phase="Running", disruptions=1)
    assert not old & {one["metadata"]["uid"] for one in job.pods().values()}


def a_worker_without_gloo_is_replaced_alone(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(2), withGloo=0, backoffLimit=1)
    yield job.phase("Running")
    before = {name: one["metadata"]["uid"] for name, one in job.pods().items()}
    job.end("worker-1", "failed")
    yield job.says(restarts=1, attempt=0)
    yield job.phase("Running")
    after = {name: one["metadata"]["uid"] for name, one in job.pods().items()}
    assert {name for name in before if before[name] != after.get(name)} == {"worker-1"}
    job.finish()
    yield job.says(phase="Completed", restarts=1, attempt=0)


def a_server_without_gloo_takes_all_along(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(1), withGloo=0)
    yield job.phase("Running")
    job.delete_pod("ps-0")
    yield job.says(phase="Running", disruptions=1, attempt=1)


def it_runs_too_long(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(2), activeDeadlineSeconds=15)
    yield job.says(phase="Failed", reason="DeadlineExceeded")
    status = job.status
    assert 15 <= seconds_between(status["startTime"], status["completionTime"]) <= 18
    yield job.there()


def it_never_gets_to_run(job: Actor) -> Script:
    job.submit(worker=a_role(2, starts="never"), startingDeadlineSeconds=6)
    yield job.says(phase="Failed", reason="StartingDeadlineExceeded")
    status = job.status
    assert 6 <= seconds_between(status["startTime"], status["completionTime"]) <= 9


def it_completes_as_its_deadline_fires(job: Actor) -> Script:
    job.submit(worker=a_role(2, ends="succeeded", after="10s"), activeDeadlineSeconds=12)
    yield lambda: job.status.get("phase") in ("Completed", "Failed")
    end = job.status["phase"]
    yield lambda: not [one for one in job.pods().values() if one["status"]["phase"] == "Running"]
    assert job.status["phase"] == end


def it_expires(job: Actor) -> Script:
    job.submit(worker=a_role(1, ends="succeeded"), ttlSecondsAfterFinished=4)
    yield job.phase("Completed")
    yield lambda: job.desk.nothing_left(job.name)


def it_is_suspended_from_the_beginning(job: Actor) -> Script:
    job.submit(worker=a_role(2), suspend=True)
    yield job.condition("Suspended", "True")
    assert job.pods() == {}
    assert "startTime" not in job.status
    job.ask(suspend=False)
    yield job.says(phase="Running", attempt=0)
    yield job.condition("Suspended", "False")
    job.finish()
    yield job.phase("Completed")
    assert job.told() == ["Suspended", "Created", "Started", "Completed"]


def it_is_suspended_in_the_middle(job: Actor) -> Script:
    job.submit(ps=a_role(1), worker=a_role(2), activeDeadlineSeconds=600)
    yield job.phase("Running")
    started = job.status["startTime"]
    job.ask(suspend=True)
    yield job.phase("Suspended")
    yield job.there()
    yield lambda: seconds_between(started, now_text()) >= 2
    job.ask(suspend=False)
    yield job.says(phase="Running", restarts=0, disruptions=0, attempt=1)
    assert job.status["startTime"] > started
    job.finish()
    yield job.phase("Completed")


def it_is_suspended_during_a_restart(job: Actor) -> Script:
    job.submit(worker=a_role(2), backoffLimit=1)
    yield job.phase("Running")
    job.end("worker-0", "failed")
    yield job.phase("Restarting")
    job.ask(suspend=True)
    yield job.says(phase="Suspended", restarts=1, attempt=2)
    yield job.there()
    job.ask(suspend=False)
    yield job.says(phase="Running", restarts=1)


def it_is_deleted_during_a_restart(job: Actor) -> Script:
    job.submit(worker=a_role(2), backoffLimit=1)
    yield job.phase("Running")
    job.end("worker-0", "failed")
    yield job.phase("Restarting")
    job.desk.delete(job.name)
    yield lambda: job.desk.nothing_left(job.name)


def it_is_suspended_as_it_fails(job: Actor) -> Script:
    job.submit(worker=a_role(2))
    yield job.phase("Running")
    job.ask(suspend=True)
    job.end("worker-0", "failed")
    yield lambda: job.status.get("phase") in ("Suspended", "Failed")


def its_limit_is_raised_while_it_waits(job: Actor) -> Script:
    job.submit(worker=a_role(1, ends="failed"), backoffLimit=1)
    yield job.phase("Restarting")
    job.ask(backoffLimit=0)
    yield job.says(phase="Failed", restarts=1)


def now_text() -> str:
    return datetime.now().astimezone().isoformat()


SCRIPTS: dict[str, Any] = {
    name.replace("_", "-"): script
    for name, script in list(globals().items())
    if callable(script) and getattr(script, "__annotations__", {}).get("return") == "Script"
}
