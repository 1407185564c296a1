"""The images that the cluster has: the operator's, and those that the examples' job files name.

Their names are read from the manifests, so whatever a file asks for is there, or it is known at once that it is not.
The images of the user's documents are played by our example programs on the CPU.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from tests.node import dockerfile, layers
from tests.node.oci import Image, Layer, Start, full_name
from tools.environments import EXAMPLES, PADDLE, PADDLE_PINS, RUNTIME
from tools.installer import ROOT, Say

OPERATOR = ROOT / "deploy" / "v1" / "operator.yaml"
JOBS = (*sorted((ROOT / "deploy" / "examples").glob("*.yaml")), *sorted(EXAMPLES.glob("*/job.yaml")))
PAUSE = full_name("paddle-cluster/pause:1")

# The last part of an image's name -> the example that it holds, and what its program is called there if not as here.
HOLDS: dict[str, tuple[str, dict[str, str]]] = {
    "demo-wide-and-deep": ("wide_and_deep", {}),
    "demo-resnet": ("resnet", {"train.py": "train_fleet.py"}),
    "wide-and-deep": ("wide_and_deep", {}),
    "resnet": ("resnet", {}),
    "word2vec": ("word2vec", {}),
    "elastic": ("elastic", {}),
}
# No program, only PaddlePaddle: the job brings its own on a volume.
PLAIN = "paddle-ubuntu"

# Its client of etcd needs older packages than PaddlePaddle brings: they come first, from a folder of their own.
ELASTIC, BESIDE = "elastic", Path("opt/elastic")
ELASTIC_PINS, ELASTIC_SOURCES = EXAMPLES / "requirements-elastic.txt", EXAMPLES / "requirements-elastic-sources.txt"


def pause(say: Say) -> Image:
    """Holds a pod's network: it does nothing."""
    return Image(PAUSE, (layers.system(say),), Start(entrypoint=("sleep", "infinity")))


def operator(say: Say) -> Image:
    (name,) = set(_named(OPERATOR))
    start = dockerfile.read(ROOT / "Dockerfile").start
    needs = layers.packages("operator", RUNTIME, say)
    return Image(name, (layers.system(say), needs, layers.our_package(say)), start)


def training(say: Say) -> list[Image]:
    """One for each name in a job file."""
    names = sorted({name for file in JOBS for name in _named(file)})
    paddle = (layers.system(say), layers.packages(f"paddle-{PADDLE}", PADDLE_PINS[PADDLE], say))
    return [_training(name, paddle, say) for name in names]


def _training(name: str, paddle: tuple[Layer, ...], say: Say) -> Image:
    last = name.rpartition("/")[2].partition(":")[0]
    if last == PLAIN:
        return Image(name, paddle, Start(command=("bash",)))
    example, renamed = HOLDS[last]
    described = dockerfile.read(EXAMPLES / example / "Dockerfile")
    start, files = described.start, {renamed.get(file, file): path for file, path in described.files.items()}
    if last == ELASTIC:
        paddle = (*paddle, layers.packages("elastic", ELASTIC_PINS, say, sources=ELASTIC_SOURCES, site=BESIDE))
        start = replace(start, env={**start.env, "PYTHONPATH": f"/{BESIDE}"})
    return Image(name, (*paddle, layers.program(f"program-{last}", start.folder, files, say)), start)


def _named(manifest: Path) -> Iterator[str]:
    def walk(value: Any) -> Iterator[str]:
        match value:
            case {"image": str(name)}:
                yield full_name(name)
            case dict():
                for each in value.values():
                    yield from walk(each)
            case list():
                for each in value:
                    yield from walk(each)

    yield from walk(list(yaml.safe_load_all(manifest.read_text())))
