"""A member of a heter job that tells what Paddle's own role maker understands of its environment, and meets the others.

Servers and heter workers then serve until they are ended, as real ones do.
"""

import json
import signal
import socket

import paddle
from paddle.distributed import fleet
from paddle.distributed.fleet.base.private_helper_function import wait_server_ready

paddle.enable_static()
maker = fleet.PaddleCloudRoleMaker(is_collective=False)
fleet.init(maker)
told = {
    "role": "server" if fleet.is_server() else "heter" if maker._is_heter_worker() else "worker",
    "id": maker._role_id(),
    "workers": maker._worker_num(),
    "servers": maker._get_pserver_endpoints(),
    "heter": maker._get_heter_worker_endpoints(),
    "endpoint": maker._cur_endpoint,
}
if not fleet.is_server():
    fleet.util.barrier()
    told |= {
        "stage": maker._get_stage_id(),
        "stages": maker._get_num_stage(),
        "sizes": maker._get_stage_trainers(),
        "device": maker._heter_device_type(),
        "next": maker._get_next_trainers(),
        "previous": maker._get_previous_trainers(),
    }
if told["role"] == "worker":
    wait_server_ready(maker._get_next_trainers() + maker._get_pserver_endpoints())
print("RESULT " + json.dumps(told), flush=True)
if told["role"] != "worker":
    host, _, port = maker._cur_endpoint.rpartition(":")
    with socket.create_server((host, int(port))):
        signal.pause()
