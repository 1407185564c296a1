"""PaddleOCR's own training loop, `tools/program.py` of the package `paddleocr` 2.10.0, on a model of a few numbers.

What the loop only imports, for data that are not used here, is left out: `python ocr_train.py FOLDER-OF-THE-PACKAGE`.
"""

import importlib.machinery
import sys
import time
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import numpy
import paddle

package = sys.argv[1]
sys.path[:0] = [f"{package}/paddleocr", package]
for name in ("ppocr.data", "ppocr.utils.export_model", "ppocr.utils.loggers", "ppocr.utils.save_load"):
    stand_in = MagicMock(spec=ModuleType)
    stand_in.__spec__ = importlib.machinery.ModuleSpec(name, None)
    for needed in ("build_dataloader", "export", "WandbLogger", "Loggers", "save_model"):
        setattr(stand_in, needed, MagicMock())
    sys.modules[name] = stand_in

from ppocr.utils.logging import get_logger  # type: ignore[import-not-found]  # noqa: E402

from tools import program  # type: ignore[attr-defined]  # noqa: E402


class Numbers(paddle.io.Dataset):  # type: ignore[misc]  # PaddlePaddle has no types
    need_reset = False

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> Any:
        time.sleep(0.03)
        return numpy.random.default_rng(index).random(4, "float32")


class Judge:
    main_indicator = "acc"

    def __call__(self, *_: object) -> None: ...

    def get_metric(self) -> dict[str, float]:
        return {"acc": 0.5}


def loss(made: Any, _: Any) -> dict[str, Any]:
    return {"loss": (made * made).mean()}


model = paddle.nn.Linear(4, 1)
data = paddle.io.DataLoader(Numbers(), batch_size=4)
program.build_dataloader = lambda *_, **__: data
config = {
    "Global": {
        "log_smooth_window": 5,
        "epoch_num": 8,
        "print_batch_step": 5,
        "eval_batch_step": [0, 60],
        "save_epoch_step": 100,
        "save_model_dir": "out",
        "cal_metric_during_train": False,
    },
    "profiler_options": None,
    "Architecture": {"algorithm": "CRNN", "model_type": "rec"},
    "Optimizer": {},
}
program.train(
    config, data, data, "cpu", model, loss, paddle.optimizer.SGD(0.01, parameters=model.parameters()), 0.01,
    lambda *_: None, Judge(), {}, get_logger(), len(data),
)  # fmt: skip
