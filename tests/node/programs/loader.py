"""A worker whose DataLoader has processes of its own, which hand it 12 MiB at a time through /dev/shm."""

import json
import os
import shutil

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GLOG_minloglevel", "2")

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.io import DataLoader

STEPS, FEATURES, BATCH = 12, 1 << 20, 12


class Rows:
    """Each says by its mean what it is; everything else in it is noise."""

    def __len__(self) -> int:
        return STEPS * BATCH

    def __getitem__(self, index: int) -> "tuple[np.ndarray, np.ndarray]":
        random = np.random.RandomState(index)
        target = np.float32(random.randn())
        return random.rand(FEATURES).astype("float32") + target, np.array([target])


def main() -> None:
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    paddle.seed(11)
    model = paddle.DataParallel(paddle.nn.Linear(1, 1))
    optimizer = paddle.optimizer.SGD(0.3, parameters=model.parameters())
    losses, most = [], 0
    for rows, targets in DataLoader(Rows(), batch_size=BATCH, num_workers=2, use_shared_memory=True):
        most = max(most, shutil.disk_usage("/dev/shm").used)
        loss = ((model(rows.mean(axis=1, keepdim=True)) - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    result = {"rank": rank, "world": world, "losses": losses, "shared_memory": most}
    print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
