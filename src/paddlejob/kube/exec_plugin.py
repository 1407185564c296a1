"""Credentials from a plugin: a program that prints an ExecCredential (client.authentication.k8s.io).

Owns running it, when to run it again, and the words for when it fails. Keeps what it printed in memory only.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from paddlejob.kube.auth import Credentials, bearer
from paddlejob.kube.errors import ConfigError
from paddlejob.kube.tasks import TimedOut, timeout

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
# A plugin may open a browser and wait for a person.
PLUGIN_SECONDS = 120.0
# Renewed a little early, so that credentials do not expire on their way.
EARLY_SECONDS = 10.0

_RFC3339 = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(?P<zone>[Zz]|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Plugin:
    """How to run it, as the kubeconfig says; `cluster` is what provideClusterInfo hands over."""

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    install_hint: str = ""
    interactive: bool = False
    cluster: dict[str, object] | None = None


class _Given(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    status: _Given | None = None


class ExecAuth:
    def __init__(self, plugin: Plugin, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._plugin = plugin
        self._wall_clock = wall_clock
        self._current: Credentials | None = None
        self._expires: float | None = None
        # Many calls may find at once that there is nothing valid: the plugin runs once for all of them.
        self._lock = asyncio.Lock()

    async def credentials(self) -> Credentials:
        async with self._lock:
            if self._current is None or self._is_expired():
                self._take(await self._run())
            assert self._current is not None
            return self._current

    async def refresh(self, refused: Credentials) -> bool:
        async with self._lock:
            # Somebody else may have refreshed while we waited for the lock.
            if self._current is refused:
                self._take(await self._run())
            return True

    def _is_expired(self) -> bool:
        return self._expires is not None and self._wall_clock() >= self._expires - EARLY_SECONDS

    def _take(self, given: _Given) -> None:
        if not given.token and not (given.client_certificate_data and given.client_key_data):
            raise self._broken("its status has neither a token nor a client certificate with its key")
        pem = f"{given.client_certificate_data}\n{given.client_key_data}".encode()
        self._current = Credentials(
            bearer(given.token) if given.token else None, pem if given.client_certificate_data else None
        )
        self._expires = self._moment(given.expiration_timestamp)

    async def _run(self) -> _Given:
        plugin = self._plugin
        terminal = plugin.interactive and sys.stdin is not None and sys.stdin.isatty()
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.args,
                env={**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": self._info(terminal)},
                stdin=None if terminal else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                # A person at the terminal must see the prompt; otherwise it is kept for the error.
                stderr=None if terminal else asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"\n{plugin.install_hint}" if plugin.install_hint else "; install it or correct `command`"
            raise ConfigError(
                f"the kubeconfig's credential plugin {plugin.command!r} cannot be run: {error.strerror or error}{hint}"
            ) from error
        return self._read(*await self._finished(process))

    async def _finished(self, process: asyncio.subprocess.Process) -> tuple[int, bytes, bytes]:
        try:
            async with timeout(PLUGIN_SECONDS):
                out, err = await process.communicate()
        except TimedOut as error:
            raise self._broken(f"it did not finish within {PLUGIN_SECONDS:g} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode or 0, out, err or b""

    def _read(self, code: int, out: bytes, err: bytes) -> _Given:
        if code != 0:
            output = err[-1000:].decode(errors="replace").strip()
            raise self._broken(f"it exited with code {code}: {output or 'no output'}")
        try:
            credential = msgspec.json.decode(out, type=_ExecCredential)
        except msgspec.DecodeError as error:
            raise self._broken(f"it did not print an ExecCredential: {error}") from error
        if credential.api_version != self._plugin.api_version:
            raise self._broken(
                f"it answered in {credential.api_version or 'no apiVersion'}, but the kubeconfig asks for "
                f"{self._plugin.api_version}"
            )
        if credential.status is None:
            raise self._broken("its ExecCredential has no status")
        return credential.status

    def _info(self, interactive: bool) -> str:
        spec: dict[str, object] = {"interactive": interactive}
        if self._plugin.cluster is not None:
            spec["cluster"] = self._plugin.cluster
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()

    def _moment(self, text: str | None) -> float | None:
        if text is None:
            return None
        # Python 3.10 reads neither Z nor fractions of any length; whole seconds are enough here.
        parts = _RFC3339.fullmatch(text)
        if parts is None:
            raise self._broken(f"its expirationTimestamp {text!r} is not a time")
        zone = "+00:00" if parts["zone"] in "Zz" else parts["zone"]
        return datetime.fromisoformat(parts["time"] + zone).timestamp()

    def _broken(self, why: str) -> ConfigError:
        command = " ".join((self._plugin.command, *self._plugin.args))
        return ConfigError(f"the kubeconfig's credential plugin failed: {why}; try it yourself: {command}")
