"""paddle.Model.fit on numbers, each step slowed down to what a real one takes; prints lines, or a bar with `bar`."""

import sys
import time
from typing import Any

import numpy
import paddle


class Numbers(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        time.sleep(0.01)
        rng = numpy.random.default_rng(index)
        return rng.random(4, "float32"), numpy.array([index % 2], "int64")


network = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
model = paddle.Model(network)
model.prepare(
    paddle.optimizer.Adam(parameters=network.parameters()), paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy()
)
verbose, epochs = (1, 6) if "bar" in sys.argv else (2, 10)
model.fit(Numbers(200), Numbers(20), batch_size=4, epochs=epochs, eval_freq=2, log_freq=10, verbose=verbose)
