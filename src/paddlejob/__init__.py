"""PaddlePaddle training on Kubernetes and on this machine, from the same YAML and the same Python.

What Python users import stands here and is loaded when it is first used, so that `import paddlejob` costs nothing.
`paddle.job` gives the same names.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without loading it: whatever is imported from this package pays for it
if TYPE_CHECKING:
    from paddlejob.sdk.aio import AsyncPaddleJob
    from paddlejob.sdk.datasets import dataset_from_reader, dist_reader
    from paddlejob.sdk.errors import PaddleJobError
    from paddlejob.sdk.job import PaddleJob
    from paddlejob.sdk.training import dist_train, trainer_id, trainers
    from paddlejob.sdk.volumes import NFS, PVC, CephFSVolume, HostPath

_HOMES = {
    "AsyncPaddleJob": "aio",
    "CephFSVolume": "volumes",
    "HostPath": "volumes",
    "NFS": "volumes",
    "PVC": "volumes",
    "PaddleJob": "job",
    "PaddleJobError": "errors",
    "dataset_from_reader": "datasets",
    "dist_reader": "datasets",
    "dist_train": "training",
    "trainer_id": "training",
    "trainers": "training",
}

__all__ = [
    "NFS",
    "PVC",
    "AsyncPaddleJob",
    "CephFSVolume",
    "HostPath",
    "PaddleJob",
    "PaddleJobError",
    "dataset_from_reader",
    "dist_reader",
    "dist_train",
    "trainer_id",
    "trainers",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'paddlejob' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    value: object = getattr(import_module(f"paddlejob.sdk.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
