"""Runs a program and keeps what it prints, with the seconds at which it did: `python tests/profiles/record.py FILE WHAT
-- COMMAND`. The tests of the profiles read these recordings, so that what they know of a program is what it does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    cut = sys.argv.index("--")
    file, what = sys.argv[1:cut]
    command = sys.argv[cut + 1 :]
    begun = time.monotonic()
    with (
        Path(file).open("w") as kept,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program,
    ):
        kept.write(f"# {what}\n")
        assert program.stdout is not None
        rest = b""
        while new := os.read(program.stdout.fileno(), 65536):
            # Where a line ends, or is written over: as a program ends what it prints, so it is kept.
            *whole, rest = re.split(rb"(?<=[\n\r])", rest + new)
            for piece in whole:
                text = piece.decode(errors="replace").replace(str(Path.home()), "~")
                kept.write(f"{time.monotonic() - begun:9.3f} {text!r}\n")
    return program.returncode


if __name__ == "__main__":
    sys.exit(main())
