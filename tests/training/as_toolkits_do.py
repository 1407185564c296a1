"""The launch lines of PaddleFormers and ERNIEKit: they drop what Paddle knows of the others, and go by other names.

`as_toolkits_do.py [--rank] SCRIPT`: PaddleFormers gives the launcher a rank, ERNIEKit does not. ERNIEKit's package on
PyPI (1.3.0) cannot be started itself: it imports a package `ernie` that does not come with it.
"""

import os
import sys

DROPPED = (
    "PADDLE_TRAINERS_NUM",
    "PADDLE_TRAINER_ID",
    "PADDLE_WORKERS_IP_PORT_LIST",
    "PADDLE_TRAINERS",
    "PADDLE_NUM_GRADIENT_SERVERS",
    "PADDLE_ELASTIC_JOB_ID",
    "PADDLE_TRAINER_ENDPOINTS",
    "DISTRIBUTED_TRAINER_ENDPOINTS",
    "FLAGS_START_PORT",
    "PADDLE_ELASTIC_TIMEOUT",
)
for name in DROPPED:
    os.environ.pop(name, None)
master = f"{os.environ.get('MASTER_ADDR', '127.0.0.1')}:{os.environ.get('MASTER_PORT', '8080')}"
asked = ["--master", master, "--nnodes", os.environ.get("NNODES", "1")]
if "--rank" in sys.argv:
    asked += ["--rank", os.environ.get("RANK", "0"), "--run_mode=collective"]
os.execvp("python", ["python", "-m", "paddle.distributed.launch", *asked, sys.argv[-1]])
