"""A real etcd of a test's own, and what a person with etcdctl would do to it. It ends with the test."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.cluster.processes import Guard, Process, free_ports
from tests.cluster.waiting import wait_until


class EtcdServer:
    def __init__(self, binary: Path, folder: Path) -> None:
        self._data = folder / "etcd"
        client, peer = free_ports(2)
        self.address = f"127.0.0.1:{client}"
        self._guard = Guard()
        urls = f"http://{self.address}", f"http://127.0.0.1:{peer}"
        command: list[str | Path] = [
            binary,
            f"--data-dir={self._data}",
            *(f"--{name}-client-urls={urls[0]}" for name in ("listen", "advertise")),
            *(f"--{name}-peer-urls={urls[1]}" for name in ("listen", "initial-advertise")),
            f"--initial-cluster=default={urls[1]}",
            "--unsafe-no-fsync",
            "--log-level=error",
        ]
        self.process = Process(self._guard, command, folder / "etcd.log", {})

    def start(self) -> None:
        self.process.start()
        wait_until(self._answers, timeout=60)

    def stop(self) -> None:
        """As a crash."""
        self.process.kill()

    def lose_everything(self) -> None:
        self.stop()
        shutil.rmtree(self._data)

    def close(self) -> None:
        self.stop()
        self._guard.close()

    def put(self, key: str, value: str) -> None:
        self._post("put", key=_coded(key), value=_coded(value))

    def keys(self, prefix: str = "/") -> dict[str, str]:
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = self._post("range", key=_coded(prefix), range_end=_coded(end)).get("kvs", [])
        return {_plain(one["key"]): _plain(one.get("value", "")) for one in found}

    def _answers(self) -> bool:
        self.process.check()
        try:
            self.keys()
        except OSError:
            return False
        return True

    def _post(self, what: str, **body: str) -> dict[str, Any]:
        request = Request(f"http://{self.address}/v3/kv/{what}", json.dumps(body).encode())
        with urlopen(request, timeout=5) as response:
            answer: dict[str, Any] = json.load(response)
        return answer


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _plain(text: str) -> str:
    return base64.b64decode(text).decode()
