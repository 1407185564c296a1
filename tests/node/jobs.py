"""Jobs of which a test knows what they do and when: a line of bash in each pod, or a program from `programs/`.

A gate is a file on the node that pods wait for: whatever a test does to a job, it does while the job runs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.node.user import Manifest, User

# Debian, Python and PaddlePaddle.
IMAGE = "paddle-operator/wide-and-deep:latest"
PROGRAMS = Path(__file__).parent / "programs"
FOR_EVER = "exec sleep infinity"
AT_THE_GATE = "until [ -e /gate/open ]; do sleep 0.2; done"


def a_role(replicas: int, *command: str, image: str = IMAGE, **pod: Any) -> Manifest:
    """A role whose pods run one command; `pod` adds to the pod's spec."""
    return {
        "replicas": replicas,
        "template": {"spec": {"containers": [a_container("paddle", *command, image=image)], **pod}},
    }


def a_container(name: str, *command: str, image: str = IMAGE, **more: Any) -> Manifest:
    return {"name": name, "image": image, "imagePullPolicy": "IfNotPresent", "command": list(command), **more}


def in_bash(replicas: int, script: str, **pod: Any) -> Manifest:
    return a_role(replicas, "bash", "-c", script, **pod)


def a_job(name: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": spec,
    }


def mounted(role: Manifest, path: str, source: Mapping[str, Any]) -> Manifest:
    """The role with a volume in its first container."""
    spec, name = role["template"]["spec"], path.strip("/").replace("/", "-")
    first, *others = spec["containers"]
    mounts = [*first.get("volumeMounts", ()), {"name": name, "mountPath": path}]
    volumes = [*spec.get("volumes", ()), {"name": name, **source}]
    changed = {**spec, "containers": [{**first, "volumeMounts": mounts}, *others], "volumes": volumes}
    return {**role, "template": {**role["template"], "spec": changed}}


def with_env(role: Manifest, env: Mapping[str, str]) -> Manifest:
    """The role with these variables in its first container."""
    spec = role["template"]["spec"]
    first, *others = spec["containers"]
    more = [*first.get("env", ()), *({"name": name, "value": value} for name, value in env.items())]
    changed = {**spec, "containers": [{**first, "env": more}, *others]}
    return {**role, "template": {**role["template"], "spec": changed}}


def on_node(path: str) -> Manifest:
    return {"hostPath": {"path": path, "type": "DirectoryOrCreate"}}


def running(user: User, role: Manifest, *programs: Path) -> Manifest:
    """The role with these files in /program, which a ConfigMap brings."""
    name = f"program-{programs[0].stem.replace('_', '-')}"
    user.kubectl("create", "configmap", name, *(f"--from-file={each}" for each in programs))
    return mounted(role, "/program", {"configMap": {"name": name}})


class Gate:
    """Pods of `gated` roles end when it is opened; `shared` is a folder of the node that they have at /gate."""

    def __init__(self, user: User) -> None:
        self._name = f"gate-{user.namespace}"
        self.shared = user.cluster.folder / "tmp" / self._name
        self.shared.mkdir(exist_ok=True)

    def gated(self, role: Manifest) -> Manifest:
        return mounted(role, "/gate", on_node(f"/tmp/{self._name}"))

    def waiting(self, replicas: int, then: str = "true", **pod: Any) -> Manifest:
        """Pods that wait for it and then do something."""
        return self.gated(in_bash(replicas, f"{AT_THE_GATE}; {then}", **pod))

    def open(self) -> None:
        (self.shared / "open").touch()

    def open_for(self, names: Sequence[str]) -> None:
        for name in names:
            (self.shared / name).touch()
