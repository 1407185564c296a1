"""Training whose workers may come and go: it ends with the same model however many there were in between.

When a worker comes or goes, the launcher stops every trainer and starts this script again from the top, with another
number of workers. Three things make that harmless, and any script needs them: a checkpoint on a volume that all workers
share, written aside and renamed; a batch of a fixed size that is divided among the workers, however many there are; and
data that depends on the number of the step alone. Runs on PaddlePaddle 2.6 and 3, through paddle.distributed.launch.
"""

import json
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # pods on one machine would fight for its cores
os.environ.setdefault("GLOG_minloglevel", "2")  # quiet; both must be set before Paddle is imported

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn

STEPS = int(os.environ.get("STEPS", "300"))
SECONDS_PER_STEP = float(os.environ.get("SECONDS_PER_STEP", "0.2"))  # time to watch; a real model takes it anyway
CHECKPOINT = Path(os.environ.get("CHECKPOINT_DIR", "checkpoints")) / "elastic.pdparams"
STEPS_PER_CHECKPOINT = 5
BATCH = 60  # of all workers together
FEATURES = 16


def make_batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of one step: whoever asks gets the same, so a step can be done again after a restart."""
    truth = np.random.RandomState(7).randn(FEATURES, 1)
    random = np.random.RandomState(1000 + step)
    x = random.randn(BATCH, FEATURES)
    y = np.tanh(x @ truth) + 0.1 * random.randn(BATCH, 1)
    return x.astype("float32"), y.astype("float32")


def share(rank: int, world: int) -> slice:
    """Which rows of a batch are this worker's."""
    return slice(BATCH * rank // world, BATCH * (rank + 1) // world)


def train_one_step(model: nn.Layer, optimizer: paddle.optimizer.Optimizer, step: int) -> float:
    """DataParallel takes the mean over the workers: weighted like this, it is the mean over the rows of the batch."""
    rank, world = dist.get_rank(), dist.get_world_size()
    x, y = (one[share(rank, world)] for one in make_batch(step))
    loss = ((model(paddle.to_tensor(x)) - paddle.to_tensor(y)) ** 2).sum() * world / BATCH
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return float(loss)


def save(net: nn.Layer, optimizer: paddle.optimizer.Optimizer, steps: int) -> None:
    """Rank 0 writes beside the old file and renames: whoever is stopped in between leaves a whole one."""
    if dist.get_rank() == 0:
        CHECKPOINT.parent.mkdir(parents=True, exist_ok=True)
        partial = CHECKPOINT.with_suffix(f".{os.getpid()}.partial")
        state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "steps": steps}
        paddle.save(state, str(partial))
        partial.replace(CHECKPOINT)


def load(net: nn.Layer, optimizer: paddle.optimizer.Optimizer) -> int:
    """Goes on where the last checkpoint was made; returns how many steps it has behind it."""
    if not CHECKPOINT.exists():
        return 0
    state = paddle.load(str(CHECKPOINT))
    net.set_state_dict(state["net"])
    optimizer.set_state_dict(state["optimizer"])
    return int(state["steps"])


def refuse_to_differ(steps: int) -> None:
    """Workers that begin at different steps do not see the same folder, and would train nonsense together."""
    if dist.get_world_size() > 1:
        others: list[paddle.Tensor] = []
        dist.all_gather(others, paddle.to_tensor([steps]))
        if len({int(one) for one in others}) > 1:
            raise SystemExit("CHECKPOINT_DIR must be a volume that all workers share: they see different checkpoints")


def pause(step: int) -> None:  # noqa: ARG001  # the tests hold a certain step
    time.sleep(SECONDS_PER_STEP)


def norm_of_weights(net: nn.Layer) -> float:
    """One number for the whole model."""
    return float(np.sqrt(sum((p.numpy().astype("float64") ** 2).sum() for p in net.parameters())))


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    paddle.seed(11)
    net = nn.Sequential(nn.Linear(FEATURES, 32), nn.Tanh(), nn.Linear(32, 1))
    model = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Momentum(0.05, parameters=model.parameters())
    done = load(net, optimizer)
    refuse_to_differ(done)
    print(f"worker {rank} of {world}: begins at step {done} of {STEPS}", flush=True)
    for step in range(done, STEPS):
        loss = train_one_step(model, optimizer, step)
        if (step + 1) % STEPS_PER_CHECKPOINT == 0:
            save(net, optimizer, step + 1)
            if rank == 0:
                print(f"step {step + 1} of {STEPS} with {world} workers: loss {loss:.4f}", flush=True)
        pause(step)
    save(net, optimizer, STEPS)
    result = {"role": "worker", "rank": rank, "world": world, "steps": STEPS, "weights_norm": norm_of_weights(net)}
    print(f"RESULT {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()
