"""Pods on this machine follow a kubelet's rules: init containers, sidecars, restarts, volumes, environment."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.waiting import wait_until
from tests.local.workbench import Json, Workbench, a_role

HERE = ("sh", "-c")


def a_pod(*containers: Json, **spec: Any) -> Json:
    return {"replicas": 1, "template": {"spec": {"containers": list(containers), **spec}}}


def a_container(name: str, script: str, **more: Any) -> Json:
    return {"name": name, "image": "a", "command": [*HERE, script], **more}


def test_init_containers_run_one_after_the_other_before_the_rest(bench: Workbench) -> None:
    steps = bench.folder / "steps"
    inits = [a_container("one", f"sleep 0.2; echo one >> {steps}"), a_container("two", f"echo two >> {steps}")]
    path = bench.write("ordered", worker=a_pod(a_container("paddle", f"echo main >> {steps}"), initContainers=inits))
    assert bench.paddlejob("run", path).returncode == 0
    assert steps.read_text().split() == ["one", "two", "main"]


def test_an_init_container_that_fails_fails_the_job(bench: Workbench) -> None:
    inits = [a_container("prepare", "echo no data; exit 4")]
    path = bench.write("unprepared", worker=a_pod(a_container("paddle", "true"), initContainers=inits))
    done = bench.paddlejob("run", path)
    assert (done.returncode, "exit code 4" in done.stdout, "no data" in done.stdout) == (1, True, True)


def test_sidecars_run_beside_and_end_with_the_pod(bench: Workbench) -> None:
    mark = bench.folder / "side"
    side = a_container("side", f"touch {mark}; exec sleep 1000", restartPolicy="Always")
    main = a_container("paddle", f"while [ ! -e {mark} ]; do sleep 0.05; done")
    path = bench.write("accompanied", worker=a_pod(main, initContainers=[side]))
    assert bench.paddlejob("run", path).returncode == 0


@pytest.mark.parametrize(("code", "exits"), [(0, 0), (3, 1)])
def test_a_proxy_that_never_ends_neither_holds_a_job_open_nor_fails_it(bench: Workbench, code: int, exits: int) -> None:
    proxy = a_container("a-proxy", "exec sleep 1000")
    path = bench.write("proxied", worker=a_pod(proxy, a_container("paddle", f"exit {code}")))
    done = bench.paddlejob("run", path)
    assert done.returncode == exits, done.stdout + done.stderr
    assert bench.state("proxied").job.status.phase == ("Failed" if code else "Completed")


def test_the_users_own_restart_policy_is_followed(bench: Workbench) -> None:
    tries = bench.folder / "tries"
    script = f"echo x >> {tries}; [ $(wc -l < {tries}) -ge 2 ]"
    path = bench.write("again", worker=a_pod(a_container("paddle", script), restartPolicy="OnFailure"))
    assert bench.paddlejob("run", path).returncode == 0
    assert tries.read_text() == "x\nx\n"
    assert bench.state("again").pods[0].containers[0].restart_count == 1


def test_volumes_are_where_the_template_mounts_them(bench: Workbench) -> None:
    (bench.folder / "data").mkdir()
    (bench.folder / "data" / "in.txt").write_text("42")
    role = a_pod(
        {
            "name": "paddle",
            "image": "a",
            "command": [*HERE, "cat /nas/in.txt > /scratch/out.txt; cat /scratch/out.txt /etc/settings/rate"],
            "volumeMounts": [
                {"name": "data", "mountPath": "/nas"},
                {"name": "scratch", "mountPath": "/scratch"},
                {"name": "settings", "mountPath": "/etc/settings"},
            ],
        },
        volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "scratch", "emptyDir": {}},
            {"name": "settings", "configMap": {"name": "settings"}},
        ],
    )
    path = bench.write("mounted", worker=role)
    settings = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {rate: '0.5'}\n"
    path.write_text(path.read_text() + settings)
    done = bench.paddlejob("run", path, "--volume", f"claim={bench.folder / 'data'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[mounted-worker-0] 420.5" in done.stdout


def test_every_pod_has_an_address_of_its_own_on_which_it_can_listen(bench: Workbench) -> None:
    done = bench.paddlejob("run", bench.write("apart", worker=a_role(3, *HERE, "echo at $POD_IP:$PADDLE_PORT")))
    endpoints = [line.split()[-1] for line in done.stdout.splitlines() if "] at " in line]
    assert len(set(endpoints)) == 3
    assert all(endpoint.startswith("127.") for endpoint in endpoints)
    assert len({endpoint.rpartition(":")[0] for endpoint in endpoints}) == 3


def test_two_jobs_at_once_do_not_share_a_port(bench: Workbench) -> None:
    """A Paddle launcher takes its port on every address, so another address is not enough."""
    bench.paddlejob(
        "run", "--detach", bench.write("first", worker=a_role(1, *HERE, "echo at $PADDLE_PORT; sleep 1000"))
    )
    log = bench.state_root / "default" / "first" / "logs" / "first-worker-0.paddle.log"
    wait_until(lambda: log.exists() and log.read_text().startswith("at "))
    done = bench.paddlejob("run", bench.write("second", worker=a_role(1, *HERE, "echo at $PADDLE_PORT")))
    assert "] at " in done.stdout
    assert log.read_text().strip() not in done.stdout  # whoever of this machine has the usual port now
    bench.paddlejob("delete", "first")


def test_where_there_is_one_address_every_pod_has_a_port_of_its_own(bench: Workbench) -> None:
    path = bench.write(
        "together", worker=a_role(2, *HERE, "echo at $POD_IP:$PADDLE_PORT $PADDLE_MASTER $PADDLE_NNODES")
    )
    done = bench.paddlejob("run", "--one-address", path)
    words = [line.split()[2:] for line in done.stdout.splitlines() if "] at " in line]
    (first, master, nodes), (second, *_) = sorted(words)
    assert first != second
    assert all(endpoint.startswith("127.0.0.1:") for endpoint in (first, second))
    assert (master, nodes) == (first, "2")


def test_what_the_job_says_about_the_intranet_does_not_matter_here(bench: Workbench) -> None:
    for intranet in ("Service", "HostNetwork"):
        path = bench.write(intranet.lower(), worker=a_role(2, *HERE, "echo $POD_IP"), intranet=intranet)
        done = bench.paddlejob("run", path)
        assert done.returncode == 0
        assert len({line for line in done.stdout.splitlines() if "] 127." in line}) == 2
