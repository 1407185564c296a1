"""Our images without a container engine are those that our Dockerfiles and manifests describe."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from tests.node import dockerfile
from tests.node.oci import Image, Start, full_name, layer_of, write_archive

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("paddlepaddle/paddle-operator:0.1.0", "docker.io/paddlepaddle/paddle-operator:0.1.0"),
        ("registry.example.com/a/b:v1", "registry.example.com/a/b:v1"),
        ("registry:5000/b", "registry:5000/b:latest"),
        ("localhost/b:1", "localhost/b:1"),
    ],
)
def test_short_names_are_completed_as_container_runtimes_do(written: str, meant: str) -> None:
    assert full_name(written) == meant


def test_the_operator_starts_as_its_dockerfile_says() -> None:
    start = dockerfile.read(ROOT / "Dockerfile").start
    assert start == Start(
        entrypoint=("paddlejob",),
        command=("operator",),
        user="65532:65532",
        env={"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_an_example_holds_the_files_that_its_dockerfile_copies() -> None:
    found = dockerfile.read(ROOT / "examples" / "word2vec" / "Dockerfile")
    assert (found.start.folder, found.start.command) == ("/word2vec", ("python", "train.py"))
    assert set(found.files) == {"prepare.py", "train.py"}


def test_images_share_their_layers_and_their_digests_do_not_change(tmp_path: Path) -> None:
    (tmp_path / "layer.tar").write_bytes(b"\0" * 10240)
    layer = layer_of(tmp_path / "layer.tar")
    images = [Image(name, (layer,), Start(command=("true",))) for name in ("one:1", "other:1")]
    archive = io.BytesIO()
    write_archive(images, archive)
    with tarfile.open(fileobj=io.BytesIO(archive.getvalue())) as written:
        names = written.getnames()
        index = json.load(written.extractfile("index.json") or io.BytesIO())
    assert len(names) == len(set(names)) == 5  # layout, index, and once each: configuration, manifest, layer
    assert [one["annotations"]["io.containerd.image.name"] for one in index["manifests"]] == ["one:1", "other:1"]
    assert {one["digest"] for one in index["manifests"]} == {images[0].digest}
