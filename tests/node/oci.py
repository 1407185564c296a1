"""Container images as files, in the format of the Open Container Initiative: layers, a configuration, a manifest.

A layer is a plain tar file and is kept; an archive of images is written to a stream and never stored. Nothing here
compresses: what is written is read again on the same machine.
"""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


@dataclass(frozen=True)
class Layer:
    tar: Path
    digest: str


@dataclass(frozen=True)
class Start:
    """How a container of the image starts unless it is told otherwise."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    folder: str = "/"
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Image:
    """`name` is complete: with its registry and its tag."""

    name: str
    layers: tuple[Layer, ...]
    start: Start

    @property
    def digest(self) -> str:
        return _digest(self.manifest())

    def config(self) -> bytes:
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **self.start.env}
        return _json(
            {
                "architecture": ARCHITECTURES[platform.machine()],
                "os": "linux",
                "config": {
                    "Entrypoint": list(self.start.entrypoint),
                    "Cmd": list(self.start.command),
                    "WorkingDir": self.start.folder,
                    "User": self.start.user,
                    "Env": [f"{name}={value}" for name, value in env.items()],
                },
                "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in self.layers]},
            }
        )

    def manifest(self) -> bytes:
        return _json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": _descriptor(CONFIG, self.config()),
                "layers": [
                    {"mediaType": LAYER, "digest": layer.digest, "size": layer.tar.stat().st_size}
                    for layer in self.layers
                ],
            }
        )


def layer_of(tar: Path) -> Layer:
    """Its digest is kept beside it: a tar file that is there is never written again."""
    kept = tar.with_suffix(".sha256")
    if not kept.exists():
        digest = hashlib.sha256()
        with tar.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        kept.write_text(digest.hexdigest())
    return Layer(tar, f"sha256:{kept.read_text()}")


def full_name(name: str) -> str:
    """As container runtimes complete the short names that people write."""
    host, slash, _ = name.partition("/")
    if not slash:
        name = f"library/{name}"
    if not slash or not ({".", ":"} & set(host) or host == "localhost"):
        name = f"docker.io/{name}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def write_archive(images: Iterable[Image], to: IO[bytes]) -> None:
    """Every blob once, however many images share it."""
    index: list[dict[str, Any]] = []
    written: set[str] = set()
    with tarfile.open(fileobj=to, mode="w|") as archive:
        _add(archive, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        for image in images:
            for blob in (image.config(), image.manifest()):
                if (digest := _digest(blob)) not in written:
                    written.add(digest)
                    _add(archive, _path(digest), blob)
            for layer in image.layers:
                if layer.digest not in written:
                    written.add(layer.digest)
                    archive.add(layer.tar, _path(layer.digest), recursive=False)
            names = {"io.containerd.image.name": image.name}
            index.append({**_descriptor(MANIFEST, image.manifest()), "annotations": names})
        _add(archive, "index.json", _json({"schemaVersion": 2, "manifests": index}))


def _add(archive: tarfile.TarFile, path: str, content: bytes) -> None:
    entry = tarfile.TarInfo(path)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def _path(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _descriptor(kind: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": _digest(content), "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()
