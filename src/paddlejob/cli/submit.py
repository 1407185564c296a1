"""`paddlejob submit`: a job to the cluster, from the same file that runs on this machine; with --local to this machine.

What stands beside the job in the file (ConfigMaps, Secrets, claims, pod groups) goes with it: docs/decisions/020.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.documents import is_job, jobs_in, read_objects
from paddlejob.cli.errors import BadUse
from paddlejob.cli.logs import print_logs
from paddlejob.cli.output import ObjectFormat, note, show_objects
from paddlejob.cli.wait import wait_for
from paddlejob.cli.where import ANYWHERE, Where, run
from paddlejob.places.place import Description, Found, Place, Wanted, label
from paddlejob.places.this_machine import ThisMachine
from paddlejob.places.words import document


def submit(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True, help="A YAML file; - reads standard input.")],
    /,
    *,
    where: Where = ANYWHERE,
    wait: Annotated[bool, Parameter(help="Wait until the job has finished.")] = False,
    follow: Annotated[bool, Parameter(alias="-f", help="Print the workers' logs until the job has finished.")] = False,
    output: Annotated[ObjectFormat | None, Parameter(alias="-o", help="Print the new job in this format.")] = None,
) -> int:
    """Submit a PaddleJob to the cluster, or with --local to this machine.

    Example: paddlejob submit examples/wide_and_deep/job.yaml
    """
    objects = read_objects(file)
    jobs = jobs_in(objects, file)
    for one in objects:
        said = one["metadata"].get("namespace")
        if where.namespace and said not in (None, where.namespace):
            raise BadUse(f"{file}: {label(one)} says namespace {said}, and -n says {where.namespace}: leave one out")
        if where.namespace and is_job(one):
            one["metadata"]["namespace"] = where.namespace
    if len(jobs) > 1 and (wait or follow):
        raise BadUse(f"{file}: --wait and --follow need one job, and it contains {len(jobs)}: submit them one by one")
    beside = tuple(one for one in objects if not is_job(one))

    async def work() -> int:
        async with ThisMachine() if where.local else where.cluster() as place:
            made: list[Found] = []
            try:
                for one in jobs:
                    made.append(await place.submit(Description(one, beside, str(file.resolve()))))
            finally:  # if one is refused, those before it run
                for one in beside if made and not where.local else ():
                    note(f"{label(one)} applied")
                if made:
                    _tell(made, output)
            return await _look_after(place, made[0], follow=follow) if wait or follow else 0

    return run(work())


def _tell(made: list[Found], output: ObjectFormat | None) -> None:
    if output is not None:
        show_objects([document(one) for one in made], output, as_list=len(made) > 1)
        return
    for one in made:
        namespace, name = one.key
        print(f"{name} submitted to namespace {namespace}: `paddlejob logs -f {name}{one.flag}`", flush=True)


async def _look_after(place: Place, found: Found, *, follow: bool) -> int:
    if follow:
        await print_logs(place, found, Wanted(follow=True, bars=True))
    return await wait_for(place, found)
