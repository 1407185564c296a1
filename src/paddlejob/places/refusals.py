"""What the API server refuses, in words for the person who asked.

Owns the sentences. Each begins with what was tried and ends with what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paddlejob import errors
from paddlejob.kube import errors as kube


@contextmanager
def explained(tried: str, *, name: str = "", namespace: str = "") -> Iterator[None]:
    """Whatever Kubernetes says becomes a `PaddleJobError`. `tried` reads after "cannot"."""
    try:
        yield
    except kube.KubeError as error:
        raise explanation(error, tried, name=name, namespace=namespace) from error


def explanation(error: kube.KubeError, tried: str, *, name: str = "", namespace: str = "") -> errors.PaddleJobError:
    match error:
        case kube.ConfigError():
            return errors.NoCluster(str(error))
        case kube.Unreachable():
            return errors.NoCluster(f"cannot {tried}: {_after_colon(error)}")
        case kube.ApiUnauthorized():
            return errors.Unauthorized(
                f"cannot {tried}: the cluster does not accept your credentials (401): log in again, or renew the token "
                "or certificate in your kubeconfig"
            )
        case kube.ApiForbidden():
            said = error.message or "403 Forbidden"
            return errors.Forbidden(f"cannot {tried}: {said}: ask the cluster's administrator to allow it")
        case kube.ApiNotFound():
            return _missing(error, tried, name=name, namespace=namespace)
        case kube.ApiAlreadyExists():
            return errors.AlreadyExists(
                f"cannot {tried}: {name} already exists in namespace {namespace}: delete it with "
                f"`paddlejob delete {name} -n {namespace}`, or give this one another name"
            )
        case kube.ApiInvalid() | kube.ApiBadRequest():
            return errors.Invalid(f"cannot {tried}: {_one_line(error.message)}")
        case kube.ApiServerError() | kube.ApiTooManyRequests():
            said = _one_line(error.message) or error.reason
            return errors.NoCluster(f"cannot {tried}: the API server cannot answer right now ({said}): try again")
        case _:
            return errors.PaddleJobError(f"cannot {tried}: {_after_colon(error)}")


def _missing(error: kube.ApiNotFound, tried: str, *, name: str, namespace: str) -> errors.PaddleJobError:
    match error.details.kind:
        case "namespaces":
            return no_namespace(tried, namespace)
        case "":
            return errors.NoCRD(
                f"cannot {tried}: this cluster has no PaddleJobs: install the CRD and the operator with "
                "`paddlejob install`"
            )
        case "paddlejobs":
            return errors.NotFound(
                f"there is no job {name} in namespace {namespace} on the cluster: `paddlejob list -A` lists all jobs"
            )
        case _:
            return errors.NotFound(f"cannot {tried}: {error.message}")


def no_namespace(tried: str, namespace: str) -> errors.NoNamespace:
    return errors.NoNamespace(
        f"cannot {tried}: there is no namespace {namespace}: create it with `kubectl create namespace {namespace}`, or "
        "use another with -n"
    )


def _after_colon(error: Exception) -> str:
    """Without the HTTP request that the client puts first: the person asked in other words."""
    said = str(error)
    return _one_line(said.partition(": ")[2] or said)


def _one_line(text: str) -> str:
    return " ".join(text.split())
