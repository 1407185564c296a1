"""The kubeconfig file format: read, merged like kubectl merges, and checked.

Owns the shape of the files and the words for what is wrong in them. What the values mean is `config`'s business.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import yaml

from paddlejob.kube.auth import Pem
from paddlejob.kube.errors import ConfigError

_Loader: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Extension(msgspec.Struct, frozen=True):
    name: str
    extension: object = None


class ClusterEntry(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: tuple[Extension, ...] | None = None


class EnvVar(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    command: str
    api_version: str = ""
    args: tuple[str, ...] | None = None
    env: tuple[EnvVar, ...] | None = None
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False


class User(msgspec.Struct, frozen=True, rename="kebab"):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: Exec | None = None
    auth_provider: dict[str, object] | None = None
    as_user: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()


class Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: ClusterEntry = ClusterEntry()


class NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: User | None = None


class NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context = Context()


class File(msgspec.Struct, frozen=True, rename="kebab"):
    clusters: tuple[NamedCluster, ...] | None = None
    users: tuple[NamedUser, ...] | None = None
    contexts: tuple[NamedContext, ...] | None = None
    current_context: str = ""


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_HasName)


class Kubeconfig:
    """Several files seen as one: of each name the first file that has it wins."""

    def __init__(self, files: Sequence[tuple[Path, File]]) -> None:
        self._files = files

    @property
    def sources(self) -> str:
        return ", ".join(str(path) for path, _ in self._files)

    @property
    def current_context(self) -> str:
        return next((file.current_context for _, file in self._files if file.current_context), "")

    def context(self, name: str) -> Context:
        found = self._find(((path, file.contexts) for path, file in self._files), name)
        if found is None:
            names = sorted({entry.name for _, file in self._files for entry in file.contexts or ()})
            known = ", ".join(names) or "none"
            raise ConfigError(f"{self.sources}: there is no context {name!r}; known contexts: {known}")
        return found[1].context

    def cluster(self, name: str) -> tuple[Path, ClusterEntry]:
        found = self._find(((path, file.clusters) for path, file in self._files), name)
        if found is None or not found[1].cluster.server:
            raise ConfigError(
                f"{self.sources}: there is no cluster {name!r} with a server: add it or correct the context"
            )
        return found[0], found[1].cluster

    def user(self, name: str) -> tuple[Path, User]:
        found = self._find(((path, file.users) for path, file in self._files), name)
        if found is None:
            raise ConfigError(f"{self.sources}: there is no user {name!r}: add it or correct the context")
        return found[0], found[1].user or User()

    def _find(self, lists: Iterable[tuple[Path, tuple[N, ...] | None]], name: str) -> tuple[Path, N] | None:
        return next(((path, entry) for path, entries in lists for entry in entries or () if entry.name == name), None)


def read_files(paths: Iterable[Path]) -> Kubeconfig:
    return Kubeconfig([(path, _read(path)) for path in paths])


def _read(path: Path) -> File:
    try:
        content = yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise ConfigError(
            f"cannot read the kubeconfig {path}: {error.strerror or error}: check the path and its permissions"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"the kubeconfig {path} is not YAML: {error}") from error
    try:
        return msgspec.convert(content if content is not None else {}, File)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the kubeconfig {path} is not a kubeconfig: {error}") from error


def pem(data: str, file: str, source: Path, what: str) -> Pem | None:
    """Data wins over a file, as for kubectl; a relative path is relative to the kubeconfig that names it."""
    if data:
        try:
            return Pem(base64.b64decode(data, validate=False), None, what)
        except (binascii.Error, ValueError) as error:
            raise ConfigError(f"{source}: {what} is not base64 ({error})") from error
    return Pem(None, relative_to(source, file), what) if file else None


def relative_to(source: Path, file: str) -> Path:
    return source.parent / Path(file).expanduser()
