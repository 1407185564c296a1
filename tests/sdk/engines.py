"""Stand-ins for docker, podman and buildah: they note every call, keep what a build was given, and can run it here.

"Running" an image starts the command in a copy of its package, with the kubeconfig that `-v` mounts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ENGINE = """
import json, os, pathlib, shutil, subprocess, sys
home = pathlib.Path({home!r})
name, args = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with (home / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps([name, *args]) + "\\n")
if args[0] in ("build", "bud"):
    image = args[args.index("--tag") + 1].replace("/", "_")
    shutil.copytree(args[-1], home / "images" / image)
elif args[0] == "run":
    words, mounts = list(args[1:]), []
    while words[0].startswith("-"):
        flag = words.pop(0)
        if flag == "-v":
            mounts.append(words.pop(0))
    image = home / "images" / words.pop(0).replace("/", "_")
    if not image.exists():
        sys.exit(f"Unable to find image '{{image.name}}'")
    dest = next(line for line in (image / "Dockerfile").read_text().splitlines() if line.startswith("WORKDIR"))
    here = [word.replace(dest.split()[1], str(image / "package")) for word in words]
    env = dict(os.environ)
    for source, target in (mount.split(":") for mount in mounts):
        if target.endswith("/.kube/config"):
            env["KUBECONFIG"] = source
    sys.exit(subprocess.run(here, cwd=image / "package", env=env).returncode)
elif args[0] == "info" and name in {broken!r}:
    sys.exit("Cannot connect to the daemon")
"""
TOOLS = ("bash", "sh", "env", "cp", "mkdir", "mktemp", "rm", "cat", "dirname", "sed")


class Engines:
    """A PATH on which only these engines are, beside what a shell needs."""

    def __init__(self, folder: Path, *names: str, broken: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.bin / tool).symlink_to(found)
        self._program("python", f'exec "{sys.executable}" "$@"')
        for name in names:
            (folder / name).write_text(ENGINE.format(home=str(folder), broken=broken))
            self._program(name, f'exec "{sys.executable}" "{folder / name}" "$@"')

    def _program(self, name: str, line: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.bin / name).chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "ENGINE"))}
        return {**kept, "PATH": str(self.bin)}

    @property
    def calls(self) -> list[list[str]]:
        path = self.folder / "calls.jsonl"
        calls = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in calls if call[1:] != ["info"]]

    def image(self, name: str) -> Path:
        return self.folder / "images" / name.replace("/", "_")

    def bash(self, line: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / "bash"), "-c", line]
        return subprocess.run(
            command, cwd=cwd, env={**self.env, **env}, capture_output=True, text=True, check=False, timeout=120
        )
