"""A browser for the tests of the page: Debian's package `chromium`, and a font for Chinese.

`python tools/chromium.py` prints where it is. As root on Debian or Ubuntu it installs what is missing; otherwise it
says what to install. $CHROMIUM names another. Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.installer import CannotMake, cache

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PACKAGES = ("chromium", "fonts-noto-cjk")


def chromium() -> str:
    """The path of the browser."""
    if not _found() or not _has_chinese():
        cache().mkdir(parents=True, exist_ok=True)
        with (cache() / "chromium.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of one test run ask at once
            if not _found() or not _has_chinese():
                _install()
    found = _found()
    if found is None:
        raise CannotMake(f"there is still no {NAMES[0]} on PATH")
    return found


def _found() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


def _has_chinese() -> bool:
    asked = ["fc-list", ":lang=zh-cn", "family"]
    if shutil.which(asked[0]) is None:
        return False
    return bool(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip())


def _install() -> None:
    command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *PACKAGES]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise CannotMake(
            "the tests of the page need the browser Chromium and a font with Chinese characters: install them, for"
            f" example by `sudo apt install {' '.join(PACKAGES)}`, or name your browser with CHROMIUM=PATH"
        )
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        subprocess.run(["apt-get", "update", "--quiet"], env=env, capture_output=True, check=False)
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMake(f"{' '.join(command)} failed with exit code {done.returncode}:\n{done.stderr}")


def main() -> int:
    try:
        print(chromium())
    except CannotMake as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
