"""A small ResNet that several workers train together: every worker holds the whole model and a share of the images.

Start it through `python -m paddle.distributed.launch train.py`, as job.yaml does; it runs on PaddlePaddle 2.6 and 3.
The images are made here, so there is nothing to download. All random numbers are seeded: the same job ends with the
same accuracy, to the last digit, and so does a job that was interrupted and went on from its checkpoint.
"""

import json
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # pods on one machine would fight for its cores
os.environ.setdefault("GLOG_minloglevel", "2")  # quiet; both must be set before Paddle is imported

import numpy as np
import paddle
import paddle.distributed as dist
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

ROWS = int(os.environ.get("ROWS", "4000"))  # of all workers together
EPOCHS = int(os.environ.get("EPOCHS", "3"))
TEST_ROWS = 1000
CLASSES = 10
BATCH = 50  # of each worker

Images = tuple[np.ndarray, np.ndarray]


def make_images(rows: int, seed: int) -> Images:
    """Each class has a coarse pattern of its own; an image shows it a little shifted, under strong noise."""
    patterns = np.random.RandomState(5).randn(CLASSES, 3, 4, 4).repeat(4, axis=2).repeat(4, axis=3)
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, rows)
    shifts = random.randint(-2, 3, (rows, 2))
    clean = [np.roll(patterns[label], shift, axis=(1, 2)) for label, shift in zip(labels, shifts, strict=True)]
    noise = random.randn(rows, 3, 16, 16) * 1.5
    return (np.stack(clean) + noise).astype("float32"), labels.astype("int64")


class Block(nn.Layer):
    """Two convolutions and a shortcut around them, which is what makes a network a ResNet."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = self._convolution(channels_in, channels, 3, stride)
        self.second = self._convolution(channels, channels, 3, 1)
        self.shortcut = self._convolution(channels_in, channels, 1, stride)

    @staticmethod
    def _convolution(channels_in: int, channels: int, size: int, stride: int) -> nn.Layer:
        convolution = nn.Conv2D(channels_in, channels, size, stride, padding=size // 2, bias_attr=False)
        return nn.Sequential(convolution, nn.BatchNorm2D(channels))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


def small_resnet() -> nn.Layer:
    return nn.Sequential(
        *(nn.Conv2D(3, 16, 3, padding=1), nn.ReLU()),
        *(Block(16, 16, stride=1), Block(16, 32, stride=2), Block(32, 64, stride=2)),
        *(nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(64, CLASSES)),
    )


def train_one_epoch(
    model: paddle.DataParallel, optimizer: paddle.optimizer.Optimizer, mine: Images, seed: int
) -> float:
    """DataParallel averages the gradients of all workers inside backward(): all take the same step. Returns the mean
    loss of this worker's batches."""
    images, labels = mine
    order = np.random.RandomState(seed).permutation(len(labels))
    losses = []
    for batch in np.split(order, range(BATCH, len(order), BATCH)):
        loss = F.cross_entropy(model(paddle.to_tensor(images[batch])), paddle.to_tensor(labels[batch]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return float(np.mean(losses))


def average_batch_norm(net: nn.Layer) -> None:
    """Each worker has seen other images, so its running means and variances differ: take the workers' average."""
    if dist.get_world_size() == 1:
        return
    for statistic in (parameter for parameter in net.parameters() if parameter.stop_gradient):
        total = statistic.clone()
        dist.all_reduce(total)
        statistic.set_value(total / dist.get_world_size())


def accuracy(net: nn.Layer, test: Images) -> float:
    net.eval()
    with paddle.no_grad():
        guesses = net(paddle.to_tensor(test[0])).argmax(axis=1).numpy()
    net.train()
    return float((guesses == test[1]).mean())


def norm_of_weights(net: nn.Layer) -> float:
    """One number for the whole model: it is the same on two workers only if they hold the same weights."""
    return float(np.sqrt(sum((p.numpy().astype("float64") ** 2).sum() for p in net.parameters())))


def gather(value: float) -> list[float]:
    """The value of every worker, in the order of their ranks."""
    if dist.get_world_size() == 1:
        return [value]
    values: list[paddle.Tensor] = []
    dist.all_gather(values, paddle.to_tensor([value], dtype="float64"))
    return [one.item() for one in values]


class Checkpoint:
    """The state after the last whole epoch, in CHECKPOINT_DIR: a folder that all workers see. Unset: no checkpoints."""

    def __init__(self, net: nn.Layer, optimizer: paddle.optimizer.Optimizer) -> None:
        folder = os.environ.get("CHECKPOINT_DIR")
        self.path = Path(folder) / "resnet.pdparams" if folder else None
        self.net, self.optimizer = net, optimizer

    def load(self) -> int:
        """Restores the state, if there is one, and returns how many epochs it has behind it."""
        done = 0
        if self.path and self.path.exists():
            state = paddle.load(str(self.path))
            self.net.set_state_dict(state["net"])
            self.optimizer.set_state_dict(state["optimizer"])
            done = state["epochs"]
        if len(set(gather(done))) > 1:
            raise SystemExit(
                "CHECKPOINT_DIR must be a volume that all workers share: not all of them see the same file"
            )
        return done

    def save(self, epochs: int) -> None:
        """Writes beside the old file and renames, so that a job killed in between still finds a whole one."""
        if self.path and dist.get_rank() == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial = self.path.with_suffix(".partial")
            state = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "epochs": epochs}
            paddle.save(state, str(partial))
            partial.replace(self.path)


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    images, labels = make_images(ROWS, seed=100)
    mine = images[rank::world], labels[rank::world]
    test = make_images(TEST_ROWS, seed=1)

    def say(line: str) -> None:
        print(f"worker {rank}/{world}: {line}", flush=True)

    paddle.seed(11)
    net = small_resnet()
    model = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Momentum(0.05, parameters=model.parameters())
    checkpoint = Checkpoint(net, optimizer)
    before = accuracy(net, test)
    done = checkpoint.load()
    say(f"{world} workers; trains on {len(mine[1])} of {ROWS} images; accuracy before training {before:.4f}")
    if done:
        say(f"goes on from the checkpoint after epoch {done}")
    losses = []
    for epoch in range(done, EPOCHS):
        say(f"epoch {epoch + 1} of {EPOCHS} begins")
        losses.append(train_one_epoch(model, optimizer, mine, seed=epoch))
        average_batch_norm(net)
        checkpoint.save(epoch + 1)
        say(f"epoch {epoch + 1} of {EPOCHS}: loss {losses[-1]:.4f}, accuracy {accuracy(net, test):.4f}")
    norms = gather(norm_of_weights(net))
    if len(set(norms)) > 1:
        raise SystemExit(f"the workers do not hold the same model: norms of their weights {norms}")
    result = {"role": "worker", "rank": rank, "world": world, "rows": len(mine[1]), "resumed_after": done}
    result |= {"accuracy_before": before, "accuracy_after": accuracy(net, test)}
    result |= {"losses": losses, "weights_norm": norms[rank]}
    print(f"RESULT {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()
