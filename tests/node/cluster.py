"""A whole cluster of one real node on this machine: starts it, ends it, and what tests do to it meanwhile.

It goes on when the command that started it ends; any process that runs as root finds it again by its name. What is
found half-dead is taken down and started anew: nothing of it is worth repairing.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cached_property
from pathlib import Path

from tests.cluster.binaries import NodeBinaries, Say
from tests.cluster.control_plane import KubectlFailed
from tests.cluster.layout import Command
from tests.cluster.waiting import wait_until
from tests.node import cgroups, network
from tests.node.layout import NAME, NodeLayout, commands, folder
from tests.node.namespaces import CommandFailed, Namespaces
from tests.node.oci import Image, write_archive
from tests.node.settings import DNS_RIGHTS, write_settings

# The node says that it has them, so that jobs that ask for a GPU are placed. There is nothing behind it.
GPUS = 4


def chosen() -> "Cluster":
    """The one that all commands and tests mean: $CLUSTER names another one than the usual."""
    return Cluster(os.environ.get("CLUSTER") or NAME)


class Cluster:
    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = folder(name)
        self.namespaces = Namespaces(name, self.folder)

    @cached_property
    def layout(self) -> NodeLayout:
        """Known when the node has its address."""
        address = (self.folder / "address").read_text()
        binaries = NodeBinaries(**{each.name: self._bin(each.name) for each in fields(NodeBinaries)})
        return NodeLayout(binaries, self.folder, 6443, 2379, 2380, address, self.name)

    @property
    def kubeconfig(self) -> Path:
        return self.layout.admin_kubeconfig

    @property
    def kubectl_program(self) -> Path:
        return self._bin("kubectl")

    def is_up(self) -> bool:
        """Whether it takes pods: all its programs run and the node says so."""
        if self.namespaces.holder() is None or not (self.folder / "address").exists():
            return False
        return all(self.runs(program) for program in self._commands) and self._is_ready()

    def start(self, binaries: NodeBinaries, pause: Image, say: Say) -> None:
        """Returns when the node takes pods."""
        self.remove()
        for each in ("bin", "home", "lib", "log", "tmp"):
            (self.folder / each).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        for program in fields(NodeBinaries):
            # Copied: the cluster must not depend on a cache that may go.
            shutil.copy2(getattr(binaries, program.name), self._bin(program.name))
        cgroups.create(self.name)
        self.namespaces.create()
        (self.folder / "address").write_text(network.connect(self.namespaces, self.name))
        write_settings(self.layout, pause.name)
        self.namespaces.run(["mount", "--bind", self.layout.hosts, "/etc/hosts"])
        self._start_control_plane(say)
        self._start_node(pause, say)

    def remove(self) -> None:
        """Every trace: processes, mounts, network, cgroups, files. Does nothing when there is none."""
        self.namespaces.destroy()
        wait_until(lambda: not network.is_connected(self.name))
        cgroups.remove(self.name)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.__dict__.pop("layout", None)
        self.__dict__.pop("_commands", None)

    def load(self, images: Iterable[Image], say: Say) -> None:
        """Into containerd, unless it has them already."""
        missing = [image for image in images if self._loaded().get(image.name) != image.digest]
        if not missing:
            return
        for image in missing:
            say(f"loading {image.name}")
        command = self.namespaces.entering(["ctr", "--namespace=k8s.io", "images", "import", "-"])
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as ctr:
            assert ctr.stdin is not None
            assert ctr.stdout is not None
            write_archive(missing, ctr.stdin)
            ctr.stdin.close()
            said = ctr.stdout.read().decode()
        if ctr.returncode:
            raise CommandFailed(f"ctr images import: {said.strip()}")

    def runs(self, program: str) -> bool:
        return bool(self.namespaces.pids(Path(self._commands[program][0])))

    def start_program(self, program: str) -> None:
        self.namespaces.start(self._commands[program], self.layout.log(program))

    def kill_program(self, program: str) -> None:
        """As a crash would end it: containers go on."""
        path = Path(self._commands[program][0])
        for pid in self.namespaces.pids(path):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.namespaces.pids(path))

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        """What the administrator's kubectl prints."""
        done = subprocess.run(
            [self.kubectl_program, f"--kubeconfig={self.kubeconfig}", *args],
            input=stdin,
            env={"HOME": str(self.folder / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise KubectlFailed(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def _start_control_plane(self, say: Say) -> None:
        self._begin("etcd", "kube-apiserver")
        self._wait("the API server", lambda: self.kubectl("get", "--raw=/readyz") == "ok", say)
        self.kubectl("apply", "-f", "-", stdin=json.dumps(DNS_RIGHTS))
        self._begin("kube-controller-manager", "kube-scheduler", "coredns")

    def _start_node(self, pause: Image, say: Say) -> None:
        self._begin("containerd")
        self._wait("containerd", lambda: bool(self.namespaces.run(["ctr", "version"])), say)
        self.load([pause], say)
        self._begin("kubelet", "kube-proxy")
        self._wait("the node", self._is_ready, say)
        gpus = {"status": {"capacity": {"nvidia.com/gpu": str(GPUS)}, "allocatable": {"nvidia.com/gpu": str(GPUS)}}}
        self.kubectl("patch", "node", self.name, "--subresource=status", "--type=merge", f"--patch={json.dumps(gpus)}")
        self._wait("the service account", lambda: bool(self.kubectl("get", "serviceaccount", "default")), say)

    def _begin(self, *programs: str) -> None:
        for program in programs:
            self.start_program(program)

    def _wait(self, what: str, check: Callable[[], bool], say: Say) -> None:
        """As long as everything that was started lives; what died says why at once."""
        began = time.monotonic()

        def alive_and_so() -> bool:
            for program in self._commands:
                log = self.layout.log(program)
                if log.exists() and not self.runs(program):
                    tail = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:])
                    raise CommandFailed(f"{program} ended; its log says:\n{tail}")
            try:
                return check()
            except CommandFailed as error:
                raise AssertionError(str(error)) from error

        wait_until(alive_and_so, timeout=120)
        say(f"{what} is ready ({time.monotonic() - began:.0f} s)")

    def _is_ready(self) -> bool:
        try:
            node = json.loads(self.kubectl("get", "node", self.name, "--output=json"))
        except KubectlFailed:
            return False
        ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"]["conditions"])
        return ready and not node["spec"].get("taints")

    def _loaded(self) -> dict[str, str]:
        """The images that containerd has, with their digests."""
        listed = self.namespaces.run(["ctr", "--namespace=k8s.io", "images", "list"]).splitlines()[1:]
        return {line.split()[0]: line.split()[2] for line in listed}

    @cached_property
    def _commands(self) -> dict[str, Command]:
        return commands(self.layout)

    def _bin(self, program: str) -> Path:
        return self.folder / "bin" / program.replace("_", "-")
