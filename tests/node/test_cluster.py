"""The tool itself, on a cluster of its own: starts, starts again, starts after a crash, and leaves nothing behind.

They share its name, so they run one after the other.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.binaries import NodeBinaries, find_all
from tests.cluster.waiting import wait_until
from tests.node import images
from tests.node.cluster import Cluster, chosen
from tests.node.network import device_name

ROOT = Path(__file__).parents[2]
NAME = f"{chosen().name}-2"

pytestmark = pytest.mark.timeout(600)

# Seconds for a start up to its last program: on a busy machine the API server alone may take half a minute.
PATIENCE = 240.0


@pytest.fixture
def other() -> Iterator[Cluster]:
    """Beside the one that `make cluster` starts; not started yet."""
    cluster = Cluster(NAME)
    cluster.remove()
    yield cluster
    cluster.remove()


def start(cluster: Cluster) -> None:
    cluster.start(find_all(NodeBinaries, print), images.pause(print), print)


def tool(*args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.node", *args],
        cwd=ROOT,
        env={**os.environ, "CLUSTER": NAME},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def traces() -> list[str]:
    """Whatever on this machine has the cluster's name, or the usual name of something on a node."""
    usual = [f"/var/lib/{each}" for each in (NAME, "kubelet", "containerd", "cni")]
    usual += ["/run/containerd", "/run/netns", "/var/log/pods", "/var/log/containers"]
    found = [path for path in usual if Path(path).exists()]
    found += [line for line in Path("/proc/self/mounts").read_text().splitlines() if NAME in line]
    found += [str(each) for each in Path("/sys/class/net").iterdir() if each.name == device_name(NAME)]
    found += [str(each) for each in Path("/sys/fs/cgroup").glob(f"**/{NAME}")]
    commands = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline")]
    return found + [command.decode() for command in commands if f"/var/lib/{NAME}/".encode() in command]


def test_nothing_is_left_of_a_cluster_that_ran_pods(other: Cluster) -> None:
    before = traces()
    start(other)
    other.kubectl("run", "sleeper", f"--image={images.PAUSE}", "--image-pull-policy=Never")
    other.kubectl("wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s")
    other.remove()
    assert traces() == before


def test_what_runs_is_left_alone_and_what_is_half_dead_is_started_anew(other: Cluster) -> None:
    start(other)
    assert other.is_up()
    other.kubectl("create", "namespace", "mine")
    with tool("up") as again:
        assert "it runs already" in again.communicate()[0]
    assert "mine" in other.kubectl("get", "namespaces")
    other.kill_program("etcd")
    assert not other.is_up()
    with tool("up") as anew:
        assert "it runs already" not in anew.communicate()[0]
    assert anew.returncode == 0
    assert Cluster(NAME).is_up()


@pytest.mark.parametrize("moment", ["holder.log", "kube-apiserver.log", "kubelet.log"])
def test_a_start_that_was_killed_is_no_hindrance_to_the_next(other: Cluster, moment: str) -> None:
    with tool("up") as killed:
        wait_until((other.folder / "log" / moment).exists, PATIENCE)
        killed.send_signal(signal.SIGKILL)
    start(other)
    assert other.is_up()


def test_two_starts_at_once_do_not_meet(other: Cluster) -> None:
    with tool("up") as first:
        wait_until((other.folder / "log").exists)
        with tool("down") as second:
            assert "just now: wait for it" in second.communicate()[0]
        said = first.communicate()[0]
    assert (first.returncode, second.returncode) == (0, 1), said
