"""Fuzzing at the edge: the API server and Python agree on every job, and what both take is planned to its end.

`SEED=n` has the same jobs again; without it each run makes others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from random import SystemRandom

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings

from paddlejob.api import Job
from paddlejob.api.mistakes import mistakes
from paddlejob.api.stored import read_job
from paddlejob.core import Etcd, Plan
from paddlejob.core.managed import is_ours
from tests.api.made_jobs import mutations, schema_jobs
from tests.cluster.api import ApiError
from tests.cluster.control_plane import ControlPlane
from tests.core.world import World
from tests.scenarios.desk import Json

EXAMPLES = 2000
SEED = int(os.environ.get("SEED") or SystemRandom().randrange(2**32))
# A world in memory is slow with more; that large jobs are planned in steps is seen elsewhere.
MOST_PODS = 60

# No shrinking: a job is small already, and its verdicts say what is wrong.
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
Verdict = Callable[[Json], Json | str]


@pytest.fixture(scope="module")
def verdict(control_plane: ControlPlane) -> Verdict:
    """What the API server makes of a job, or why it refuses it; nothing is stored."""
    control_plane.add_namespace("fuzz")
    path = "/apis/batch.paddlepaddle.org/v1/namespaces/fuzz/paddlejobs?fieldValidation=Strict&dryRun=All"

    def ask(job: Json) -> Json | str:
        try:
            made: Json = control_plane.api.post(path, job)
        except ApiError as error:
            if error.code not in (400, 422):
                raise
            return str(error)
        return made

    return ask


def judge(job: Json, verdict: Verdict) -> None:
    note(f"SEED={SEED} has it again")
    said, told = verdict(job), [str(one) for one in mistakes(job)]
    if isinstance(said, str):
        assert told, f"the API server refuses it ({said}), Python takes it: {json.dumps(job)}"
    else:
        assert not told, f"the API server takes it, Python does not ({told}): {json.dumps(job)}"
        lives(read_job(said))


def lives(job: Job) -> None:
    """Played in a world without trouble: it runs and completes, or it says why not. What is another's is left alone."""
    world = World(job)
    if not is_ours(job):
        assert (world.turn(), world.pods) == (Plan(status=job.status), {})
        return
    world.etcd = Etcd("10.0.0.9:2379")
    if sum(role.wanted for _, role in job.spec.roles) > MOST_PODS:
        made = world.turn()
        assert made.actions or made.questions or made.ports or made.status.reason or job.spec.suspend, made
        return
    world.run()
    status = world.job.status
    if job.spec.suspend:
        assert (status.phase, world.pods) == ("Suspended", {})
        return
    if status.phase != "Running":
        assert status.reason, status
        assert status.message, status
        assert any(one.type == "Stalled" and one.status == "True" for one in status.conditions), status
        return
    for name in [name for name in sorted(world.pods) if "-worker-" in name]:
        world.complete(name) if job.spec.is_elastic else world.succeed(name)
    world.run()
    assert world.job.status.phase == "Completed" or world.job.metadata.deletion_timestamp, world.job.status


@many
@seed(SEED)
@given(job=schema_jobs)
def test_a_job_made_from_the_crds_schema(verdict: Verdict, job: Json) -> None:
    judge(job, verdict)


@many
@seed(SEED)
@given(job=mutations)
def test_a_good_job_with_something_changed(verdict: Verdict, job: Json) -> None:
    judge(job, verdict)
