"""A person who types the commands of a page, line by line, with `paddlejob` and `kubectl` on the path."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cluster.control_plane import ControlPlane
from tools.translations import every

ROOT = Path(__file__).parents[2]
LANGUAGES = ("English", "Chinese")


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def yaml_blocks(page: Path) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)


def halves(page: Path) -> list[Path]:
    """The page in English and in Chinese."""
    (pair,) = (one for one in every() if ROOT / one.english == page)
    return [page, ROOT / pair.chinese]


class Typist:
    def __init__(self, cluster: ControlPlane, home: Path, **env: str) -> None:
        programs = home / "bin"
        programs.mkdir()
        (programs / "kubectl").symlink_to(cluster.layout.binaries.kubectl)
        kubeconfig = cluster.kubeconfig(home / "kubeconfig")
        path = os.pathsep.join((str(Path(sys.executable).parent), str(programs), os.environ["PATH"]))
        self.env = {**os.environ, "PATH": path, "KUBECONFIG": str(kubeconfig), "NO_PROXY": "*", "HOME": str(home)}
        self.env |= {"XDG_STATE_HOME": str(home / "state"), **env}

    def type(self, line: str, cwd: Path = ROOT) -> str:
        """What it prints; a command that fails is a page that lies."""
        done = subprocess.run(
            ["bash", "-c", line], env=self.env, cwd=cwd, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout
