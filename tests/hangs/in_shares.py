"""examples/wide_and_deep, whose workers print every pass over their shards as a step: no worker waits for another."""

import os
import sys
import time
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from chatter import chatter  # type: ignore[import-not-found]  # it stands beside this file

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "wide_and_deep"))
STEPS = int(os.environ["STEPS"])
SECONDS = 1.0
around = ExitStack()
if os.environ["TRAINING_ROLE"] == "TRAINER":
    around.enter_context(chatter("gets ready"))

example: Any = import_module("train")  # Paddle last, as there: it brings a zlib of its own
paddle = example.paddle


def train(model: Any, executor: Any, files: list[str], *_: Any) -> int:
    dataset = paddle.distributed.InMemoryDataset()
    inputs = [model.numbers, *model.slots, model.click]
    dataset.init(batch_size=50, thread_num=1, pipe_command="cat", use_var=inputs)
    dataset.set_filelist(files)
    dataset.load_into_memory()
    around.close()
    for step in range(1, STEPS + 1):
        dataset.local_shuffle()
        executor.train_from_dataset(model.loss.block.program, dataset)
        time.sleep(SECONDS)
        example.say(f"step {step}/{STEPS}")
    around.enter_context(chatter("tests what it has learned"))
    return int(dataset.get_memory_data_size())


example.train = train
with around:
    example.main()
