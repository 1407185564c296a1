"""Steps of which PaddleDetection's own LogPrinter tells, `ppdet/engine/callbacks.py` of the package `paddledet` 2.6.0.

The steps are no training, whose data loaders need what cannot be installed here any more: `python detection_log.py
FOLDER-OF-THE-PACKAGE`.
"""

import ast
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paddle

EPOCHS, STEPS = 6, 40
package = Path(sys.argv[1])


def part(file: str, *names: str, **known: Any) -> dict[str, Any]:
    """Classes and functions of a file as they stand there, without what else it imports."""
    tree = ast.parse((package / file).read_text())
    kept: list[ast.stmt] = [
        one for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name in names
    ]
    space = {**known, "__name__": file}
    exec(compile(ast.Module(kept, []), file, "exec"), space)
    return space


import collections  # noqa: E402
import datetime  # noqa: E402
import functools  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402

import numpy as np  # noqa: E402
import paddle.distributed as dist  # noqa: E402

stats = part("ppdet/utils/stats.py", "SmoothedValue", "TrainingStats", collections=collections, np=np)
logs = part("ppdet/utils/logger.py", "setup_logger", functools=functools, logging=logging, sys=sys, os=os, dist=dist,
            logger_initialized=[])  # fmt: skip
printing = part("ppdet/engine/callbacks.py", "Callback", "LogPrinter", dist=dist, datetime=datetime,
                logger=logs["setup_logger"]("ppdet.engine"))  # fmt: skip


class Config(dict[str, Any]):
    epoch, log_iter = EPOCHS, 10


printer = printing["LogPrinter"](SimpleNamespace(cfg=Config(TrainReader={"batch_size": 8})))
seen = stats["TrainingStats"](20)
status: dict[str, Any] = {"mode": "train", "steps_per_epoch": STEPS, "learning_rate": 0.01, "training_staus": seen}
status |= {name: stats["SmoothedValue"](10, fmt="{avg:.4f}") for name in ("batch_time", "data_time")}
for epoch in range(EPOCHS):
    for step in range(STEPS):
        time.sleep(0.1)
        loss = paddle.to_tensor(1.0 / (1 + epoch * STEPS + step))
        seen.update({"loss_xy": loss / 2, "loss": loss})
        status["batch_time"].update(0.1)
        status["data_time"].update(0.01)
        printer.on_step_end({**status, "epoch_id": epoch, "step_id": step})
