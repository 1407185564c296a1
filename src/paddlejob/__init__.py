"""PaddlePaddle training on Kubernetes and on this machine, from the same YAML and the same Python.

What Python users import stands here and is loaded when it is first used, so that `import paddlejob` costs nothing.
`paddle.job` gives the same names.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without loading it: whatever is imported from this package pays for it
if TYPE_CHECKING:
    from paddlejob.errors import PaddleJobError
    from paddlejob.sdk.aio import AsyncPaddleJob
    from paddlejob.sdk.datasets import dataset_from_reader, dist_reader
    from paddlejob.sdk.job import PaddleJob
    from paddlejob.sdk.training import dist_train, trainer_id, trainers
    from paddlejob.sdk.volumes import NFS, PVC, CephFSVolume, HostPath

_HOMES = {
    "AsyncPaddleJob": "sdk.aio",
    "CephFSVolume": "sdk.volumes",
    "HostPath": "sdk.volumes",
    "NFS": "sdk.volumes",
    "PVC": "sdk.volumes",
    "PaddleJob": "sdk.job",
    "PaddleJobError": "errors",
    "dataset_from_reader": "sdk.datasets",
    "dist_reader": "sdk.datasets",
    "dist_train": "sdk.training",
    "trainer_id": "sdk.training",
    "trainers": "sdk.training",
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
    from importlib import import_module  # noqa: PLC0415 - `import paddlejob` costs nothing

    value: object = getattr(import_module(f"paddlejob.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
