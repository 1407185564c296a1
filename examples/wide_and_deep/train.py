"""Wide & Deep on parameter servers: predicts clicks on ads.

Every pod of the job runs this file. The operator sets TRAINING_ROLE and the addresses in the environment, and `fleet`
reads them: a server keeps its part of the model, a worker trains it with its share of the data. The data is made here.
Each shard is the click log of its own ads and no ad is in two shards, so a worker can know the ads of another worker
only through the servers: how well it scores on them tells whether the workers really train one model.
"""

import gzip
import io
import json
import logging
import os
import sys
import tempfile
import warnings
from contextlib import redirect_stdout
from pathlib import Path

os.environ.setdefault("GLOG_minloglevel", "2")  # quiet; must be set before Paddle is imported

import numpy as np
import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle.distributed import fleet

ROWS = int(os.environ.get("ROWS", "40000"))  # of all shards together
EPOCHS = int(os.environ.get("EPOCHS", "4"))
TEST_ROWS = 2000  # of each shard, held out
SLOTS = 6  # categories such as ad, site, city; each has values of its own
VALUES = 300  # of each category
NUMBERS = 4  # plain features such as age or hour
WIDTH = 9  # of an embedding: one weight for the wide part, the rest for the deep part
TABLE = "embedding"
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def say(line: str) -> None:
    """Prints to the log; plain prints, which Paddle itself is full of, go nowhere."""
    print(line, file=sys.__stdout__, flush=True)


def click_log(shard: int, shards: int, rows: int, seed: int) -> Rows:
    """Categories, numbers and clicks of one shard. A hidden model, the same for all shards, decides who clicks."""
    hidden = np.random.RandomState(2024)
    of_value, of_number = hidden.randn(SLOTS, VALUES) * 0.8, hidden.randn(NUMBERS) * 0.8
    random = np.random.RandomState([seed, shard])
    values = (VALUES // shards * random.rand(rows, SLOTS) ** 2).astype("int64") * shards + shard
    numbers = random.uniform(-1, 1, (rows, NUMBERS)).astype("float32")
    score = of_value[np.arange(SLOTS), values].sum(1) + numbers @ of_number
    clicks = (random.rand(rows) < 1 / (1 + np.exp(-score))).astype("int64")
    return values + np.arange(SLOTS) * VALUES, numbers, clicks


def layer(inputs: paddle.static.Variable, width: int, activation: str | None = None) -> paddle.static.Variable:
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Normal(0, inputs.shape[1] ** -0.5))
    return paddle.static.nn.fc(inputs, width, activation=activation, weight_attr=attr)


class WideAndDeep:
    """The network as a static graph, which is what parameter servers need."""

    def __init__(self) -> None:
        self.numbers = paddle.static.data("numbers", [None, NUMBERS])
        self.slots = [paddle.static.data(f"slot{i}", [None, 1], "int64") for i in range(SLOTS)]
        self.click = paddle.static.data("click", [None, 1], "int64")
        # The table lives on the servers; a worker fetches only the rows that its batch needs.
        attr = paddle.ParamAttr(name=TABLE, initializer=paddle.nn.initializer.Uniform(-0.01, 0.01))
        size = [SLOTS * VALUES, WIDTH]
        rows = [paddle.static.nn.sparse_embedding(slot, size, param_attr=attr) for slot in self.slots]
        rows = [paddle.reshape(row, [-1, WIDTH]) for row in rows]
        wide = paddle.add_n([row[:, :1] for row in rows]) + layer(self.numbers, 1)
        deep = paddle.concat([row[:, 1:] for row in rows] + [self.numbers], axis=1)
        logit = wide + layer(layer(layer(deep, 32, "relu"), 16, "relu"), 1)
        self.chance = F.sigmoid(logit)
        self.loss = F.binary_cross_entropy_with_logits(logit, paddle.cast(self.click, "float32"))


def minimize(loss: paddle.static.Variable) -> None:
    """Makes the graph a distributed one: parameters and optimizer move to the servers."""
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    # Into how many pieces the table is cut; the servers share them out. The default of 1000 suits millions of rows.
    strategy.sparse_table_configs = {TABLE: {f"table_parameters.{TABLE}.shard_num": 10}}
    fleet.distributed_optimizer(paddle.optimizer.Adam(0.002, lazy_mode=True), strategy).minimize(loss)


def predict(model: WideAndDeep, values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The chance of a click, by the model as it is on the servers now."""
    runtime = fleet.fleet._runtime_handle  # embeddings come with every batch, but the layers must be fetched:
    for dense in (context for context in runtime._send_ctx.values() if not context.is_sparse()):
        names = [name.removesuffix("@GRAD") for name in dense.origin_varnames()]
        runtime._worker.pull_dense_params(paddle.static.global_scope(), dense.table_id(), names)
    program = model.loss.block.program
    forward = paddle.static.normalize_program(program, [model.numbers, *model.slots], [model.chance])
    feed = {"numbers": numbers, **{slot.name: values[:, i : i + 1] for i, slot in enumerate(model.slots)}}
    # A new executor each time: one that has run train_from_dataset crashes on a feed.
    chance = paddle.static.Executor(paddle.CPUPlace()).run(forward, feed, [model.chance.name])[0]
    return np.clip(chance.reshape(-1), 1e-7, 1 - 1e-7)


def auc(clicks: np.ndarray, chance: np.ndarray) -> float:
    """How often a clicked row scores above one that was not clicked: 0.5 is guessing, 1.0 is perfect."""
    rank = np.empty(len(chance))
    rank[np.argsort(chance)] = np.arange(1, len(chance) + 1)
    clicked = clicks.sum()
    return float((rank[clicks == 1].sum() - clicked * (clicked + 1) / 2) / (clicked * (len(clicks) - clicked)))


def write_text(path: Path, rows: Rows) -> None:
    """Paddle's text format: in each line, for every input its length and then its values."""
    with path.open("w") as file:
        for values, numbers, click in zip(*rows, strict=True):
            slots = " ".join(f"1 {value}" for value in values)
            file.write(f"{NUMBERS} {' '.join(f'{number:.6f}' for number in numbers)} {slots} 1 {click}\n")


def loss_of(chance: np.ndarray, clicks: np.ndarray) -> float:
    return float(-np.log(np.where(clicks == 1, chance, 1 - chance)).mean())


def train(model: WideAndDeep, executor: paddle.static.Executor, files: list[str], held_out: Rows) -> int:
    """Trains on the files and returns how many rows they hold. After each epoch it tells the loss on held-out rows."""
    values, numbers, clicks = held_out
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=50, thread_num=1, pipe_command="cat", use_var=[model.numbers, *model.slots, model.click])
    dataset.set_filelist(files)
    dataset.load_into_memory()
    rows = int(dataset.get_memory_data_size())
    me = f"worker {fleet.worker_index()}/{fleet.worker_num()}"
    for epoch in range(EPOCHS):
        say(f"{me}: epoch {epoch + 1} of {EPOCHS} begins")
        dataset.local_shuffle()
        # This keeps fetching the layers' weights. With executor.run, batch by batch, they would silently never change.
        executor.train_from_dataset(model.loss.block.program, dataset)
        loss = loss_of(predict(model, values, numbers), clicks)
        say(f"{me}: epoch {epoch + 1} of {EPOCHS}: held-out loss {loss:.4f}")
    return rows


def rows_of_each_server(model: WideAndDeep, executor: paddle.static.Executor, folder: Path) -> list[int] | None:
    """Lets every server save its part of the table, and counts the rows. None when the servers have another disk."""
    fleet.save_persistables(executor, str(folder), model.loss.block.program)  # all workers call it, the first one acts
    rows = [0] * fleet.server_num()
    for part in folder.glob("000/part-*-*.gz"):  # 000 is the table; the name holds the server's number
        rows[int(part.name.split("-")[1])] += len(gzip.decompress(part.read_bytes()).splitlines())
    return rows if any(rows) else None


def work(model: WideAndDeep) -> None:
    """The whole life of a worker: score, train on its own shards, score again."""
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    rank, world, shards = fleet.worker_index(), fleet.worker_num(), max(4, fleet.worker_num())
    mine = [int(name) for name in fleet.util.get_file_shard([str(shard) for shard in range(shards)])]
    tests = [click_log(shard, shards, TEST_ROWS, seed=1) for shard in range(shards)]
    values, numbers, clicks = (np.concatenate(part) for part in zip(*tests, strict=True))
    foreign = np.repeat([shard not in mine for shard in range(shards)], TEST_ROWS)
    result = {"role": "worker", "rank": rank, "world": world, "shards": mine}

    def evaluate(when: str) -> None:
        chance = predict(model, values, numbers)
        loss, score = loss_of(chance, clicks), auc(clicks, chance)
        others = auc(clicks[foreign], chance[foreign]) if foreign.any() else None
        result.update({f"loss_{when}": loss, f"auc_{when}": score, "auc_on_others_ids": others})
        also = f" ({others:.4f} on ads that only other workers see)" if others else ""
        say(f"worker {rank}/{world}: {when} training: held-out loss {loss:.4f}, AUC {score:.4f}{also}")
        fleet.util.barrier()

    say(f"worker {rank}/{world}: sees {fleet.server_num()} servers, {world} workers; takes shards {mine} of {shards}")
    evaluate("before")
    for shard in mine:
        write_text(Path(f"shard-{shard}.txt"), click_log(shard, shards, ROWS // shards, seed=0))
    result["rows"] = train(model, executor, [f"shard-{shard}.txt" for shard in mine], (values, numbers, clicks))
    say(f"worker {rank}/{world}: trained on {result['rows']} rows, {EPOCHS} times")
    fleet.util.barrier()
    evaluate("after")
    result["server_rows"] = rows_of_each_server(model, executor, Path("model").absolute())
    for server, rows in enumerate(result["server_rows"] or []):
        say(f"worker {rank}/{world}: server {server} holds {rows} of {SLOTS * VALUES} rows of the table")
    fleet.stop_worker()
    say(f"RESULT {json.dumps(result)}")


def main() -> None:
    if "TRAINING_ROLE" not in os.environ:
        sys.exit("This is one process of a job. Start all of it: paddlejob run examples/wide_and_deep/job.yaml")
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="wide-and-deep-") as folder, redirect_stdout(io.StringIO()):
        os.chdir(folder)  # Paddle writes files of its own to the working directory
        paddle.enable_static()
        paddle.seed(7)
        fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
        model = WideAndDeep()
        minimize(model.loss)
        fleet.init_server() if fleet.is_server() else work(model)
    if fleet.is_server():
        os.chdir(tempfile.gettempdir())
        say(f"server {fleet.server_index()}/{fleet.server_num()}: ready")
        paddle.disable_signal_handler()  # the operator ends servers by SIGTERM; Paddle would print a stack trace
        fleet.run_server()  # returns only when it cannot listen
        sys.exit(f"server cannot listen: is {os.environ['POD_IP']}:{os.environ['PADDLE_PORT']} in use?")


if __name__ == "__main__":
    main()
