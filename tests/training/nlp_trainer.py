"""PaddleNLP's Trainer on a linear model and numbers: who trained together, and did all learn the same?"""

import json
from typing import Any

import paddle
import paddle.distributed as dist
from paddlenlp.trainer import Trainer, TrainingArguments


class Numbers(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"x": paddle.full([4], float(index)).numpy(), "labels": paddle.full([1], 2.0 * index).numpy()}


class Model(paddle.nn.Layer):  # type: ignore[misc]  # PaddlePaddle has no types
    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(4, 1)

    def forward(self, x: Any, labels: Any = None) -> tuple[Any, Any]:
        made = self.linear(x)
        return paddle.nn.functional.mse_loss(made, labels), made


asked = TrainingArguments(
    output_dir="out", device="cpu", max_steps=3, per_device_train_batch_size=2, logging_steps=1, save_steps=1000,
    disable_tqdm=True, report_to=[],
)  # fmt: skip
model = Model()
Trainer(model=model, args=asked, train_dataset=Numbers()).train()
rank, world = dist.get_rank(), dist.get_world_size()
everybody: list[paddle.Tensor] = []
dist.all_gather(everybody, paddle.to_tensor([rank]))
norms: list[paddle.Tensor] = []
dist.all_gather(norms, model.linear.weight.norm().reshape([1]))
together = len({float(one) for one in norms}) == 1
met = [int(one) for one in everybody]
print("RESULT " + json.dumps({"rank": rank, "world": world, "met": met, "together": together}), flush=True)
