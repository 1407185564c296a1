"""A tiny model that all workers train in step: each prints every step, and in the end what it has learned."""

import json
import os
import time

from chatter import chatter  # type: ignore[import-not-found]  # it stands beside this file

STEPS = int(os.environ["STEPS"])
# Stands for what a real model would compute. Next to it, what a busy machine adds is little.
SECONDS = 1.0

with chatter("gets ready"):
    import numpy as np
    import paddle
    import paddle.distributed as dist

    dist.init_parallel_env()
    paddle.seed(7)
    model = paddle.DataParallel(paddle.nn.Linear(8, 1))
    optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
for step in range(1, STEPS + 1):
    rows = np.random.RandomState([dist.get_rank(), step]).rand(16, 8).astype("float32")
    loss = ((model(paddle.to_tensor(rows)) - paddle.to_tensor(rows.sum(1, keepdims=True))) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    time.sleep(SECONDS)
    print(f"step {step}/{STEPS} loss: {float(loss):.4f}", flush=True)
norm = float(sum((one**2).sum() for one in model.parameters()))
print("RESULT " + json.dumps({"rank": dist.get_rank(), "world": dist.get_world_size(), "norm": norm}), flush=True)
