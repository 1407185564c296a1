"""What it costs to type a command: CPU time as ratios within one run, interleaved, with the raw numbers.

Promise: `paddlejob --help` takes at most 1.3 times the import of cyclopts and rich; `paddlejob list` of a cluster at
most 1.5 times the import of those and aiohttp. The cluster is a stand-in that answers at once.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HELP_LIMIT, LIST_LIMIT = 1.3, 1.5
JOB = {"metadata": {"name": "a", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}


class Stand(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"metadata": {}, "items": [JOB]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def kubeconfig(folder: Path, port: int) -> Path:
    path = folder / "kubeconfig"
    cluster = {"name": "here", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "here", "context": {"cluster": "here", "user": "me"}}
    user = {"name": "me", "user": {"token": "t"}}
    path.write_text(
        json.dumps({"clusters": [cluster], "contexts": [context], "users": [user], "current-context": "here"})
    )
    return path


def timed(*args: str, env: dict[str, str]) -> float:
    """Seconds of CPU: what else runs on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *args], env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stand)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    commands = {
        "cyclopts, rich": ("-c", "import cyclopts, rich.console"),
        "--help": ("-m", "paddlejob", "--help"),
        "and aiohttp": ("-c", "import cyclopts, rich.console, aiohttp"),
        "list": ("-m", "paddlejob", "list"),
    }
    found: dict[str, list[float]] = {each: [] for each in commands}
    with tempfile.TemporaryDirectory() as name:
        path = kubeconfig(Path(name), server.server_address[1])
        env = {**os.environ, "XDG_STATE_HOME": name, "KUBECONFIG": str(path), "NO_PROXY": "*"}
        for _ in range(rounds):
            for each, command in commands.items():
                found[each].append(timed(*command, env=env))
    server.shutdown()
    # The least disturbed run of each: other programs can only make it longer.
    least = {each: min(numbers) for each, numbers in found.items()}
    for each, numbers in found.items():
        print(f"{each:15} {least[each]:.3f} s  raw: {' '.join(f'{one:.3f}' for one in numbers)}")
    first, second = least["--help"] / least["cyclopts, rich"], least["list"] / least["and aiohttp"]
    print(f"paddlejob --help: {first:.2f} x the import of cyclopts and rich (at most {HELP_LIMIT})")
    print(f"paddlejob list: {second:.2f} x the import of those and aiohttp (at most {LIST_LIMIT})")
    return 0 if first <= HELP_LIMIT and second <= LIST_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
