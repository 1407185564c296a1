"""`paddlejob install` and `uninstall`: the operator on the cluster, from the manifests that this package carries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from cyclopts import Parameter

from paddlejob.api.crd import definition as crd
from paddlejob.cli import manifests
from paddlejob.cli.durations import seconds
from paddlejob.cli.errors import BadUse
from paddlejob.cli.manifests import NAMESPACE, container, operator_objects
from paddlejob.cli.where import CLUSTER, Target, on_cluster
from paddlejob.core.children import Pod
from paddlejob.errors import NoCRD, Timeout
from paddlejob.operator.resources import PODS
from paddlejob.places.applying import Applier
from paddlejob.places.cluster import Cluster
from paddlejob.places.place import label

Json = dict[str, Any]
PAUSE = 0.3

Namespaced = Annotated[str | None, Parameter(help="This namespace only, without cluster-wide rights.")]
Limit = Annotated[
    float,
    Parameter(converter=seconds, help="Give up after this long: 90s, 10m.", show_default=lambda limit: f"{limit:g}s"),
]


def install(
    *,
    namespaced: Namespaced = None,
    image: Annotated[str | None, Parameter(help="The operator's image, in a registry of yours.")] = None,
    wait: Annotated[bool, Parameter(help="Wait until the operator is ready.", negative="--no-wait")] = True,
    timeout: Limit = 180.0,
    target: Target = CLUSTER,
) -> None:
    """Install the CRD and the operator, or upgrade them to this version, and wait until the operator is ready.

    Example: paddlejob install --timeout 5m
    """
    objects = _objects(namespaced, image)

    async def work(cluster: Cluster) -> None:
        applier = Applier(cluster.client, namespaced or NAMESPACE)
        await _refuse_if_another(applier, _deployment(objects))
        await applier.apply(crd())
        print(f"{label(crd())} applied", flush=True)
        for one in objects:
            await applier.apply(one)
            print(f"{label(one)} applied", flush=True)
        if not wait:
            return
        deployment = _deployment(objects)
        await _until(lambda: _is_known(applier), timeout, _never("the API server does not serve PaddleJobs yet"))
        await _until(lambda: _is_ready(applier, deployment), timeout, lambda: _why_not(cluster, deployment))
        print(f"the operator is ready in namespace {deployment['metadata']['namespace']}")

    on_cluster(target, work)


def uninstall(
    *,
    namespaced: Namespaced = None,
    keep_crd: Annotated[bool, Parameter(help="Keep the CRD, and with it all jobs.")] = False,
    delete_jobs: Annotated[bool, Parameter(help="Delete all jobs too.")] = False,
    timeout: Limit = 180.0,
    target: Target = CLUSTER,
) -> None:
    """Remove the operator and the CRD. Namespaces other than paddle-system are kept.

    Example: paddlejob uninstall
    """
    objects = _objects(namespaced, None)
    if namespaced not in (None, NAMESPACE):
        objects = [one for one in objects if one["kind"] != "Namespace"]

    async def work(cluster: Cluster) -> None:
        applier = Applier(cluster.client, namespaced or NAMESPACE)
        wanted = [*([] if keep_crd else [crd()]), *reversed(objects)]
        if not keep_crd and not delete_jobs:
            await _refuse_if_jobs(cluster)
        found = [one for one in wanted if await applier.delete(one)]
        for one in found:
            await _until(partial(_is_gone, applier, one), timeout, _never(f"{label(one)} is still there"))
            print(f"{label(one)} deleted", flush=True)
        if not found:
            print("nothing was installed")

    on_cluster(target, work)


def _objects(namespace: str | None, image: str | None) -> list[Json]:
    objects = operator_objects()
    if namespace is not None:
        objects = manifests.namespaced(objects, namespace)
    if image is not None:
        container(_deployment(objects))["image"] = image
    return objects


def _deployment(objects: list[Json]) -> Json:
    return next(one for one in objects if one["kind"] == "Deployment")


async def _refuse_if_another(applier: Applier, ours: Json) -> None:
    """Two operators would work against each other, and a Deployment's selector cannot be changed."""
    found = await applier.get(ours)
    if found is not None and found["spec"]["selector"] != ours["spec"]["selector"]:
        namespace, name = (ours["metadata"][key] for key in ("namespace", "name"))
        raise BadUse(
            f"another operator is installed as Deployment {name} in namespace {namespace}: delete it with `kubectl -n"
            f" {namespace} delete deployment {name}`; all jobs stay, and their pods run on"
        )


async def _refuse_if_jobs(cluster: Cluster) -> None:
    try:
        jobs = await cluster.list(None)
    except NoCRD:
        return
    if jobs:
        names = ", ".join("/".join(one.key) for one in jobs[:3])
        raise BadUse(
            f"deleting the CRD would delete its jobs ({names}{', …' if len(jobs) > 3 else ''}): add --delete-jobs to "
            "delete them too, or --keep-crd to remove only the operator"
        )


async def _until(check: Callable[[], Awaitable[bool]], limit: float, why_not: Callable[[], Awaitable[str]]) -> None:
    deadline = time.monotonic() + limit
    while not await check():
        if time.monotonic() > deadline:
            raise Timeout(f"gave up after {limit:g} s: {await why_not()}")
        await asyncio.sleep(PAUSE)


def _never(text: str) -> Callable[[], Awaitable[str]]:
    async def why() -> str:
        return text

    return why


async def _is_known(applier: Applier) -> bool:
    found = await applier.get(crd())
    held = (found or {}).get("status", {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in held)


async def _is_ready(applier: Applier, deployment: Json) -> bool:
    found = await applier.get(deployment)
    if found is None:
        return False
    status, wanted = found.get("status", {}), found["spec"]["replicas"]
    seen = status.get("observedGeneration", 0) >= found["metadata"]["generation"]
    return bool(seen and status.get("updatedReplicas", 0) >= wanted and status.get("availableReplicas", 0) >= wanted)


async def _is_gone(applier: Applier, one: Json) -> bool:
    return await applier.get(one) is None


async def _why_not(cluster: Cluster, deployment: Json) -> str:
    """What keeps the operator's pods, as far as they say."""
    namespace = deployment["metadata"]["namespace"]
    labels = deployment["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    page = await cluster.client.list_page(PODS, namespace, selector=selector)
    said = {_trouble(pod) for pod in page.items} - {""}
    look = f"`kubectl -n {namespace} get pods` shows them"
    return f"the operator's pods are not ready ({'; '.join(sorted(said)) or 'they give no reason'}): {look}"


def _trouble(pod: Pod) -> str:
    for one in pod.containers:
        if one.state.waiting is not None and one.state.waiting.reason:
            return f"{one.state.waiting.reason}: {one.state.waiting.message}".rstrip(": ")
    return next((f"{one.reason}: {one.message}" for one in pod.status.conditions if one.status == "False"), "")
