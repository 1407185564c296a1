"""Who we are to the API server, read again when it may have changed.

Owns credentials that come from values and files. Plugins are in `exec_plugin`; nothing here is ever written anywhere.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from paddlejob.kube.errors import ConfigError

# Kubernetes renews the token of a service account in place, well before it expires.
REREAD_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Credentials:
    authorization: str | None = field(default=None, repr=False)
    # The client's certificate chain and key in one PEM.
    certificate: bytes | None = field(default=None, repr=False)


class Auth(Protocol):
    async def credentials(self) -> Credentials: ...

    async def refresh(self, refused: Credentials) -> bool:
        """After a 401: whether there are now other credentials than those that were refused."""
        ...


def bearer(token: str) -> str:
    return f"Bearer {token}"


def basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {what} {path}: {error.strerror or error}: check the path") from error


@dataclass(frozen=True, slots=True)
class Pem:
    """A certificate or key, as data or in a file that may be renewed in place."""

    data: bytes | None
    path: Path | None
    what: str

    def read(self) -> bytes | None:
        if self.data is not None:
            return self.data
        return read(self.path, self.what) if self.path is not None else None


class FileAuth:
    """Values and files of a kubeconfig or a service account; files are read again every minute and after a 401."""

    def __init__(
        self,
        *,
        authorization: str | None = None,
        token_file: Path | None = None,
        certificate: Pem | None = None,
        key: Pem | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._authorization = authorization
        self._token_file = token_file
        self._certificate = certificate
        self._key = key
        self._clock = clock
        self._current: Credentials | None = None
        self._read_at = 0.0

    async def credentials(self) -> Credentials:
        if self._current is None or self._clock() - self._read_at >= REREAD_SECONDS:
            self._current = self._load()
            self._read_at = self._clock()
        return self._current

    async def refresh(self, refused: Credentials) -> bool:
        self._current = None
        return await self.credentials() != refused

    def _load(self) -> Credentials:
        authorization = self._authorization
        if self._token_file is not None:
            authorization = bearer(read(self._token_file, "the token").decode().strip())
        certificate = self._certificate.read() if self._certificate is not None else None
        key = self._key.read() if self._key is not None else None
        pem = certificate + b"\n" + key if certificate and key else None
        return Credentials(authorization, pem)
