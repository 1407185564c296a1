"""What `PaddleJob(...)` takes and refuses, and the objects it makes: the tables of the user's SDK document."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import paddlejob
from paddlejob import NFS, PVC, CephFSVolume, HostPath, PaddleJob

Json = dict[str, Any]


def a_job(**changes: Any) -> PaddleJob:
    given = {"job_name": "word2vec", "entry_point": "python train.py", "cpu_nums": 2, "runtime_image": "train:v1"}
    return PaddleJob(**{**given, **changes})


def spec(job: PaddleJob) -> Json:
    found: Json = job.description.document["spec"]
    return found


def container(job: PaddleJob, role: str = "worker") -> Json:
    (found,) = spec(job)[role]["template"]["spec"]["containers"]
    made: Json = found
    return made


def test_the_defaults_are_those_of_the_document() -> None:
    job = a_job()
    assert (spec(job)["ps"]["replicas"], spec(job)["worker"]["replicas"]) == (2, 3)
    assert "limits" not in container(job)["resources"]
    ceph = CephFSVolume(monitors_addr="10.0.0.1:6789")
    assert (ceph.user, ceph.secret_name, ceph.mount_path, ceph.path) == ("admin", "cephfs-secret", "/mnt/cephfs", "/")


def test_every_parameter_of_the_document_in_its_order() -> None:
    table = ["job_name", "entry_point", "memory", "cpu_nums", "runtime_image"]
    table += ["pservers", "trainers", "gpu_nums", "cephfs_volume"]
    assert list(inspect.signature(PaddleJob).parameters)[:9] == table
    by_place = PaddleJob("word2vec", "python train.py", "10G", 2, "train:v1", 1, 4, 1)
    by_name = a_job(memory="10G", pservers=1, trainers=4, gpu_nums=1)
    assert by_place.to_yaml() == by_name.to_yaml()


def test_resources_are_per_pod_and_gpus_are_for_trainers() -> None:
    job = a_job(memory="10G", gpu_nums=4)
    assert container(job)["resources"] == {
        "requests": {"cpu": 2, "memory": "10G"},
        "limits": {"memory": "10G", "nvidia.com/gpu": 4},
    }
    assert container(job, "ps")["resources"] == {
        "requests": {"cpu": 2, "memory": "10G"},
        "limits": {"memory": "10G"},
    }


@pytest.mark.parametrize("said", ["1E", "2P", "3T", "4G", "5M", "6K", "4Gi", "7k"])
def test_memory_suffixes(said: str) -> None:
    assert container(a_job(memory=said))["resources"]["limits"]["memory"] == said.replace("K", "k")


def test_the_spellings_of_the_example() -> None:
    assert a_job(cpu_nums=None, cpu_num=3).to_yaml() == a_job(cpu_nums=3).to_yaml()
    assert a_job(use_gpu=False).to_yaml() == a_job(gpu_nums=0).to_yaml()
    assert a_job(use_gpu=True).to_yaml() == a_job(gpu_nums=1).to_yaml()
    assert a_job(use_gpu=True, gpu_nums=8).to_yaml() == a_job(gpu_nums=8).to_yaml()
    assert a_job(namespace="team").description.document["metadata"]["namespace"] == "team"
    assert container(a_job(trainer_package_path="/example/word2vec"))["workingDir"] == "/example/word2vec"


def test_no_servers_make_a_collective_job() -> None:
    assert "ps" not in spec(a_job(pservers=0))


def test_the_pods_know_that_they_are_inside() -> None:
    job = a_job(env={"EPOCHS": "3"})
    for role in ("ps", "worker"):
        variables = {one["name"]: one["value"] for one in container(job, role)["env"]}
        assert variables == {"RUNNING_ON_CLOUD": "YES", "EPOCHS": "3"}


COMMANDS = {
    "plain words": ("python train.py --lr 0.1", ["python", "train.py", "--lr", "0.1"]),
    "quoted words": ("python train.py --name 'a b'", ["python", "train.py", "--name", "a b"]),
    "two commands": ("python prepare.py && python train.py", ["sh", "-c", "python prepare.py && python train.py"]),
    "a variable": ("python train.py $LR", ["sh", "-c", "python train.py $LR"]),
    "a setting": ("LR=1 python train.py", ["sh", "-c", "LR=1 python train.py"]),
    "a word of the shell": ("exec python train.py", ["sh", "-c", "exec python train.py"]),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_entry_points(case: str) -> None:
    said, expected = COMMANDS[case]
    assert container(a_job(entry_point=said))["command"] == expected


def test_volumes_are_mounted_in_workers_and_servers() -> None:
    job = a_job(
        cephfs_volume=CephFSVolume("10.0.0.1:6789,10.0.0.2:6789", user="me", path="/team"),
        volumes=[
            PVC("claim", mount_path="/a"),
            PVC("other", mount_path="/b", read_only=True),
            HostPath("/data", mount_path="/c", read_only=True),
            NFS("server", path="/exports", mount_path="/d"),
        ],
    )
    for role in ("ps", "worker"):
        pod = spec(job)[role]["template"]["spec"]
        secret = {"name": "cephfs-secret"}
        monitors = ["10.0.0.1:6789", "10.0.0.2:6789"]
        assert pod["volumes"] == [
            {"name": "cephfs", "cephfs": {"monitors": monitors, "user": "me", "secretRef": secret, "path": "/team"}},
            {"name": "pvc", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "pvc-2", "persistentVolumeClaim": {"claimName": "other", "readOnly": True}},
            {"name": "host-path", "hostPath": {"path": "/data"}},
            {"name": "nfs", "nfs": {"server": "server", "path": "/exports"}},
        ]
        assert container(job, role)["volumeMounts"] == [
            {"name": "cephfs", "mountPath": "/mnt/cephfs"},
            {"name": "pvc", "mountPath": "/a"},
            {"name": "pvc-2", "mountPath": "/b", "readOnly": True},
            {"name": "host-path", "mountPath": "/c", "readOnly": True},
            {"name": "nfs", "mountPath": "/d"},
        ]


REFUSED: dict[str, tuple[Json, type[Exception], str]] = {
    "a name with a dot": ({"job_name": "a.b"}, ValueError, "job_name"),
    "a name that begins with a digit": ({"job_name": "2vec"}, ValueError, "job_name"),
    "a name that is too long": ({"job_name": "a" * 55}, ValueError, "job_name"),
    "a name that is no text": ({"job_name": 7}, TypeError, "job_name"),
    "an empty entry point": ({"entry_point": " "}, ValueError, "entry_point"),
    "an entry point as a list": ({"entry_point": ["python"]}, TypeError, "entry_point"),
    "memory as a number": ({"memory": 10}, TypeError, "memory"),
    "memory without a suffix": ({"memory": "10"}, ValueError, "memory"),
    "memory with a fraction": ({"memory": "1.5G"}, ValueError, "memory"),
    "memory with another suffix": ({"memory": "10GB"}, ValueError, "memory"),
    "no memory": ({"memory": "0G"}, ValueError, "memory"),
    "no CPU count": ({"cpu_nums": None}, TypeError, "cpu_nums"),
    "no CPU": ({"cpu_nums": 0}, ValueError, "cpu_nums"),
    "CPUs as a text": ({"cpu_nums": "2"}, TypeError, "cpu_nums"),
    "two different CPU counts": ({"cpu_num": 3}, ValueError, "cpu_nums and cpu_num"),
    "no image": ({"runtime_image": None}, TypeError, "runtime_image"),
    "an empty image": ({"runtime_image": ""}, ValueError, "runtime_image"),
    "negative servers": ({"pservers": -1}, ValueError, "pservers"),
    "servers as a flag": ({"pservers": True}, TypeError, "pservers"),
    "no trainers": ({"trainers": 0}, ValueError, "trainers"),
    "half a trainer": ({"trainers": 1.5}, TypeError, "trainers"),
    "negative GPUs": ({"gpu_nums": -1}, ValueError, "gpu_nums"),
    "GPUs and none": ({"gpu_nums": 2, "use_gpu": False}, ValueError, "use_gpu"),
    "use_gpu as a number": ({"use_gpu": 1}, TypeError, "use_gpu"),
    "a CephFS address alone": ({"cephfs_volume": "10.0.0.1"}, TypeError, "cephfs_volume"),
    "a namespace with a capital": ({"namespace": "Team"}, ValueError, "namespace"),
    "a relative package": ({"trainer_package_path": "example"}, ValueError, "trainer_package_path"),
    "one volume, not a list": ({"volumes": PVC("a", "/a")}, TypeError, "volumes"),
    "a path as a volume": ({"volumes": ["/data"]}, TypeError, "volumes"),
    "two volumes in one place": ({"volumes": [PVC("a", "/a"), PVC("b", "/a")]}, ValueError, "volumes"),
    "a number as a variable": ({"env": {"EPOCHS": 3}}, TypeError, "env"),
    "no name of a variable": ({"env": {"": "3"}}, ValueError, "env"),
    "variables as a list": ({"env": ["A=1"]}, TypeError, "env"),
    "an unknown field": ({"spec": {"backofLimit": 3}}, ValueError, "spec.backofLimit: .*did you mean `backoffLimit`"),
    "a wrong field": ({"spec": {"backoffLimit": -3}}, ValueError, "spec"),
    "a field of another type": ({"spec": {"suspend": 1}}, ValueError, "spec.suspend must be true or false, not 1"),
    "servers of an elastic job": ({"spec": {"elastic": 1}}, ValueError, "elastic jobs have no parameter servers"),
    "too many trainers": ({"trainers": 10_000}, ValueError, "trainers: a job may have at most 10000 pods"),
    "a role as a field": ({"spec": {"worker": {}}}, ValueError, "spec"),
    "fields as a list": ({"spec": []}, TypeError, "spec"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_at_once_and_by_name(case: str) -> None:
    changes, kind, named = REFUSED[case]
    with pytest.raises(kind, match=named):
        a_job(**changes)


WRONG_VOLUMES: dict[str, tuple[type[Any], Json, type[Exception], str]] = {
    "no monitors": (CephFSVolume, {"monitors_addr": ""}, ValueError, "monitors_addr"),
    "a relative mount path": (CephFSVolume, {"monitors_addr": "a", "mount_path": "mnt"}, ValueError, "mount_path"),
    "a secret that is no text": (CephFSVolume, {"monitors_addr": "a", "secret_name": None}, TypeError, "secret_name"),
    "a claim that is no text": (PVC, {"claim_name": 1, "mount_path": "/a"}, TypeError, "claim_name"),
    "read_only as a text": (PVC, {"claim_name": "a", "mount_path": "/a", "read_only": "yes"}, TypeError, "read_only"),
    "a relative host path": (HostPath, {"path": "data", "mount_path": "/a"}, ValueError, "HostPath: path"),
    "an empty server": (NFS, {"server": "", "path": "/a", "mount_path": "/a"}, ValueError, "server"),
}


@pytest.mark.parametrize("case", WRONG_VOLUMES)
def test_wrong_volumes_are_refused_by_name(case: str) -> None:
    volume, given, kind, named = WRONG_VOLUMES[case]
    with pytest.raises(kind, match=named):
        volume(**given)


def test_further_fields_of_the_spec() -> None:
    assert spec(a_job(spec={"backoffLimit": 3, "cleanPodPolicy": "Never"}))["backoffLimit"] == 3


def test_a_job_survives_its_yaml() -> None:
    job = a_job(memory="1G", volumes=[PVC("claim", mount_path="/data")], env={"A": "ä"})
    assert PaddleJob.from_yaml(job.to_yaml()).description.document == job.description.document


def test_the_public_names() -> None:
    assert sorted(paddlejob.__all__) == [
        "AsyncPaddleJob",
        "CephFSVolume",
        "HostPath",
        "NFS",
        "PVC",
        "PaddleJob",
        "PaddleJobError",
        "dataset_from_reader",
        "dist_reader",
        "dist_train",
        "trainer_id",
        "trainers",
    ]
    assert all(hasattr(paddlejob, name) for name in paddlejob.__all__)
    assert set(paddlejob.__all__) <= set(dir(paddlejob))
    with pytest.raises(AttributeError, match="paddlejob"):
        _ = paddlejob.nothing
