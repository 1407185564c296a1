"""Puts together what a release is made of, in one folder: packages, chart, manifests, and the sums of all of them.

`make release` runs it. The chart's package needs helm; who has none, or names none, gets everything else. The image is
built from the Dockerfile, and its list of contents by tools/sbom.py; signing is for the person who releases.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.installer import ROOT, build, build_sdist

MONITORING = ("alerts.yaml", "prometheus-rule.yaml", "service-monitor.yaml", "dashboard.json")
SUMS = "SHA256SUMS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder, which is made anew")
    parser.add_argument("--helm", default=shutil.which("helm"), help="the program that packages the chart")
    asked = parser.parse_args()
    make(asked.to, asked.helm)
    for file in sorted(asked.to.iterdir()):
        print(f"  {file.stat().st_size / 1024:8.1f} KiB  {file.name}")
    return 0


def make(to: Path, helm: str | None) -> None:
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    build(to)
    build_sdist(to)
    for manifest in manifests():
        shutil.copyfile(manifest, to / manifest.name)
    if helm:
        chart = [helm, "package", str(ROOT / "charts" / "paddle-operator"), "--destination", str(to)]
        subprocess.run(chart, check=True, stdout=subprocess.DEVNULL)
    else:
        print("no helm here: the chart's package is missing", file=sys.stderr)
    (to / SUMS).write_text("".join(_sums(to)))


def manifests() -> list[Path]:
    """What a release takes as it is."""
    deployed = ROOT / "deploy"
    return [*sorted((deployed / "v1").glob("*.yaml")), *(deployed / "monitoring" / name for name in MONITORING)]


def _sums(folder: Path) -> list[str]:
    """As `sha256sum --check` reads them."""
    return [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(folder.iterdir())]


if __name__ == "__main__":
    sys.exit(main())
