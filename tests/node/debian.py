"""A small Debian in a folder: what all our images stand on, and the Python for which their packages are made.

It is made once by debootstrap and kept in the user's cache; the mirror is debootstrap's own choice unless
$DEBIAN_MIRROR names one. It is what Debian's archive held on that day.
"""

import hashlib
import os
import shutil
from pathlib import Path

from tools.installer import Say, cache, run

SUITE = "bookworm"
PYTHON = "3.11"  # the one of that Debian
PACKAGES = ("python3", "python-is-python3", "libgomp1")  # the last for PaddlePaddle
MADE_FROM = f"{SUITE} {' '.join(PACKAGES)}"

# Whatever is mounted or started in there is gone when the command ends, however it ends.
PRIVATE = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private")


def root(say: Say) -> Path:
    """Where its / is."""
    images = cache() / "images"
    folder = images / f"root-{hashlib.sha256(MADE_FROM.encode()).hexdigest()[:16]}"
    if folder.exists():
        return folder
    say(f"making a small Debian ({SUITE}) with debootstrap")
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    mirror = [os.environ["DEBIAN_MIRROR"]] if "DEBIAN_MIRROR" in os.environ else []
    debootstrap = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(partial), *mirror]
    run([*PRIVATE, *debootstrap], "making the Debian", say)
    partial.rename(folder)
    return folder


def compile_packages(folder: Path, place: Path, say: Say) -> None:
    """Compiles the Python packages in `folder`, which will be at `place` in the image, so that pods start quickly.

    Compiled files are not compared with the times of their sources, which layers do not keep.
    """
    compiling = "python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash"
    # 1: some packages bring files for other Pythons, which do not compile.
    script = (
        f'mount --bind "$1" "$0/mnt" && {{ chroot "$0" {compiling} -s /mnt -p "$2" /mnt >/dev/null || [ $? = 1 ]; }}'
    )
    run([*PRIVATE, "bash", "-c", script, str(root(say)), str(folder), f"/{place}"], "compiling the packages", say)
