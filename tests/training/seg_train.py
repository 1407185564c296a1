"""PaddleSeg's train on a small network and images that are noise, as its tools/train.py calls it."""

import json
from typing import Any

import numpy
import paddle
import paddle.distributed as dist
from paddleseg.core import train
from paddleseg.models.losses import CrossEntropyLoss


class Images(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    num_classes = 2
    ignore_index = 255

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> dict[str, Any]:
        rng = numpy.random.default_rng(index)
        return {"img": rng.random((3, 16, 16), "float32"), "label": rng.integers(0, 2, (16, 16)).astype("int64")}


class Network(paddle.nn.Layer):  # type: ignore[misc]  # PaddlePaddle has no types
    def __init__(self) -> None:
        super().__init__()
        self.layer = paddle.nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, images: Any) -> list[Any]:
        return [self.layer(images)]


network = Network()
optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
losses = {"types": [CrossEntropyLoss()], "coef": [1]}
train(network, Images(), optimizer=optimizer, losses=losses, iters=3, batch_size=1, save_dir="out", log_iters=10)
rank, world = dist.get_rank(), dist.get_world_size()
everybody: list[paddle.Tensor] = []
dist.all_gather(everybody, paddle.to_tensor([rank]))
norm: list[paddle.Tensor] = []
dist.all_gather(norm, network.parameters()[0].norm().reshape([1]))
together = len({float(one) for one in norm}) == 1
met = [int(one) for one in everybody]
print("RESULT " + json.dumps({"rank": rank, "world": world, "met": met, "together": together}), flush=True)
