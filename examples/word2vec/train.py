"""word2vec on parameter servers: learns a vector for every word by guessing the word that follows four others.

Every pod of the job runs this file. Each trainer reads its own share of train.csv, by TRAINERS and TRAINER_ID from the
environment; the servers hold the vectors and the weights, which all trainers train together. The way of training is
`a_sync` with `train_from_dataset`, because on PaddlePaddle 2.6 it learns and the two obvious ways do not: feeding batch
by batch to `executor.run` leaves the layers' weights as they were, and a synchronous strategy crashes.

DATA_DIR is the folder that prepare.py filled, on a volume that all pods see. Without it every pod makes its own copy
of the same small text.
"""

import io
import json
import logging
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

os.environ.setdefault("GLOG_minloglevel", "2")  # quiet; must be set before Paddle is imported

import numpy as np
import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle.distributed import fleet
from prepare import N, prepare

TRAINERS = int(os.environ.get("TRAINERS") or os.environ.get("PADDLE_TRAINERS_NUM") or 1)
TRAINER_ID = int(os.environ.get("TRAINER_ID") or os.environ.get("PADDLE_TRAINER_ID") or 0)
EPOCHS = int(os.environ.get("EPOCHS", "4"))
SENTENCES = int(os.environ.get("SENTENCES", "4000"))
WIDTH = 16  # of a word's vector
TABLE = "words"


def say(line: str) -> None:
    """Prints to the log; plain prints, which Paddle itself is full of, go nowhere."""
    print(line, file=sys.__stdout__, flush=True)


def dist_reader(filename: Path, trainers: int, trainer_id: int) -> Callable[[], Iterator[tuple[int, ...]]]:
    """A reader of one trainer's share: of every `trainers` lines it takes one, so that all shares are all lines."""

    def dist_reader_creator() -> Iterator[tuple[int, ...]]:
        with filename.open() as file:
            for count, line in enumerate(file, start=1):
                if count % trainers == trainer_id:
                    yield tuple(int(cell) for cell in line.split(","))

    return dist_reader_creator


def layer(inputs: paddle.static.Variable, width: int, activation: str | None = None) -> paddle.static.Variable:
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Normal(0, inputs.shape[1] ** -0.5))
    return paddle.static.nn.fc(inputs, width, activation=activation, weight_attr=attr)


class NextWord:
    """The network: the vectors of the words before, one hidden layer, a chance for every word of the vocabulary."""

    def __init__(self, words: int) -> None:
        self.before = [paddle.static.data(f"word{i}", [None, 1], "int64") for i in range(N - 1)]
        self.next = paddle.static.data("next", [None, 1], "int64")
        attr = paddle.ParamAttr(name=TABLE, initializer=paddle.nn.initializer.Uniform(-0.1, 0.1))
        vectors = [paddle.static.nn.sparse_embedding(word, [words, WIDTH], param_attr=attr) for word in self.before]
        vectors = [paddle.reshape(vector, [-1, WIDTH]) for vector in vectors]
        self.vector = vectors[0]
        logits = layer(layer(paddle.concat(vectors, axis=1), 64, "relu"), words)
        self.chances = F.softmax(logits)
        self.loss = F.cross_entropy(logits, self.next)


def minimize(loss: paddle.static.Variable) -> None:
    """Makes the graph a distributed one: vectors, weights and optimizer move to the servers."""
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    # The table is cut into this many pieces, which the servers share out. The default of 1000 suits millions of words.
    strategy.sparse_table_configs = {TABLE: {f"table_parameters.{TABLE}.shard_num": 10}}
    fleet.distributed_optimizer(paddle.optimizer.Adam(0.003, lazy_mode=True), strategy).minimize(loss)


def compute(model: NextWord, target: paddle.static.Variable, before: np.ndarray) -> np.ndarray:
    """The target for rows of four words, by the model as it is on the servers now."""
    runtime = fleet.fleet._runtime_handle  # vectors come with every batch, but the layers' weights must be fetched:
    for dense in (context for context in runtime._send_ctx.values() if not context.is_sparse()):
        names = [name.removesuffix("@GRAD") for name in dense.origin_varnames()]
        runtime._worker.pull_dense_params(paddle.static.global_scope(), dense.table_id(), names)
    forward = paddle.static.normalize_program(model.loss.block.program, model.before, [target])
    feed = {word.name: before[:, i : i + 1] for i, word in enumerate(model.before)}
    # A new executor each time: one that has run train_from_dataset crashes on a feed.
    return paddle.static.Executor(paddle.CPUPlace()).run(forward, feed, [target.name])[0]


def perplexity_and_accuracy(chances: np.ndarray, words: np.ndarray) -> tuple[float, float]:
    """Perplexity n is as unsure as a choice among n equally likely words. Accuracy: the likeliest word was right."""
    chance = chances[np.arange(len(words)), words]
    return float(np.exp(-np.log(np.maximum(chance, 1e-9)).mean())), float((chances.argmax(axis=1) == words).mean())


def unigram(rows: list[tuple[int, ...]], words: int) -> np.ndarray:
    """What one can guess without looking at the words before: how frequent each word is."""
    counts = Counter(row[-1] for row in rows)
    frequency = np.array([counts[word] + 1.0 for word in range(words)])
    return frequency / frequency.sum()


def train(
    model: NextWord, executor: paddle.static.Executor, rows: list[tuple[int, ...]], tell: Callable[[str], None]
) -> None:
    """Hands the rows to Paddle in its text format: in each line, for every input its length and then its value."""
    Path("rows.txt").write_text("".join(" ".join(f"1 {word}" for word in row) + "\n" for row in rows))
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=32, thread_num=1, use_var=[*model.before, model.next], pipe_command="cat")
    dataset.set_filelist(["rows.txt"])
    dataset.load_into_memory()
    for epoch in range(EPOCHS):
        say(f"worker {TRAINER_ID}/{TRAINERS}: epoch {epoch + 1} of {EPOCHS} begins")
        dataset.local_shuffle()
        executor.train_from_dataset(model.loss.block.program, dataset)
        tell(f"epoch {epoch + 1} of {EPOCHS}")


def nearest(model: NextWord, words: list[str], word: str, count: int = 3) -> list[str]:
    """The words whose vectors point in the most similar direction."""
    every = np.arange(len(words), dtype="int64").reshape(-1, 1).repeat(N - 1, axis=1)
    vectors = compute(model, model.vector, every)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.argsort(-(vectors @ vectors[words.index(word)]))
    return [words[i] for i in order if words[i] != word][:count]


def work(model: NextWord, words: list[str], data: Path) -> None:
    """The whole life of a trainer: score, train on its own share, score again."""
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    me = f"worker {TRAINER_ID}/{TRAINERS}"
    mine = list(dist_reader(data / "train.csv", TRAINERS, TRAINER_ID)())
    test = np.array(list(dist_reader(data / "test.csv", 1, 0)()), dtype="int64")
    result = {"role": "worker", "rank": TRAINER_ID, "world": fleet.worker_num(), "rows": len(mine)}
    result["rows_of_all"] = sum(1 for _ in (data / "train.csv").open())

    def evaluate(when: str) -> None:
        perplexity, accuracy = perplexity_and_accuracy(compute(model, model.chances, test[:, :-1]), test[:, -1])
        result.update({f"perplexity_{when}": perplexity, f"accuracy_{when}": accuracy})
        say(f"{me}: {when} training: held-out perplexity {perplexity:.2f}, accuracy {accuracy:.4f}")
        fleet.util.barrier()

    say(
        f"{me}: sees {fleet.server_num()} servers, {fleet.worker_num()} workers; reads {len(mine)} of"
        f" {result['rows_of_all']} lines"
    )
    base = perplexity_and_accuracy(unigram(mine, len(words))[None].repeat(len(test), axis=0), test[:, -1])
    result.update(perplexity_unigram=base[0], accuracy_unigram=base[1])
    say(f"{me}: by frequency alone: held-out perplexity {base[0]:.2f}, accuracy {base[1]:.4f}")
    evaluate("before")

    def tell(epoch: str) -> None:
        perplexity, _ = perplexity_and_accuracy(compute(model, model.chances, test[:, :-1]), test[:, -1])
        say(f"{me}: {epoch}: held-out loss {np.log(perplexity):.4f}")

    train(model, executor, mine, tell)
    fleet.util.barrier()
    evaluate("after")
    for word in ("fox", "kitchen"):
        say(f"{me}: nearest to {word}: {', '.join(nearest(model, words, word))}")
    fleet.util.barrier()
    fleet.stop_worker()
    say(f"RESULT {json.dumps(result)}")


def main() -> None:
    if "TRAINING_ROLE" not in os.environ:
        sys.exit("This is one process of a job. Start all of it: paddlejob run examples/word2vec/job.yaml")
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="word2vec-") as folder, redirect_stdout(io.StringIO()):
        data = Path(os.environ.get("DATA_DIR") or folder).absolute()
        os.chdir(folder)  # Paddle writes files of its own to the working directory
        if "DATA_DIR" not in os.environ:
            prepare(data, SENTENCES)
        if not (data / "train.csv").exists():
            sys.exit(f"There is no train.csv in {data}. First run: python prepare.py {data}")
        words = (data / "words.txt").read_text().split()
        paddle.enable_static()
        paddle.seed(7)
        fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
        model = NextWord(len(words))
        minimize(model.loss)
        fleet.init_server() if fleet.is_server() else work(model, words, data)
    if fleet.is_server():
        os.chdir(tempfile.gettempdir())
        say(f"server {fleet.server_index()}/{fleet.server_num()}: ready")
        paddle.disable_signal_handler()  # the operator ends servers by SIGTERM; Paddle would print a stack trace
        fleet.run_server()  # returns only when it cannot listen
        sys.exit(f"server cannot listen: is {os.environ['POD_IP']}:{os.environ['PADDLE_PORT']} in use?")


if __name__ == "__main__":
    main()
