"""`make chaos SECONDS=600 SEED=n`: one campaign; it ends with 1 if something did not hold."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import SystemRandom

from tests.chaos.campaign import a_script, run
from tests.cluster.binaries import find_binaries


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="keep the folder even if everything held")
    asked = parser.parse_args()
    seed = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    folder = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-"))
    print(f"make chaos SECONDS={asked.seconds:g} SEED={seed}   (log: {folder}/troubles.log)", flush=True)
    complaints = run(find_binaries(print), folder, a_script(seed, asked.seconds), partial(print, flush=True))
    if complaints:
        print(f"{len(complaints)} complaints with SEED={seed}; all that happened is in {folder}")
        return 1
    if not asked.keep:
        shutil.rmtree(folder)
    print("Everything held.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
