"""PaddleNLP's Trainer on a model of a few numbers, each step slowed down to what a real one takes."""

import time
from typing import Any

import paddle
from paddlenlp.trainer import Trainer, TrainingArguments


class Numbers(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    def __len__(self) -> int:
        return 80

    def __getitem__(self, index: int) -> dict[str, Any]:
        time.sleep(0.025)
        return {"x": paddle.full([4], index / 40).numpy(), "labels": paddle.full([1], index / 20).numpy()}


class Model(paddle.nn.Layer):  # type: ignore[misc]  # PaddlePaddle has no types
    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(4, 1)

    def forward(self, x: Any, labels: Any = None) -> tuple[Any, Any]:
        made = self.linear(x)
        return paddle.nn.functional.mse_loss(made, labels), made


asked = TrainingArguments(
    output_dir="out", device="cpu", num_train_epochs=6, per_device_train_batch_size=4, logging_steps=5, save_steps=1000,
    evaluation_strategy="steps", eval_steps=40, report_to=[],
)  # fmt: skip
Trainer(model=Model(), args=asked, train_dataset=Numbers(), eval_dataset=Numbers()).train()
