"""The programs that Paddle's users start in a pod, and what a run of two workers must show.

`OWN` need PaddlePaddle alone. `TOOLKITS` need environments of their own, and train tiny models on generated data: no
weights and no data sets are fetched. Where one does not train on a release at all, it says so and fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.training.tiny import erniekit_files, paddleformers_files
from tests.training.ways import Ran
from tools.environments import PADDLE, PADDLE_3

HERE = Path(__file__).parent
# What the trainers of PaddleNLP and PaddleFormers print of themselves when they begin.
RANK = re.compile(r"- dataset_rank +: (\d+)")
WORLD = re.compile(r"- dataset_world_size +: (\d+)")

Seen = list[tuple[int, int]]


def reported(ran: Ran) -> Seen:
    """Rank and world of each worker, if it met all others and shares what it learns with them."""
    return [
        (int(one["rank"]), one["world"])
        for one in ran.reports
        if one["met"] == [*range(one["world"])] and one.get("together", True)
    ]


def logged(ran: Ran) -> Seen:
    ranks, worlds = ({int(one) for one in sign.findall(ran.output)} for sign in (RANK, WORLD))
    return [(rank, world) for rank in sorted(ranks) for world in worlds]


def nothing(_: Path) -> None:
    return None


@dataclass(frozen=True)
class Program:
    what: str
    """What it is, for the page of results."""
    command: tuple[str, ...]
    needs: str = "paddle"
    """The environment that it runs in, without the release: one of tools/environments.py."""
    env: Mapping[str, str] = field(default_factory=dict)
    seen: Callable[[Ran], Seen] = reported
    prepare: Callable[[Path], None] = nothing
    """Writes what the program reads, into the folder in whose subfolders it is started."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """What it says when it fails, by release, if that is what it does in every way: no job of it is ever Completed."""


def launched(script: str) -> tuple[str, ...]:
    return "python", "-m", "paddle.distributed.launch", str(HERE / script)


def plain(script: str, *args: str) -> tuple[str, ...]:
    return "python", str(HERE / script), *args


WORLD_PY = str(HERE / "world.py")
OWN = {
    "launch": Program("`python -m paddle.distributed.launch`", launched("world.py")),
    "init_parallel_env": Program("`paddle.distributed.init_parallel_env()` without the launcher", plain("world.py")),
    "fleet by the launcher": Program("`fleet.init(is_collective=True)` by the launcher", launched("fleet_world.py")),
    "fleet.init": Program("the same without the launcher", plain("fleet_world.py")),
    "fleet.init, static graph": Program("the same as a static graph", plain("static_world.py")),
    "PaddleFormers' launch line": Program(
        "what `paddleformers-cli` does before it trains, rebuilt", plain("as_toolkits_do.py", "--rank", WORLD_PY)
    ),
    "ERNIEKit's launch line": Program(
        "what `erniekit` does before it trains, rebuilt", plain("as_toolkits_do.py", WORLD_PY)
    ),
}
# Without a GPU these write an empty list of devices into the launcher's command line, which it does not take.
ONE_DEVICE = {"CUDA_VISIBLE_DEVICES": "0", "HF_HUB_OFFLINE": "1"}
# PaddlePaddle 2.6.2 brings a zlib that others, such as SciPy, take for the system's: they crash when it is first.
OWN_ZLIB = {"LD_PRELOAD": "libz.so.1"}
TOOLKITS = {
    "paddleformers-cli": Program(
        "`paddleformers-cli train`, supervised fine-tuning of a llama of one layer",
        ("paddleformers-cli", "train", "../paddleformers.yaml"),
        "paddleformers",
        ONE_DEVICE,
        logged,
        paddleformers_files,
        refuses={PADDLE: "No module named 'paddle.distributed.flex_checkpoint'"},
    ),
    "erniekit, the last that is whole": Program(
        "`erniekit train`, supervised fine-tuning of an ERNIE 4.5 of one layer",
        ("erniekit", "train", "../erniekit.yaml"),
        "erniekit-1.0.1",
        ONE_DEVICE,
        logged,
        erniekit_files,
        refuses={PADDLE: "module 'paddle' has no attribute 'float8_e5m2'"},
    ),
    "erniekit": Program(
        "the same with the newest on PyPI, which lacks a part of itself",
        ("erniekit", "train", "../erniekit.yaml"),
        "erniekit",
        ONE_DEVICE,
        logged,
        erniekit_files,
        refuses=dict.fromkeys((PADDLE, PADDLE_3), "No module named 'ernie'"),
    ),
    "erniekit's command line": Program(
        "the newest's own `erniekit train`, with a program of ours in the place of its trainer",
        plain("erniekit_line.py", "train", "../erniekit.yaml"),
        "erniekit",
        ONE_DEVICE,
    ),
    "PaddleSeg by the launcher": Program(
        "`paddleseg.core.train` by the launcher, called as its own script does",
        launched("seg_train.py"),
        "paddleseg",
    ),
    "PaddleSeg": Program("the same without the launcher", plain("seg_train.py"), "paddleseg"),
    "PaddleNLP by the launcher": Program(
        "`paddlenlp.trainer.Trainer` by the launcher", launched("nlp_trainer.py"), "paddlenlp", OWN_ZLIB
    ),
    "PaddleNLP": Program(
        "the same without the launcher",
        plain("nlp_trainer.py"),
        "paddlenlp",
        OWN_ZLIB,
        refuses=dict.fromkeys((PADDLE, PADDLE_3), "should be consistent with the world size: 2"),
    ),
}


def wrong(program: Program, release: str, ran: Ran) -> str:
    """What is wrong with a run of two workers; nothing if each met the other, or if it refuses as it should."""
    if refusal := program.refuses.get(release):
        return "" if all(ran.codes) and refusal in ran.output else f"exit codes {ran.codes}, no refusal"
    if any(ran.codes):
        return f"exit codes {ran.codes}"
    seen = program.seen(ran)
    return "" if seen == [(0, 2), (1, 2)] else f"exit 0, rank and world: {seen}"
