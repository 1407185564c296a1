"""`make cluster` and `make cluster-down`, step by step: python -m tests.node machine|programs|images|up|load|find|down.

Only one of them at a time changes a cluster. $CLUSTER names another one than the usual.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.binaries import BinariesMissing, BuildFailed, NodeBinaries, find_all
from tests.node import images, machine
from tests.node.cluster import chosen
from tests.node.namespaces import CommandFailed
from tools.installer import CannotMake


def say(line: object) -> None:
    print(line, flush=True)


def look_at_machine() -> None:
    machine.prepare(say)
    say("this machine can run a cluster")


def get_programs() -> None:
    say(f"such as {find_all(NodeBinaries, say).kubelet}")


def build_images() -> None:
    machine.prepare(say)
    for image in (images.operator(say), *images.training(say)):
        say(image.name)


def up() -> None:
    machine.prepare(say)
    cluster = chosen()
    with _alone(cluster.name):
        if cluster.is_up():
            say("it runs already")
        else:
            cluster.start(find_all(NodeBinaries, say), images.pause(say), say)


def load() -> None:
    cluster = chosen()
    with _alone(cluster.name):
        cluster.load([images.operator(say), *images.training(say)], say)
    say("\nTo use it:")
    say(f"  export KUBECONFIG={cluster.kubeconfig} PATH={cluster.kubectl_program.parent}:$PATH")
    say("  kubectl create -f deploy/v1/crd.yaml -f deploy/v1/operator.yaml")
    say("  kubectl create -f deploy/examples/wide_and_deep.yaml")


def find() -> None:
    """Tests never pass because there was nothing to test on."""
    if os.geteuid() != 0:
        raise machine.CannotRun("to work on a cluster needs root, as to start it does")
    cluster = chosen()
    if not cluster.is_up():
        raise machine.CannotRun(f"the cluster {cluster.name} does not run on this machine: `make cluster` starts one")
    say(f"the cluster {cluster.name} runs")


def down() -> None:
    if os.geteuid() != 0:
        raise machine.CannotRun("to end a cluster needs root, as to start it does")
    cluster = chosen()
    with _alone(cluster.name):
        cluster.remove()
    say(f"nothing of {cluster.name} is left; Debian packages, and what was built or downloaded for it, stay")


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """A name that the kernel gives to one process and takes back when that ends in any way; nothing on disk."""
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            lock.bind(f"\0{name}")
        except OSError as error:
            raise machine.CannotRun(f"another process starts or ends {name} just now: wait for it") from error
        yield


STEPS = {
    "machine": look_at_machine,
    "programs": get_programs,
    "images": build_images,
    "up": up,
    "load": load,
    "find": find,
    "down": down,
}


def main() -> int:
    try:
        STEPS[sys.argv[1]]()
    except (machine.CannotRun, BinariesMissing, BuildFailed, CannotMake, CommandFailed, AssertionError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
