"""A job as a small table, for notebooks. Never raises: what cannot be found out is said in the table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from html import escape

from paddlejob.api import Status
from paddlejob.api.names import ROLE_WORDS, ROLES, RoleName
from paddlejob.errors import PaddleJobError
from paddlejob.places.words import far
from paddlejob.sdk.aio import AsyncPaddleJob

PATIENCE = 5.0


async def table(job: AsyncPaddleJob) -> str:
    roles = {name: asked.replicas for name, asked in job.description.job.spec.roles}
    rows = {"job": job.job_name, "namespace": job.namespace or "(of your kubeconfig)", "pods": _pods(roles)}
    percent: int | None = None
    if job.submitted is None:
        rows["status"] = "not submitted"
    else:
        rows["where"] = job.where
        try:
            status = await asyncio.wait_for(job.status(), PATIENCE)
            rows |= _standing(status)
            percent = status.progress.percent if status.progress else None
        except PaddleJobError as error:
            rows["status"] = str(error)
        except asyncio.TimeoutError:
            rows["status"] = f"not known: no answer within {PATIENCE:g} s"
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{bar}{escape(value)}</td></tr>'
        for name, value in rows.items()
        for bar in [_bar(percent) if name == "progress" else ""]
    )
    return f"<table>{cells}</table>"


def _pods(roles: Mapping[RoleName, int]) -> str:
    return ", ".join(f"{count} {ROLE_WORDS[name]}" for name, count in roles.items())


def _standing(status: Status) -> dict[str, str]:
    counted = ((name, status.role(name)) for name in ROLES)
    ready = {f"{ROLE_WORDS[name]} running": one.ready for name, one in counted if one is not None and one.ready}
    said = {"status": status.phase or "Pending", **ready}
    if status.progress is not None and (told := far(status.progress)):
        said["progress"] = told
    return {**said, "message": status.message} if status.message else said


def _bar(percent: int | None) -> str:
    return "" if percent is None else f'<progress max="100" value="{percent}"></progress> '
