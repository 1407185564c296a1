"""A real Kubernetes control plane on loopback: etcd, API server, controllers, scheduler, and kwok for the nodes.

It owns their life; pods live as `stages/` says. Tests get it as the fixture `control_plane`. Its data is gone
with its folder, so every run begins with an empty cluster.
"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from tests.cluster import layout as commands
from tests.cluster.api import Api
from tests.cluster.audit import Call, read_calls
from tests.cluster.binaries import Binaries
from tests.cluster.credentials import ADMIN, write_audit_policy, write_kubeconfig, write_signing_key, write_tokens
from tests.cluster.layout import Layout
from tests.cluster.processes import Guard, Process, free_ports
from tests.cluster.waiting import wait_until

OPERATOR_NAMESPACE = "paddle-system"
NODE = "node-0"
NODE_LABELS = {"test.paddlejob/simulated": "true"}
CAPACITY = {"cpu": "10k", "memory": "100Ti", "pods": "100k", "nvidia.com/gpu": "10k"}


# Their garbage may grow: its collection was a quarter of what they cost.
ENV = {"GOGC": "400"}


class KubectlFailed(AssertionError):
    """kubectl ended with an error; the message is what it printed. Whoever waits for a condition tries again."""


@dataclass(frozen=True)
class Variant:
    """What may be otherwise than usual: more kinds, by CRDs of any size; feature gates, open in all programs; no node
    with room for everything from the beginning."""

    kinds: Sequence[Path] = ()
    gates: Sequence[str] = ()
    node: bool = True


USUAL = Variant()


class ControlPlane:
    """Starts on entering, ends on leaving; `apiserver_flags` are added to the API server's own.

    `manifests` are applied before the controllers start, because the garbage collector looks for new kinds only
    every 30 seconds: a job that is deleted earlier would leave its pods for that long.
    """

    def __init__(
        self,
        binaries: Binaries,
        folder: Path,
        *,
        apiserver_flags: Sequence[str] = (),
        manifests: Sequence[Path] = (),
        variant: Variant = USUAL,
    ) -> None:
        port, etcd_port, peer_port = free_ports(3)
        self.layout = Layout(binaries, folder, port, etcd_port, peer_port)
        self._manifests = manifests
        self._variant = variant
        self._others: list[Process] = []
        for each in (self.layout.home, self.layout.logs):
            each.mkdir(parents=True, exist_ok=True)
        write_signing_key(self.layout.signing_key)
        write_audit_policy(self.layout.audit_policy, namespace=OPERATOR_NAMESPACE)
        self.admin_token = write_tokens(self.layout.tokens)[ADMIN]
        self.kubeconfig(self.layout.admin_kubeconfig)
        self.api = Api(port, self.admin_token, self.layout.authority)
        self._guard = Guard()
        self.etcd = self._process(commands.etcd(self.layout))
        everywhere = [f"--feature-gates={','.join(f'{gate}=true' for gate in variant.gates)}"] if variant.gates else []
        self.apiserver = self._process([*commands.apiserver(self.layout), *everywhere, *apiserver_flags])
        self.controller_manager = self._process([*commands.controller_manager(self.layout), *everywhere])
        self.scheduler = self._process([*commands.scheduler(self.layout), *everywhere])
        self.kwok = self._process(commands.kwok(self.layout, binaries.kwok))

    def __enter__(self) -> "ControlPlane":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return self.layout.url

    def start(self) -> None:
        """Returns when a simulated node takes pods."""
        self.etcd.start()
        self.start_apiserver()
        self._apply(self._manifests)
        self.install(*self._variant.kinds)
        for each in (self.controller_manager, self.scheduler, self.kwok):
            each.start()
        if self._variant.node:
            self.add_node(NODE)

    def install(self, *manifests: Path) -> None:
        """CRDs of any size. Returns when they are served."""
        self._apply(manifests, "--server-side")

    def start_beside(
        self, name: str, command: commands.Command, env: Mapping[str, str] = MappingProxyType({})
    ) -> Process:
        """Another program, which ends with the control plane."""
        other = Process(self._guard, command, self.layout.logs / f"{name}.log", {**self._env, **env})
        self._others.append(other)
        other.start()
        return other

    def stop(self) -> None:
        """Ends every process at once: nothing here is worth a graceful end."""
        self.api.close()
        for each in reversed(self._processes()):
            each.kill()
        self._guard.close()

    def start_apiserver(self, *flags: str) -> None:
        """`flags` hold for this start only, such as "--feature-gates=WatchList=false"."""
        self.apiserver.start(*flags)
        self.wait(self._is_ready)
        if self.controller_manager.pid is not None:
            # It backs off for many seconds after an outage, and its work is no part of what is tested.
            self.controller_manager.kill()
            self.controller_manager.start()

    def stop_apiserver(self) -> None:
        """As a crash: a graceful end would wait a minute for the open watches."""
        self.apiserver.kill()

    def restart_apiserver(self, *flags: str) -> None:
        self.stop_apiserver()
        self.start_apiserver(*flags)

    def kubeconfig(self, path: Path, token: str | None = None, namespace: str = "default") -> Path:
        """Writes a kubeconfig for the owner of `token`, the administrator when none is given."""
        return write_kubeconfig(
            path,
            server=self.url,
            authority=self.layout.authority,
            token=token or self.admin_token,
            namespace=namespace,
        )

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        """What the administrator's kubectl prints."""
        done = subprocess.run(
            [self.layout.binaries.kubectl, f"--kubeconfig={self.layout.admin_kubeconfig}", *args],
            input=stdin,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise KubectlFailed(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def audit(self, namespace: str | None = None, since: datetime | None = None) -> list[Call]:
        """The calls of the service accounts of `paddle-system`, to objects of `namespace` when given."""
        return read_calls(self.layout.audit_log, namespace=namespace, since=since)

    def token_for(self, service_account: str, namespace: str = OPERATOR_NAMESPACE) -> str:
        """A fresh token, as a pod of this account would get."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        return str(self.api.post(path, {"spec": {"expirationSeconds": 24 * 3600}})["status"]["token"])

    def add_namespace(self, name: str) -> None:
        """Returns when pods may be made in it: the controllers have given it its service account."""
        self.api.post("/api/v1/namespaces", {"metadata": {"name": name}})
        self.wait(lambda: bool(self.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default")))

    def add_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str] = NODE_LABELS,
        capacity: Mapping[str, str] = CAPACITY,
        kubelet: int | None = None,
    ) -> None:
        """Returns when the node is Ready and the scheduler may use it. `kubelet`: the port on loopback that answers."""
        status: dict[str, Any] = {"capacity": dict(capacity), "allocatable": dict(capacity)}
        if kubelet is not None:  # from the beginning: kwok gives another address to a node that has none
            status["addresses"] = [{"type": "InternalIP", "address": "127.0.0.1"}]
            status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": kubelet}}
        node = {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}, "status": status}
        self.api.post("/api/v1/nodes", node)
        self.wait(lambda: self._takes_pods(name))

    def remove_node(self, name: str) -> None:
        """As a machine that is gone for good; its pods go when the pod garbage collector finds them."""
        self.api.delete(f"/api/v1/nodes/{name}")

    def wait(self, check: Callable[[], bool]) -> None:
        """Waits as long as all processes live; one that died says why at once."""

        def alive_and_so() -> bool:
            for each in self._processes():
                each.check()
            return check()

        wait_until(alive_and_so, timeout=180)

    def _process(self, command: commands.Command) -> Process:
        return Process(self._guard, command, self.layout.logs / f"{Path(command[0]).name}.log", self._env)

    @property
    def _env(self) -> dict[str, str]:
        return {"HOME": str(self.layout.home), **ENV}

    def _processes(self) -> tuple[Process, ...]:
        return self.etcd, self.apiserver, self.controller_manager, self.scheduler, self.kwok, *self._others

    def _apply(self, manifests: Sequence[Path], *how: str) -> None:
        """Returns when the kinds among them are served."""
        if manifests:
            made = self.kubectl("apply", *how, "--output=name", *(f"--filename={file}" for file in manifests)).split()
            prefix = "customresourcedefinition.apiextensions.k8s.io/"
            crds = {one.removeprefix(prefix) for one in made if one.startswith(prefix)}
            self.wait(lambda: self._serves(crds))

    def _is_ready(self) -> bool:
        return self.layout.authority.exists() and self.api.text("GET", "/readyz") == "ok"

    def _serves(self, crds: set[str]) -> bool:
        """Whether kubectl finds the kinds, which are named as their CRDs: those are made, and established, earlier."""
        return crds <= set(self.kubectl("api-resources", "--output=name").split())

    def _takes_pods(self, node: str) -> bool:
        found = self.api.get(f"/api/v1/nodes/{node}")
        conditions = found["status"].get("conditions", [])
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        return ready and not found["spec"].get("taints")
