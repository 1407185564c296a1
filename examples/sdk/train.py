"""word2vec by Python alone: this file makes the data, submits the job, and is what the job's pods run.

    python train.py            submits to the cluster of your kubeconfig
    python train.py --local    runs on this machine: two parameter servers, three trainers

Learns a vector for every word, so that words which stand together have similar vectors (skip-gram with negative
examples). Each trainer reads its own share of the data; the vectors are on the parameter servers, which all trainers
train together. Needs PaddlePaddle 2.6: the wheels of 3.x have no parameter server.
"""

import io
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from itertools import islice
from pathlib import Path
from random import Random

os.environ.setdefault("GLOG_minloglevel", "2")  # quiet; must be set before Paddle is imported

import numpy as np
import paddle
import paddle.job as job  # noqa: PLR0402 - as the documents write it
from paddle.distributed import fleet

TOPICS = [
    ["cat", "dog", "horse", "sheep", "fox", "wolf", "goat", "hen"],
    ["ship", "captain", "sailor", "pirate", "harbour", "island", "anchor", "sea"],
    ["cook", "baker", "kitchen", "oven", "bread", "flour", "salt", "sugar"],
    ["violin", "drum", "choir", "singer", "stage", "concert", "melody", "rhythm"],
]
WORDS = [word for topic in TOPICS for word in topic]
WIDTH = 8  # of a word's vector
TABLES = ("words", "others")
DATA = Path(os.environ.get("DATA_DIR", "data")) / "train.csv"

Pair = tuple[int, ...]


def pairs(count: int = 36000, seed: int = 1) -> Iterator[Pair]:
    """Two words, and whether they were seen together; as often a pair that was not."""
    random = Random(seed)
    for _ in range(count):
        topic = random.choice(TOPICS)
        together = random.random() < 0.5
        others = topic if together else random.choice([one for one in TOPICS if one is not topic])
        yield WORDS.index(random.choice(topic)), WORDS.index(random.choice(others)), int(together)


def prepare() -> None:
    """Writes the data. Real data would be on a volume that all pods see; the file appears only when it is complete."""
    DATA.parent.mkdir(parents=True, exist_ok=True)
    partial = DATA.with_name(f"{DATA.name}.{os.getpid()}")
    job.dataset_from_reader(partial, pairs)
    partial.replace(DATA)


def say(line: str) -> None:
    """Prints to the log; plain prints, which Paddle itself is full of, go nowhere."""
    print(line, file=sys.__stdout__, flush=True)


class Likeness:
    """The network: two words are alike when their vectors point in the same direction."""

    def __init__(self) -> None:
        self.words = [paddle.static.data(name, [None, 1], "int64") for name in ("word", "other")]
        self.together = paddle.static.data("together", [None, 1], "float32")
        first, second = (self._vectors(word, table) for word, table in zip(self.words, TABLES, strict=True))
        self.likeness = paddle.sum(first * second, axis=1, keepdim=True)
        self.loss = paddle.nn.functional.binary_cross_entropy_with_logits(self.likeness, self.together)

    @staticmethod
    def _vectors(words: paddle.static.Variable, table: str) -> paddle.static.Variable:
        attr = paddle.ParamAttr(name=table, initializer=paddle.nn.initializer.Uniform(-0.5, 0.5))
        found = paddle.static.nn.sparse_embedding(words, [len(WORDS), WIDTH], param_attr=attr)
        return paddle.reshape(found, [-1, WIDTH])

    @staticmethod
    def feed(rows: Iterable[Pair]) -> dict[str, np.ndarray]:
        columns = np.array(list(rows), dtype="int64")
        return {"word": columns[:, :1], "other": columns[:, 1:2], "together": columns[:, 2:].astype("float32")}

    def minimize(self) -> None:
        """Makes the network a distributed one: the vectors move to the servers."""
        strategy = fleet.DistributedStrategy()
        strategy.a_sync = True
        # Tables are cut into so many pieces, which the servers share out. The default of 1000 is for millions of words.
        strategy.sparse_table_configs = {table: {f"table_parameters.{table}.shard_num": 10} for table in TABLES}
        fleet.distributed_optimizer(paddle.optimizer.Adam(0.02, lazy_mode=True), strategy).minimize(self.loss)

    def accuracy(self) -> float:
        """How often the model, as it is on the servers now, is right about pairs that nobody trained on."""
        forward = paddle.static.normalize_program(self.loss.block.program, self.words, [self.likeness])
        held_out = self.feed(pairs(1000, seed=2))
        right = held_out.pop("together")
        guessed = paddle.static.Executor(paddle.CPUPlace()).run(forward, held_out, [self.likeness.name])[0]
        fleet.util.barrier()
        return float(((guessed > 0) == right).mean())


def train(model: Likeness, reader: Callable[[], Iterator[Pair]]) -> None:
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    me, seen, rows = f"trainer {job.trainer_id()}/{job.trainers()}", 0, reader()
    before = model.accuracy()
    while batch := list(islice(rows, 50)):
        loss = executor.run(feed=model.feed(batch), fetch_list=[model.loss])[0]
        seen += len(batch)
        if seen % 3000 == 0:
            say(f"{me}: {seen} pairs, loss {float(loss):.3f}")
    fleet.util.barrier()  # all have trained
    after = model.accuracy()
    say(f"{me}: right about {before:.0%} of new pairs before, {after:.0%} now")
    result = {"trainer": job.trainer_id(), "world": fleet.worker_num(), "servers": fleet.server_num()}
    say(f"RESULT {json.dumps({**result, 'pairs': seen, 'accuracy_before': before, 'accuracy_after': after})}")
    fleet.stop_worker()


def trainer() -> None:
    """What every pod of the job does, servers too."""
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    if not DATA.exists():
        prepare()
    with redirect_stdout(io.StringIO()):
        paddle.enable_static()
        fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
        model = Likeness()
        model.minimize()
        if not fleet.is_server():
            train(model, job.dist_reader(DATA, trainers=job.trainers(), trainer_id=job.trainer_id()))
            return
        fleet.init_server()
    say(f"server {fleet.server_index()}/{fleet.server_num()}: ready")
    paddle.disable_signal_handler()  # servers are ended by SIGTERM; Paddle would print a stack trace
    fleet.run_server()


paddle_job = job.PaddleJob(
    job_name="word2vec",
    runtime_image="paddle-operator/sdk-word2vec",
    entry_point="python train.py",
    trainer_package_path="/example",
    cpu_num=1,
    memory="2G",
    pservers=2,
    trainers=3,
)

if __name__ == "__main__":
    job.dist_train(trainer=trainer, paddle_job=paddle_job, local="--local" in sys.argv)
