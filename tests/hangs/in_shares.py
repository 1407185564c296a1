"""examples/wide_and_deep, whose workers print every pass over their shards as a step: no worker waits for another."""

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "wide_and_deep"))
print("imports", flush=True)

example: Any = import_module("train")  # Paddle last, as there: it brings a zlib of its own
paddle = example.paddle

STEPS = int(os.environ["STEPS"])
SECONDS = 0.4


def train(model: Any, executor: Any, files: list[str], *_: Any) -> int:
    dataset = paddle.distributed.InMemoryDataset()
    inputs = [model.numbers, *model.slots, model.click]
    dataset.init(batch_size=50, thread_num=1, pipe_command="cat", use_var=inputs)
    dataset.set_filelist(files)
    dataset.load_into_memory()
    for step in range(1, STEPS + 1):
        dataset.local_shuffle()
        executor.train_from_dataset(model.loss.block.program, dataset)
        time.sleep(SECONDS)
        example.say(f"step {step}/{STEPS}")
    return int(dataset.get_memory_data_size())


example.train = train
example.main()
