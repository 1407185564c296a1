"""Services and the ConfigMap, as golden objects: SPEC 2 and the service that the user's design document prints.

Users select on these labels and resolve these names: any change here is seen outside.
"""

from __future__ import annotations

from paddlejob.core import observe
from paddlejob.core.config_maps import config_map
from paddlejob.core.services import service
from tests.builders import UID, a_ps_job

OWNER = {
    "apiVersion": "batch.paddlepaddle.org/v1",
    "blockOwnerDeletion": True,
    "controller": True,
    "kind": "PaddleJob",
    "name": "wide-ande-deep-service",
    "uid": UID,
}
JOB = a_ps_job().named("wide-ande-deep-service").in_namespace("paddle-system").by_service().build()


def test_the_service_of_the_users_design_document() -> None:
    assert service(JOB, observe(JOB).of_role("ps")[0]) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "wide-ande-deep-service-ps-0",
            "namespace": "paddle-system",
            "labels": {
                "paddle-res-name": "wide-ande-deep-service-ps-0",
                "paddle-res-type": "ps",
                "batch.paddlepaddle.org/job-name": "wide-ande-deep-service",
                "batch.paddlepaddle.org/index": "0",
                "batch.paddlepaddle.org/attempt": "0",
            },
            "ownerReferences": [OWNER],
        },
        "spec": {
            "clusterIP": "None",
            "ipFamilyPolicy": "PreferDualStack",
            "publishNotReadyAddresses": True,
            "selector": {"paddle-res-name": "wide-ande-deep-service-ps-0"},
            "ports": [{"name": "paddle", "port": 2379, "targetPort": 2379, "protocol": "TCP"}],
        },
    }


def test_the_config_map_has_the_jobs_name_and_holds_the_environment() -> None:
    assert config_map(JOB, {"PADDLE_PORT": "2379"}) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "wide-ande-deep-service",
            "namespace": "paddle-system",
            "labels": {
                "batch.paddlepaddle.org/job-name": "wide-ande-deep-service",
                "batch.paddlepaddle.org/attempt": "0",
            },
            "ownerReferences": [OWNER],
        },
        "data": {"PADDLE_PORT": "2379"},
    }
