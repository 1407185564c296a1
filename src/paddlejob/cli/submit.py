"""`paddlejob submit`: a job to the cluster, from the same file that runs on this machine.

What stands beside the job in the file (ConfigMaps, Secrets, claims, pod groups) is applied before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from paddlejob.api import PaddleJob
from paddlejob.cli.applying import Applier, label
from paddlejob.cli.documents import is_job, jobs_in, read_objects
from paddlejob.cli.errors import BadUse
from paddlejob.cli.logs import print_logs
from paddlejob.cli.output import Lines, ObjectFormat, console, note, show_objects
from paddlejob.cli.reaching import on_cluster
from paddlejob.cli.waiting import wait_there
from paddlejob.cli.where import CONTEXT, Target
from paddlejob.sdk.cluster import Cluster
from paddlejob.sdk.job_logs import Wanted


def submit(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True, help="A file; - is standard input.")],
    /,
    *,
    target: Target = CONTEXT,
    wait: Annotated[bool, Parameter(help="Come back when it has ended.", negative="")] = False,
    follow: Annotated[
        bool, Parameter(name=["--follow", "-f"], help="Print its output until then.", negative="")
    ] = False,
    output: Annotated[ObjectFormat | None, Parameter(name=["--output", "-o"], help="Print the job made.")] = None,
) -> int:
    """Submit a PaddleJob to the cluster; `-` reads it from standard input.

    Example: paddlejob submit examples/wide_and_deep/job.yaml
    """
    objects = read_objects(file)
    jobs = jobs_in(objects, file)
    for one in objects:
        said = one["metadata"].get("namespace")
        if target.namespace and said not in (None, target.namespace):
            raise BadUse(f"{file}: {label(one)} says namespace {said}, and -n says {target.namespace}: leave one out")
    if len(jobs) > 1 and (wait or follow):
        raise BadUse(f"{file}: it holds {len(jobs)} jobs; --wait and --follow look after one: submit them one by one")

    async def work(cluster: Cluster, namespace: str) -> int:
        applier = Applier(cluster.client, namespace)
        for one in objects:
            if not is_job(one):
                await applier.apply(one)
                note(f"{label(one)} applied")
        made = [await cluster.create(one, target.namespace) for one in jobs]
        await _tell(cluster, made, output)
        return await _look_after(cluster, made[0], follow=follow) if wait or follow else 0

    return on_cluster(target, work)


async def _tell(cluster: Cluster, made: list[PaddleJob], output: ObjectFormat | None) -> None:
    if output is not None:
        documents = [await cluster.document(one.metadata.name, one.metadata.namespace) for one in made]
        show_objects(documents, output, as_list=len(made) > 1)
        return
    for one in made:
        name, namespace = one.metadata.name, one.metadata.namespace
        print(f"{name} submitted to namespace {namespace}: `paddlejob logs -f {name} -n {namespace}`", flush=True)


async def _look_after(cluster: Cluster, job: PaddleJob, *, follow: bool) -> int:
    if follow:
        await print_logs(cluster, job, Wanted(), Lines(console()), follow=True)
    return await wait_there(cluster, job, "End", None)
