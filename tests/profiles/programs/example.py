"""One of our examples as a job on this machine; what its worker 0 prints, as it prints it: `python example.py FOLDER
NAME=VALUE …` with variables for all of its pods. The job is named as the folder.

The elastic example, which needs etcd, runs with two workers that stay.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).parents[3] / "examples"


def job_of(folder: Path, env: list[dict[str, str]]) -> str:
    job: Any = yaml.safe_load((folder / "job.yaml").read_text())
    if job["spec"].pop("elastic", None):
        worker = job["spec"]["worker"]
        job["spec"]["worker"] = {"replicas": 2, "template": worker["template"]}
    for role in job["spec"].values():
        if isinstance(role, dict):
            (container,) = role["template"]["spec"]["containers"]
            container["env"] = [*container.get("env", []), *env]
    (folder / "job.yaml").write_text(yaml.safe_dump(job))
    return str(job["metadata"]["name"])


def main() -> int:
    example = sys.argv[1]
    pairs = (one.partition("=") for one in sys.argv[2:])
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(EXAMPLES / example, Path(place) / example)
        name = job_of(folder, [{"name": key, "value": value} for key, _, value in pairs])
        log = Path(place) / "paddlejob" / "default" / name / "logs" / f"{name}-worker-0.paddle.log"
        command = [sys.executable, "-m", "paddlejob", "run", str(folder / "job.yaml")]
        run = subprocess.Popen(command, env={**os.environ, "XDG_STATE_HOME": place}, stdout=subprocess.DEVNULL)
        with subprocess.Popen(["tail", "-q", "-n", "+1", "-F", str(log)], stderr=subprocess.DEVNULL) as tail:
            code = run.wait()  # it ends some moments after its workers
            tail.terminate()
        return code


if __name__ == "__main__":
    sys.exit(main())
