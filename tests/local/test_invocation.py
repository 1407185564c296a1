"""From a container to a process: command line, environment and folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddlejob.local.invocation import Setting, Surroundings, process
from paddlejob.local.processes import Process
from paddlejob.local.volumes import NotYet

POD: dict[str, Any] = {
    "metadata": {
        "name": "train-worker-0",
        "namespace": "team",
        "uid": "123",
        "labels": {"app": "ctr"},
        "annotations": {"note/a": "b"},
    },
    "spec": {},
}
SETTING = Setting(
    pod=POD,
    address="127.1.2.3",
    maps={
        "ConfigMap/train": {"PADDLE_PORT": "2379", "RATE": "0.1"},
        "ConfigMap/more": {"RATE": "0.2"},
        "Secret/keys": {"TOKEN": "t"},
    },
    folder=Path("/here"),
    around=Surroundings(
        Path("/job"),
        {"PATH": "/bin", "PADDLE_TRAINERS_NUM": "9", "TRAINING_ROLE": "X", "NNODES": "9", "RANK": "8", "HOME": "/me"},
    ),
)
LOG_DIR = "/job/launcher/train-worker-0.0"


def made(setting: Setting = SETTING, **container: Any) -> Process:
    return process({"name": "paddle", "command": ["run"], **container}, setting, trains=True)


def env(*variables: dict[str, Any], **container: Any) -> dict[str, str]:
    found = made(env=list(variables), **container).env
    return {name: value for name, value in found.items() if name not in ("PATH", "HOME", "PADDLE_LOG_DIR")}


def from_field(path: str) -> dict[str, Any]:
    return {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}


FIELDS = {
    "metadata.name": "train-worker-0",
    "metadata.namespace": "team",
    "metadata.uid": "123",
    "metadata.labels['app']": "ctr",
    "metadata.annotations['note/a']": "b",
    "metadata.labels['none']": "",
    "status.podIP": "127.1.2.3",
    "status.hostIP": "127.0.0.1",
    "spec.nodeName": "localhost",
    "spec.serviceAccountName": "default",
}


@pytest.mark.parametrize("path", FIELDS)
def test_a_pod_can_ask_for_its_own_fields(path: str) -> None:
    assert env(from_field(path)) == {"X": FIELDS[path]}


def test_values_refer_to_those_before_them_and_to_sources() -> None:
    one = {"name": "A", "value": "$(PADDLE_PORT)"}
    two = {"name": "B", "value": "$(A)-$(LATER)-$$(A)"}
    later = {"name": "LATER", "value": "x"}
    found = env(one, two, later, envFrom=[{"configMapRef": {"name": "train"}}])
    assert (found["A"], found["B"]) == ("2379", "2379-$(LATER)-$(A)")


def test_of_two_sources_the_later_wins_and_single_values_win_over_both() -> None:
    sources = [{"configMapRef": {"name": "train"}}, {"configMapRef": {"name": "more"}, "prefix": ""}]
    assert env(envFrom=sources)["RATE"] == "0.2"
    assert env({"name": "RATE", "value": "1"}, envFrom=sources)["RATE"] == "1"


def test_sources_may_have_a_prefix_and_may_be_secrets() -> None:
    assert env(envFrom=[{"secretRef": {"name": "keys"}, "prefix": "MY_"}]) == {"MY_TOKEN": "t"}


def test_single_keys_come_from_config_maps_and_secrets() -> None:
    one = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "train", "key": "RATE"}}}
    two = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "TOKEN"}}}
    assert env(one, two) == {"A": "0.1", "B": "t"}


def test_what_is_optional_may_be_missing() -> None:
    key = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "train", "key": "NO", "optional": True}}}
    assert env(key, envFrom=[{"configMapRef": {"name": "none", "optional": True}}]) == {}


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "a config map": ({"envFrom": [{"configMapRef": {"name": "none"}}]}, 'configmap "none" not found'),
    "a secret": ({"envFrom": [{"secretRef": {"name": "none"}}]}, 'secret "none" not found'),
    "a key": (
        {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "train", "key": "NO"}}}]},
        "couldn't find key NO in ConfigMap train",
    ),
    "an unknown field": ({"env": [from_field("status.mood")]}, "fieldRef status.mood"),
    "an unknown kind of source": ({"env": [{"name": "A", "valueFrom": {"moon": {}}}]}, "env A: moon"),
    "a command": ({"command": [], "image": "paddle:1"}, "paddlejob run FILE -- python train.py"),
}


@pytest.mark.parametrize("case", MISSING)
def test_a_container_waits_for_what_is_missing_and_says_so(case: str) -> None:
    container, said = MISSING[case]
    with pytest.raises(NotYet) as waiting:
        made(**container)
    assert said in str(waiting.value)


def test_the_shells_environment_is_passed_on_but_for_what_paddle_would_mistake_for_its_own() -> None:
    assert made().env == {"PATH": "/bin", "HOME": "/me", "PADDLE_LOG_DIR": LOG_DIR}


def test_command_and_arguments_are_expanded() -> None:
    found = made(command=["python"], args=["-p", "$(PADDLE_PORT)"], envFrom=[{"configMapRef": {"name": "train"}}])
    assert found.argv == ("python", "-p", "2379")


def test_a_given_command_replaces_that_of_the_training_container_only() -> None:
    around = Surroundings(Path("/job"), {}, command=("python", "x.py"))
    setting = msgspec.structs.replace(SETTING, around=around)
    container = {"name": "a", "command": ["run"], "args": ["fast"]}
    assert process(container, setting, trains=True).argv == ("python", "x.py")
    assert process(container, setting, trains=False).argv == ("run", "fast")


def test_it_runs_in_its_working_directory_or_in_the_folder_of_the_file() -> None:
    assert made().cwd == "/here"
    assert made(workingDir="/work").cwd == "/work"


def test_mount_paths_are_replaced_wherever_they_are_named() -> None:
    paths = {"deep": "/real/deep", "nas": "/real/nas"}
    spec = {"volumes": [{"name": name, "hostPath": {"path": path}} for name, path in paths.items()]}
    found = made(
        msgspec.structs.replace(SETTING, pod={**POD, "spec": spec}),
        volumeMounts=[{"name": "nas", "mountPath": "/nas"}, {"name": "deep", "mountPath": "/nas/deep"}],
        command=["bash", "-c"],
        args=["cd /nas/wide; python /nas/deep/train.py --out=/nas --not=/nasty/x"],
        env=[{"name": "DATA", "value": "/nas/data"}],
        workingDir="/nas",
    )
    assert found.argv[2] == "cd /real/nas/wide; python /real/deep/train.py --out=/real/nas --not=/nasty/x"
    assert (found.env["DATA"], found.cwd) == ("/real/nas/data", "/real/nas")


LAUNCH = ["python", "-m", "paddle.distributed.launch", "train.py"]
LOG_DIRS: dict[str, tuple[dict[str, Any], str | None]] = {
    "a launcher": ({"command": LAUNCH}, LOG_DIR),
    "a script that launches": ({"command": ["bash", "plain.sh"]}, LOG_DIR),
    "a folder in the command": ({"command": [*LAUNCH, "--log_dir=mine"]}, None),
    "a folder in a shell's command": ({"command": ["sh", "-c", "fleetrun --log_dir mine train.py"]}, None),
    "a folder in the script": ({"command": ["bash", "chooses.sh"]}, None),
    "a folder in the environment": (
        {"command": LAUNCH, "env": [{"name": "PADDLE_LOG_DIR", "value": "mine"}]},
        "mine",
    ),
}


@pytest.mark.parametrize("case", LOG_DIRS)
def test_launchers_of_two_pods_never_write_into_one_folder_unless_the_user_says_so(tmp_path: Path, case: str) -> None:
    container, folder = LOG_DIRS[case]
    (tmp_path / "plain.sh").write_text("fleetrun train.py")
    (tmp_path / "chooses.sh").write_text("fleetrun --log_dir output train.py")
    setting = msgspec.structs.replace(SETTING, folder=tmp_path)
    assert made(setting, **container).env.get("PADDLE_LOG_DIR") == folder
    sidecar = process({"name": "other", "command": LAUNCH}, setting, trains=False)
    assert "PADDLE_LOG_DIR" not in sidecar.env
