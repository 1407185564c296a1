"""Lists what an image is made of, as CycloneDX JSON: every Python package, every Debian package, and Python itself.

It looks at the system that it runs on and needs nothing but Python's standard library, so it is run in the image
itself: `docker run --rm -i --entrypoint python IMAGE - < tools/sbom.py`. $SOURCE_DATE_EPOCH gives the same file again.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import uuid
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

Json = dict[str, Any]

OURS = "paddle-operator"
DPKG = Path("/var/lib/dpkg")
RELEASE = Path("/etc/os-release")


def main() -> int:
    json.dump(bom(), sys.stdout, indent=2)
    print()
    return 0


def bom() -> Json:
    """CycloneDX 1.6. The image is named after what it is for."""
    components = sorted((*python_packages(), *debian_packages(), python_itself()), key=lambda one: str(one["bom-ref"]))
    ours = next((one for one in components if one["name"] == OURS), None)
    if ours is None:
        raise SystemExit(f"{OURS} is not installed here: run this in its image")
    moment = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    known = "\n".join(str(one["bom-ref"]) for one in components)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, known)}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
            "component": {"type": "container", "name": OURS, "version": ours["version"], "bom-ref": "image"},
        },
        "components": components,
        "dependencies": [{"ref": "image", "dependsOn": [one["bom-ref"] for one in components]}],
    }


def python_packages() -> Iterator[Json]:
    for one in distributions():
        name = one.metadata["Name"].lower().replace("_", "-").replace(".", "-")
        yield _component("library", name, one.version, f"pkg:pypi/{name}@{one.version}", _license(one))


def python_itself() -> Json:
    version = platform.python_version()
    return _component("platform", "python", version, f"pkg:generic/python@{version}", "PSF-2.0")


def debian_packages() -> Iterator[Json]:
    """Those that are installed; none where dpkg has never been. A slim image may keep a file for each instead."""
    system = dict(line.split("=", 1) for line in _read(RELEASE).splitlines() if "=" in line)
    distro = f"{system.get('ID', 'debian')}-{system.get('VERSION_ID', '')}".replace('"', "")
    files = [DPKG / "status", *sorted((DPKG / "status.d").glob("*"))]
    for paragraph in "\n\n".join(map(_read, files)).split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if "Package" in fields and fields.get("Status", "install ok installed").endswith(" installed"):
            name, version = fields["Package"], fields["Version"]
            where = f"arch={fields.get('Architecture', 'all')}&distro={distro}"
            purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?{where}"
            yield _component("library", name, version, purl, "")


def _component(kind: str, name: str, version: str, purl: str, license_text: str) -> Json:
    made: Json = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if license_text:
        made["licenses"] = [{"license": {"name": license_text}}]
    return made


def _license(one: Distribution) -> str:
    """As the package says it itself: by an expression, a classifier, or a short line."""
    said, short = ((one.metadata.get_all(name) or [""])[0].strip() for name in ("License-Expression", "License"))
    classified = [line.rpartition(" :: ")[2] for line in one.metadata.get_all("Classifier") or () if "License" in line]
    return said or " AND ".join(classified) or (short if "\n" not in short and len(short) < 60 else "")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
