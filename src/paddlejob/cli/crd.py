"""`paddlejob crd`: the CustomResourceDefinition, ready for `kubectl create -f -`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from paddlejob.api.crd import definition, definition_v1beta1
from paddlejob.places.words import as_yaml


def crd(
    *,
    version: Annotated[Literal["v1", "v1beta1"], Parameter(help="v1beta1 is for Kubernetes 1.15 and older.")] = "v1",
) -> None:
    """Print the CustomResourceDefinition of PaddleJob.

    Example: paddlejob crd | kubectl apply --server-side -f -
    """
    print(as_yaml(definition() if version == "v1" else definition_v1beta1()), end="")
