"""`paddlejob crd`: the CustomResourceDefinition, ready for `kubectl create -f -`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import yaml
from cyclopts import Parameter

from paddlejob.api.crd import definition, definition_v1beta1


def crd(
    *,
    version: Annotated[Literal["v1", "v1beta1"], Parameter(help="v1beta1 is for Kubernetes 1.15 and older.")] = "v1",
) -> None:
    """Print the CustomResourceDefinition of PaddleJob.

    Example: paddlejob crd | kubectl apply --server-side -f -
    """
    made = definition() if version == "v1" else definition_v1beta1()
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    yaml.dump(made, sys.stdout, Dumper=dumper, sort_keys=False, width=10**6, default_flow_style=False)
