"""How a job is written down in Python: by parameters, by a YAML file, or by a function. What both faces of the SDK
share, the one that waits (`PaddleJob`) and the one that is awaited (`AsyncPaddleJob`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from paddlejob.places.place import Description
from paddlejob.sdk import parameters as check
from paddlejob.sdk.description import Parameters, as_yaml, describe, other_fields, read
from paddlejob.sdk.functions import described_function
from paddlejob.sdk.volumes import CephFSVolume, Volume, checked

W = TypeVar("W", bound="Written")


class Written:
    """A job as it was written."""

    def __init__(
        self,
        job_name: str,
        entry_point: str,
        memory: str | None = None,
        cpu_nums: int | None = None,
        runtime_image: str | None = None,
        pservers: int = 2,
        trainers: int = 3,
        gpu_nums: int = 0,
        cephfs_volume: CephFSVolume | None = None,
        *,
        namespace: str | None = None,
        trainer_package_path: str | None = None,
        use_gpu: bool | None = None,
        cpu_num: int | None = None,
        volumes: Iterable[Volume] = (),
        env: Mapping[str, str] | None = None,
        spec: Mapping[str, Any] | None = None,
    ) -> None:
        """Wrong types and values raise at once and name the parameter.

        Required, as the older documents list them:

        - `job_name`: the unique name of the job; pods are named after it
        - `entry_point`: the command that every pod runs
        - `cpu_nums` (or `cpu_num`): CPUs of each pod
        - `runtime_image`: the image that every pod runs
        - `memory`: memory of each pod, a whole number with the suffix E, P, T, G, M or K. Left out, as in the
          documents' own example, the pods ask for none

        And more:

        - `pservers`, `trainers`: how many parameter servers and trainers; no servers make a collective job
        - `gpu_nums`: GPUs of each trainer; `use_gpu=True` alone means one
        - `cephfs_volume`, `volumes`: what all pods mount
        - `namespace`: by default that of your kubeconfig
        - `trainer_package_path`: the folder, in the image, where the command starts
        - `env`: additional environment variables
        - `spec`: additional fields of the resource's spec, such as `{"backoffLimit": 3}`
        """
        cpus = check.one_of({"cpu_nums": cpu_nums, "cpu_num": cpu_num})
        if cpus is None:
            raise TypeError("cpu_nums is missing: how many CPUs does each pod get?")
        if runtime_image is None:
            raise TypeError("runtime_image is missing: which image do the pods run?")
        said = Parameters(
            job_name=check.text("job_name", job_name),
            namespace=None if namespace is None else check.namespace("namespace", namespace),
            entry_point=check.text("entry_point", entry_point),
            runtime_image=check.text("runtime_image", runtime_image),
            package=None if trainer_package_path is None else check.path("trainer_package_path", trainer_package_path),
            cpus=check.count("cpu_nums", cpus, 1),
            memory=None if memory is None else check.memory("memory", memory),
            gpus=_gpus(gpu_nums, use_gpu),
            pservers=check.count("pservers", pservers, 0),
            trainers=check.count("trainers", trainers, 1),
            volumes=_volumes(cephfs_volume, volumes),
            env={} if env is None else check.environment("env", env),
            spec={} if spec is None else other_fields("spec", spec),
        )
        self._write(describe(said))

    def _write(self, description: Description) -> None:
        self.description = description

    @classmethod
    def _of(cls: type[W], description: Description) -> W:
        made = cls.__new__(cls)
        made._write(description)
        return made

    @classmethod
    def from_yaml(cls: type[W], source: str | Path) -> W:
        """A job from a YAML file, or from its text; the other objects in it are submitted with the job.

        >>> from paddlejob import PaddleJob
        >>> text = PaddleJob(job_name="a", entry_point="python train.py", cpu_nums=1, runtime_image="b").to_yaml()
        >>> PaddleJob.from_yaml(text).job_name
        'a'
        """
        return cls._of(read(source))

    @classmethod
    def from_function(
        cls: type[W],
        function: Callable[..., object],
        *,
        runtime_image: str,
        job_name: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        files: Iterable[str | Path] = (),
        cpu_nums: int = 1,
        trainers: int = 1,
        pservers: int = 0,
        **parameters: Any,
    ) -> W:
        """A job that calls a Python function in every pod, without building an image.

        The function's source is sent in a ConfigMap, with what it uses: other functions and classes of its own file,
        plain values, imports, and `files` (text files or folders, found in the working directory). Nothing is
        pickled. `runtime_image` needs only Python and what the function imports. The other parameters are those of
        `PaddleJob(...)`.

        >>> from textwrap import shorten
        >>> from paddlejob import PaddleJob
        >>> job = PaddleJob.from_function(shorten, runtime_image="python:3.11", job_name="short",
        ...                               arguments={"text": "hello", "width": 9})
        >>> job.job_name
        'short'
        """
        name = job_name or function.__name__.strip("_").replace("_", "-").lower()
        if "entry_point" in parameters or "trainer_package_path" in parameters:
            raise TypeError("entry_point and trainer_package_path belong to an image's program, not to a function")
        plain = cls(
            job_name=name,
            entry_point="python",
            runtime_image=runtime_image,
            cpu_nums=None if "cpu_num" in parameters else cpu_nums,
            trainers=trainers,
            pservers=pservers,
            **parameters,
        )
        return cls._of(described_function(plain.description, function, dict(arguments or {}), tuple(files)))

    def to_yaml(self) -> str:
        """The job as YAML, for `kubectl create -f -`.

        >>> from paddlejob import PaddleJob
        >>> job = PaddleJob(job_name="a", entry_point="python train.py", cpu_nums=1, runtime_image="b")
        >>> print(job.to_yaml().splitlines()[1])
        kind: PaddleJob
        """
        return as_yaml(self.description)

    @property
    def job_name(self) -> str:
        return self.description.name


def _gpus(gpu_nums: int, use_gpu: bool | None) -> int:
    number = check.count("gpu_nums", gpu_nums, 0)
    if use_gpu is None:
        return number
    if check.flag("use_gpu", use_gpu):
        return number or 1
    if number:
        raise ValueError(f"use_gpu is False and gpu_nums is {number}: leave one of them out")
    return 0


def _volumes(cephfs: CephFSVolume | None, others: Iterable[Volume]) -> tuple[Volume, ...]:
    if cephfs is None:
        return checked("volumes", others)
    if not isinstance(cephfs, CephFSVolume):
        raise TypeError(f"cephfs_volume must be a CephFSVolume, not {cephfs!r}")
    return checked("volumes", (cephfs, *checked("volumes", others)))
