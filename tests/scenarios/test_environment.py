"""What Paddle is told, as it stands in the cluster: the ConfigMap and each pod's environment, to the letter."""

from __future__ import annotations

import pytest

from tests.scenarios.desk import Desk, Json, a_job, a_role

pytestmark = pytest.mark.usefixtures("operator")


def told(desk: Desk, pod: str) -> dict[str, str]:
    """The environment of the container `paddle` as its kubelet would make it."""
    found = desk.pod(pod)
    container = next(one for one in found["spec"]["containers"] if one["name"] == "paddle")
    made: dict[str, str] = {}
    for source in container["envFrom"]:
        made |= desk.config(source["configMapRef"]["name"])
    for one in container["env"]:
        value = value_of(desk, found, one)
        for name, known in made.items():
            value = value.replace(f"$({name})", known)
        made[one["name"]] = value
    return made


def value_of(desk: Desk, pod: Json, variable: Json) -> str:
    source = variable.get("valueFrom", {})
    if "fieldRef" in source:
        assert source["fieldRef"]["fieldPath"] == "status.podIP"
        return str(pod["status"]["podIP"])
    if "configMapKeyRef" in source:
        return desk.config(source["configMapKeyRef"]["name"])[source["configMapKeyRef"]["key"]]
    return str(variable["value"])


def test_a_ps_job_by_address(desk: Desk) -> None:
    uid = desk.submit(a_job("ctr", ps=a_role(2), worker=a_role(2)))["metadata"]["uid"]
    desk.in_phase("ctr", "Running")
    address = {name: pod["status"]["podIP"] for name, pod in desk.pods().items()}
    servers, workers = [[address[f"ctr-{role}-{i}"] for i in (0, 1)] for role in ("ps", "worker")]
    shared = {
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_TRAINER_ENDPOINTS": ",".join(f"{one}:2379" for one in workers),
        "PADDLE_TRAINERS": ",".join(workers),
        "PADDLE_PORT": "2379",
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(f"{one}:2379" for one in servers),
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{servers[0]}:2380",
        f"PADDLE_JOB_ENVIRONMENT_{uid[:8]}_0": "0",
        "TRAINERS": "2",
        "PSERVERS": "2",
    }
    assert desk.config("ctr") == shared
    assert told(desk, "ctr-ps-1") == shared | {
        "POD_IP": servers[1],
        "PADDLE_TRAINER_ID": "1",
        "TRAINER_ID": "1",
        "TRAINING_ROLE": "PSERVER",
        "PADDLE_TRAINING_ROLE": "PSERVER",
        "PADDLE_CURRENT_ENDPOINT": f"{servers[1]}:2379",
        "PADDLE_JOB_ENVIRONMENT": "0",
        "PADDLE_JOB_ID": f"{desk.namespace}-ctr-{uid[:8]}-0000",
    }


def test_a_collective_job_by_service(desk: Desk) -> None:
    uid = desk.submit(a_job("net", worker=a_role(2, starts="at-once"), intranet="Service"))["metadata"]["uid"]
    desk.in_phase("net", "Running")
    hosts = [f"net-worker-{i}.{desk.namespace}.svc" for i in (0, 1)]
    shared = {
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_TRAINER_ENDPOINTS": f"{hosts[0]}:2379,{hosts[1]}:2379",
        "PADDLE_TRAINERS": ",".join(hosts),
        "PADDLE_PORT": "2379",
        "TRAINER_PORTS_NUM": "20",
        f"PADDLE_JOB_ENVIRONMENT_{uid[:8]}_0": "0",
        "TRAINERS": "2",
        "PSERVERS": "0",
        "NNODES": "2",
        "MASTER_ADDR": hosts[0],
        "MASTER_PORT": "2380",
        "TRAINER_INSTANCES": ",".join(hosts),
    }
    assert desk.config("net") == shared
    assert told(desk, "net-worker-1") == shared | {
        "POD_IP": hosts[1],
        "PADDLE_TRAINER_ID": "1",
        "TRAINER_ID": "1",
        "RANK": "1",
        "POD_INDEX": "1",
        "TRAINING_ROLE": "TRAINER",
        "PADDLE_TRAINING_ROLE": "TRAINER",
        "PADDLE_CURRENT_ENDPOINT": f"{hosts[1]}:2379",
        "PADDLE_JOB_ENVIRONMENT": "0",
        "PADDLE_JOB_ID": f"{desk.namespace}-net-{uid[:8]}-0000",
        "PADDLE_DISTRI_BACKEND": "gloo",
    }


def test_services_are_headless_and_lead_to_one_pod_each(desk: Desk) -> None:
    desk.submit(a_job("net", worker=a_role(2, starts="at-once"), intranet="Service"))
    desk.in_phase("net", "Running")
    for service in desk.objects("services"):
        spec = service["spec"]
        assert (spec["clusterIP"], spec["publishNotReadyAddresses"]) == ("None", True)
        assert spec["selector"] == {"paddle-res-name": service["metadata"]["name"]}
        assert [port["port"] for port in spec["ports"]] == [2379]


def test_children_belong_to_the_job_and_say_who_they_are(desk: Desk) -> None:
    uid = desk.submit(a_job("kin", ps=a_role(1)))["metadata"]["uid"]
    desk.in_phase("kin", "Running")
    for child in [*desk.pods().values(), desk.api.get(f"/api/v1/namespaces/{desk.namespace}/configmaps/kin")]:
        (owner,) = child["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (uid, True, True)
    server = desk.pod("kin-ps-0")
    assert server["metadata"]["labels"] == {
        "paddle-res-name": "kin-ps-0",
        "paddle-res-type": "ps",
        "batch.paddlepaddle.org/job-name": "kin",
        "batch.paddlepaddle.org/index": "0",
        "batch.paddlepaddle.org/attempt": "0",
    }
    assert server["metadata"]["annotations"]["paddle-resource"] == "ps"
    assert server["spec"]["restartPolicy"] == "Never"
    assert server["spec"]["containers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"
