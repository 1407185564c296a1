"""`paddlejob convert`: a file with PaddleJobs of kubeflow.org/v1, as ours; what has no counterpart is in comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from paddlejob.api.kubeflow import VERSION
from paddlejob.cli.documents import is_job, read_documents
from paddlejob.cli.errors import BadUse
from paddlejob.places.words import as_yaml


def convert(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True, help="A YAML file; - reads standard input.")],
    /,
) -> None:
    """Print a file with PaddleJobs of kubeflow.org/v1 as this operator takes it. Other objects stay as they are.

    Comments say what has no counterpart. `submit`, `run` and `plan` convert such a file by themselves.

    Example: paddlejob convert examples/resnet/kubeflow.yaml
    """
    found = read_documents(file)
    if not any(one.converted for one in found):
        has = "PaddleJobs of this operator" if any(is_job(one.body) for one in found) else "no PaddleJob"
        raise BadUse(f"{file}: there is nothing to convert: it contains {has}, and none of {VERSION}")
    for place, one in enumerate(found):
        if place:
            print("---")
        for note in one.notes:
            print(f"# {note}")
        print(as_yaml(one.body), end="")
