"""The programs that Paddle's users start in a pod, and what a run of two workers must show.

`OWN` need PaddlePaddle alone. `TOOLKITS` need environments of their own, and train tiny models on generated data: no
weights and no data sets are fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.training.tiny import paddleformers_files
from tests.training.ways import Ran

HERE = Path(__file__).parent
LAUNCH = ("python", "-m", "paddle.distributed.launch")
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
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    seen: Callable[[Ran], Seen] = reported
    prepare: Callable[[Path], None] = nothing
    """Writes what the program reads, into the folder in whose subfolders it is started."""
    refuses: str = ""
    """What it says when it fails on two workers, if that is what it does everywhere: no job of it is ever Completed."""


OWN = {
    "launch": Program((*LAUNCH, str(HERE / "world.py"))),
    "init_parallel_env": Program(("python", str(HERE / "world.py"))),
    "fleet by the launcher": Program((*LAUNCH, str(HERE / "fleet_world.py"))),
    "fleet.init": Program(("python", str(HERE / "fleet_world.py"))),
    "fleet.init, static graph": Program(("python", str(HERE / "static_world.py"))),
}
LINE = ("python", str(HERE / "as_toolkits_do.py"))
OWN |= {
    "PaddleFormers' launch line": Program((*LINE, "--rank", str(HERE / "world.py"))),
    "ERNIEKit's launch line": Program((*LINE, str(HERE / "world.py"))),
}
# Without a GPU these write an empty list of devices into the launcher's command line, which it does not take.
ONE_DEVICE = {"CUDA_VISIBLE_DEVICES": "0", "HF_HUB_OFFLINE": "1"}
# PaddlePaddle 2.6.2 brings a zlib that others, such as SciPy, take for the system's: they crash when it is first.
OWN_ZLIB = {"LD_PRELOAD": "libz.so.1"}
# Seen with paddleformers 1.2.0 on PaddlePaddle 3.3.1 (pyarrow<21, numpy<2), on 2.6.2 (protobuf<5) with paddleseg 2.8.0
# and paddlenlp 2.8.1 (it also needs pip, huggingface_hub<0.26, aistudio-sdk<0.3, datasets<3, scipy<1.14, pyarrow<21).
TOOLKITS = {
    "paddleformers-cli": Program(
        ("paddleformers-cli", "train", "../paddleformers.yaml"), ONE_DEVICE, logged, paddleformers_files
    ),
    "PaddleSeg train by the launcher": Program((*LAUNCH, str(HERE / "seg_train.py"))),
    "PaddleSeg train": Program(("python", str(HERE / "seg_train.py"))),
    "PaddleNLP Trainer by the launcher": Program((*LAUNCH, str(HERE / "nlp_trainer.py")), OWN_ZLIB, logged),
    "PaddleNLP Trainer": Program(
        ("python", str(HERE / "nlp_trainer.py")), OWN_ZLIB, refuses="should be consistent with the world size: 2"
    ),
}


def wrong(program: Program, ran: Ran) -> str:
    """What is wrong with a run of two workers; nothing if each met the other, or if it refuses as it should."""
    if program.refuses:
        return "" if all(ran.codes) and program.refuses in ran.output else f"exit codes {ran.codes}, no refusal"
    if any(ran.codes):
        return f"exit codes {ran.codes}"
    seen = program.seen(ran)
    return "" if seen == [(0, 2), (1, 2)] else f"rank and world: {seen}"
