"""What a person expects of kubectl on any cluster: logs, exec, names, Services, and to wait for the end of a pod."""

from functools import partial

import pytest

from tests.cluster.waiting import wait_until
from tests.node.user import User

pytestmark = pytest.mark.timeout(300)

IMAGE = "paddle-operator/wide-and-deep:latest"
SERVE = "cd / && exec python -m http.server 80"
FETCH = "import urllib.request as u; print(u.urlopen('http://server.{}.svc/etc/hostname', timeout=20).read().decode())"


def run(user: User, name: str, *command: str) -> None:
    user.kubectl("run", name, f"--image={IMAGE}", "--image-pull-policy=Never", "--restart=Never", "--", *command)


def test_logs_exec_and_delete_that_waits(user: User) -> None:
    run(user, "talker", "bash", "-c", "echo hello; trap 'exit 0' TERM; sleep infinity & wait")
    user.kubectl("wait", "--for=condition=Ready", "pod/talker", "--timeout=60s")
    assert user.kubectl("logs", "talker") == "hello\n"
    assert user.kubectl("exec", "talker", "--", "hostname") == "talker\n"
    user.kubectl("delete", "pod", "talker", "--wait")
    assert "talker" not in user.kubectl("get", "pods", "--output=name")


def test_a_pod_finds_another_by_the_name_of_its_service(user: User) -> None:
    """Through CoreDNS, a cluster address and kube-proxy; and a pod finds itself that way, too."""
    run(user, "server", "bash", "-c", SERVE)
    user.kubectl("expose", "pod", "server", "--port=80")
    run(user, "client", "sleep", "infinity")
    for pod in ("server", "client"):
        user.kubectl("wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=60s")
    for pod in ("client", "server"):
        wait_until(partial(answers, user, pod))


def answers(user: User, pod: str) -> bool:
    return user.kubectl("exec", pod, "--", "python", "-c", FETCH.format(user.namespace)).strip() == "server"
