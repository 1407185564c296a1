"""PaddleSeg's train on a small network and images that are noise, each step slowed down to what a real one takes."""

import time
from typing import Any

import numpy
import paddle
from paddleseg.core import train
from paddleseg.models.losses import CrossEntropyLoss


class Images(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    num_classes = 2
    ignore_index = 255

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> dict[str, Any]:
        time.sleep(0.08)
        rng = numpy.random.default_rng(index)
        return {"img": rng.random((3, 16, 16), "float32"), "label": rng.integers(0, 2, (16, 16)).astype("int64")}


class Network(paddle.nn.Layer):  # type: ignore[misc]  # PaddlePaddle has no types
    def __init__(self) -> None:
        super().__init__()
        self.layer = paddle.nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, images: Any) -> list[Any]:
        return [self.layer(images)]


class Loss(CrossEntropyLoss):  # type: ignore[misc]  # PaddlePaddle has no types
    """Of one element: PaddleSeg 2.8.0 cannot tell of the scalars that PaddlePaddle makes today."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return super().forward(*args, **kwargs).reshape([1])


network = Network()
optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
losses = {"types": [Loss()], "coef": [1]}
train(network, Images(), optimizer=optimizer, losses=losses, iters=240, batch_size=1, save_dir="out", log_iters=10)
