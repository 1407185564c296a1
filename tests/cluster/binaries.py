"""Finds the programs of the test cluster, or builds them once.

$KUBEBUILDER_ASSETS comes first; what it does not hold is built with Go from `modules/`, whose go.mod files pin
every version, into a user cache named after a module's files and the Go version. Run it as
`python -m tests.cluster.binaries` to see a build live. $KUBERNETES names another version than the one we develop on.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

Say = Callable[[str], None]

MODULES = Path(__file__).parent / "modules"

# program -> (folder of the module that pins it, Go package there)
PACKAGES = {
    "etcd": ("etcd", "go.etcd.io/etcd/server/v3"),
    "kwok": ("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    "kube-apiserver": ("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": ("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": ("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kubectl": ("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    "kubelet": ("kubernetes", "k8s.io/kubernetes/cmd/kubelet"),
    "kube-proxy": ("kubernetes", "k8s.io/kubernetes/cmd/kube-proxy"),
    "coredns": ("coredns", "."),
    "volcano-scheduler": ("volcano", "volcano.sh/volcano/cmd/scheduler"),
    "volcano-controllers": ("volcano", "volcano.sh/volcano/cmd/controller-manager"),
    "volcano-webhook-manager": ("volcano", "volcano.sh/volcano/cmd/webhook-manager"),
    "kueue": ("kueue", "sigs.k8s.io/kueue/cmd/kueue"),
    "coscheduling-scheduler": ("scheduler-plugins", "sigs.k8s.io/scheduler-plugins/cmd/scheduler"),
    "coscheduling-controller": ("scheduler-plugins", "sigs.k8s.io/scheduler-plugins/cmd/controller"),
    "kube-apiserver-1-36": ("kubernetes-1.36", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager-1-36": ("kubernetes-1.36", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler-1-36": ("kubernetes-1.36", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kube-apiserver-1-30": ("kubernetes-1.30", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager-1-30": ("kubernetes-1.30", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler-1-30": ("kubernetes-1.30", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "helm": ("helm", "helm.sh/helm/v3/cmd/helm"),
    "helm-4": ("helm-4", "helm.sh/helm/v4/cmd/helm"),
    "promtool": ("prometheus", "github.com/prometheus/prometheus/cmd/promtool"),
}

# folder of a module -> what its source has besides programs (CRDs, webhooks), kept beside them as `config`
CONFIG = {
    "volcano": "config/crd/volcano/bases",
    "kueue": "config/components",
    "scheduler-plugins": "config/crd/bases",
}

GOFLAGS = "-mod=mod -buildvcs=false -trimpath"

WHAT_TO_INSTALL = "install Go 1.24 or newer, or set KUBEBUILDER_ASSETS to a folder that holds them"


class BinariesMissing(Exception):
    """The cluster's programs are not here, and there is no Go to build them: the tests that need them are skipped."""


class BuildFailed(Exception):
    """Go is here and could not build them: never a reason to skip anything."""


@dataclass(frozen=True)
class Programs:
    """Each field is the path of the program of that name; what names no program is never built."""


@dataclass(frozen=True)
class Servers(Programs):
    """A control plane, and who speaks to it."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kube_scheduler: Path
    kubectl: Path


@dataclass(frozen=True)
class Binaries(Servers):
    """A control plane whose nodes are simulated."""

    kwok: Path


@dataclass(frozen=True)
class NodeBinaries(Servers):
    """A control plane and what a real node runs; the rest of that comes in Debian packages."""

    kubelet: Path
    kube_proxy: Path
    coredns: Path


@dataclass(frozen=True)
class Volcano(Programs):
    volcano_scheduler: Path
    volcano_controllers: Path
    volcano_webhook_manager: Path


@dataclass(frozen=True)
class Coscheduling(Programs):
    coscheduling_scheduler: Path
    coscheduling_controller: Path


@dataclass(frozen=True)
class Kueue(Programs):
    kueue: Path


@dataclass(frozen=True)
class NewerServers(Programs):
    """Of the first Kubernetes that schedules gangs by itself."""

    kube_apiserver_1_36: Path
    kube_controller_manager_1_36: Path
    kube_scheduler_1_36: Path


@dataclass(frozen=True)
class OlderServers(Programs):
    """Of the oldest Kubernetes that we run on."""

    kube_apiserver_1_30: Path
    kube_controller_manager_1_30: Path
    kube_scheduler_1_30: Path


OTHERS: dict[str, type[Programs]] = {"1.30": OlderServers, "1.36": NewerServers}

T = TypeVar("T", bound=Programs)


def find_binaries(say: Say) -> Binaries:
    """All programs of the test cluster; `say` hears one line per thing that takes time."""
    found = find_all(Binaries, say)
    version = os.environ.get("KUBERNETES")
    if not version:
        return found
    others, suffix = find_all(OTHERS[version], say), f"_{version.replace('.', '_')}"
    return replace(found, **{name.removesuffix(suffix): path for name, path in vars(others).items()})


def find_all(kind: type[T], say: Say) -> T:
    wanted = [field.name.replace("_", "-") for field in fields(kind)]
    found = dict(_assets(wanted))
    missing = [program for program in wanted if program not in found]
    if missing:
        found |= _built(missing, say)
    return kind(**{program.replace("-", "_"): path for program, path in found.items()})


def _assets(wanted: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """What $KUBEBUILDER_ASSETS holds. kwok is not part of it, so with it kwok may also be on the PATH."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        return
    for program in wanted:
        path = shutil.which(program, path=folder) or (shutil.which(program) if program == "kwok" else None)
        if path:
            yield program, Path(path).resolve()


def _built(programs: list[str], say: Say) -> dict[str, Path]:
    go = shutil.which("go")
    if not go:
        raise BinariesMissing(f"no {', '.join(programs)} here: {WHAT_TO_INSTALL}")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddle-operator" / "cluster"
    go_itself = _run([go, "env", "GOVERSION", "GOOS", "GOARCH"], MODULES)
    wanted = {program: home / _made_from(PACKAGES[program][0], go_itself) / program for program in programs}
    if all(path.exists() for path in wanted.values()):
        return wanted
    home.mkdir(parents=True, exist_ok=True)
    with _lock(home / "lock", say):
        for program, path in wanted.items():
            if not path.exists():
                _build(go, program, path, say)
    return wanted


def _made_from(module: str, go_itself: str) -> str:
    """Changes with everything that decides what is built, so a cached program is never a wrong one."""
    digest = hashlib.sha256()
    for file in sorted((MODULES / module).iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(f"{_ldflags(module)} {GOFLAGS} {go_itself}".encode())
    return f"{module}-{digest.hexdigest()[:16]}"


@contextmanager
def _lock(path: Path, say: Say) -> Iterator[None]:
    """One build at a time: a second run waits for the first one's programs."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is building the test cluster's programs: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(go: str, program: str, path: Path, say: Say) -> None:
    """Builds from a copy of the module (Go may write to it) and renames, so no half-built program is seen."""
    folder, package = PACKAGES[program]
    path.parent.mkdir(exist_ok=True)
    say(f"building {program} {_version(folder)} for the test cluster (once, kept in {path.parent})")
    started = time.monotonic()
    with TemporaryDirectory(dir=path.parent) as scratch:
        module = Path(shutil.copytree(MODULES / folder, Path(scratch) / "module"))
        output = Path(scratch) / program
        _run([go, "build", "-ldflags", _ldflags(folder), "-o", str(output), package], module)
        _keep_config(go, folder, module, path.parent)
        output.replace(path)
    say(f"built {program} in {time.monotonic() - started:.0f} s")


def _keep_config(go: str, folder: str, module: Path, home: Path) -> None:
    """Before the program, so that whoever finds the program finds this, too."""
    if folder not in CONFIG or (home / "config").exists():
        return
    required, _ = _requirement(folder)
    source = Path(_run([go, "list", "-m", "-f", "{{.Dir}}", required], module).strip())
    copy = shutil.copytree(source / CONFIG[folder], module / "config", copy_function=shutil.copyfile)
    for each in (copy, *copy.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)  # Go's own copy is read-only
    copy.replace(home / "config")


def _requirement(folder: str) -> tuple[str, str]:
    """The module, and its version, of the module's own requirement (its only direct one)."""
    requirement = re.search(r"^require (\S+) (v\S+)$", (MODULES / folder / "go.mod").read_text(), re.MULTILINE)
    if requirement is None:
        raise ValueError(f"modules/{folder}/go.mod has no line `require MODULE VERSION`")
    return requirement[1], requirement[2]


def _version(folder: str) -> str:
    return _requirement(folder)[1]


def _ldflags(folder: str) -> str:
    """A plain `go build` of Kubernetes calls itself v0.0.0; clients decide by the version what a server can do."""
    version = _version(folder if folder.startswith("kubernetes") else "kubernetes")
    major, minor = version.removeprefix("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{k}={v}" for k, v in values.items())


def _run(command: list[str], folder: Path) -> str:
    env = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} {GOFLAGS}".strip()}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildFailed(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    return done.stdout


def main() -> int:
    """Those of the test cluster, or the programs that the arguments name."""
    try:
        if sys.argv[1:]:
            _built(sys.argv[1:], lambda line: print(line, flush=True))
            return 0
        binaries = find_binaries(lambda line: print(line, flush=True))
    except BinariesMissing as error:
        if os.environ.get("CI") == "true":
            print(error, file=sys.stderr)
            return 1
        print(f"TESTS THAT NEED A CLUSTER WILL BE SKIPPED: {error}")
        return 0
    print(f"the test cluster's programs are there, such as {binaries.kube_apiserver}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
