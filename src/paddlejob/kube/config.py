"""Which cluster, as whom and through which proxy: from a kubeconfig or from inside a pod.

Owns where to look and in which order. The file format is in `kubeconfig`, credentials in `auth` and `exec_plugin`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddlejob.kube.auth import Auth, FileAuth, basic, bearer, read
from paddlejob.kube.errors import ConfigError
from paddlejob.kube.exec_plugin import API_VERSIONS, ExecAuth, Plugin
from paddlejob.kube.kubeconfig import ClusterEntry, Exec, User, pem, read_files, relative_to
from paddlejob.kube.proxy import Proxy, proxy_for

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    server: str
    namespace: str = "default"
    ca: bytes | None = field(default=None, repr=False)
    insecure: bool = False
    tls_server_name: str | None = None
    proxy: Proxy | None = field(default=None, repr=False)
    auth: Auth = field(default_factory=FileAuth, repr=False)
    headers: tuple[tuple[str, str], ...] = ()


def load_config(kubeconfig: str | None = None, context: str | None = None) -> ClusterConfig:
    """The given file, else $KUBECONFIG, else ~/.kube/config if it is there, else the pod's service account."""
    environ = os.environ
    if kubeconfig:
        return from_files([Path(kubeconfig).expanduser()], context, environ)
    if listed := environ.get("KUBECONFIG"):
        paths = [Path(part).expanduser() for part in listed.split(os.pathsep) if part]
        present = [path for path in paths if path.exists()]
        if not present:
            raise ConfigError(f"none of the files in $KUBECONFIG exists ({listed}): correct it or unset it")
        return from_files(present, context, environ)
    home = Path("~/.kube/config").expanduser()
    if home.exists():
        return from_files([home], context, environ)
    if context:
        raise ConfigError(f"context {context!r} needs a kubeconfig: there is no {home}; set KUBECONFIG")
    return in_cluster(environ)


def in_cluster(environ: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> ClusterConfig:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (folder / "token").exists():
        raise ConfigError(
            "no cluster is configured: there is no ~/.kube/config, no $KUBECONFIG and no service account of a pod; "
            "use --kubeconfig, or set KUBECONFIG to the file that kubectl uses"
        )
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    namespace = folder / "namespace"
    return ClusterConfig(
        server=server,
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
        ca=read(folder / "ca.crt", "the certificate authority"),
        proxy=proxy_for(server, None, environ),
        auth=FileAuth(token_file=folder / "token"),
    )


def from_files(paths: list[Path], context: str | None, environ: Mapping[str, str]) -> ClusterConfig:
    files = read_files(paths)
    name = context or files.current_context
    if not name:
        raise ConfigError(
            f"{files.sources}: no current-context: give --context, or run `kubectl config use-context NAME`"
        )
    chosen = files.context(name)
    source, cluster = files.cluster(chosen.cluster)
    user_source, user = files.user(chosen.user) if chosen.user else (source, User())
    server = cluster.server.rstrip("/")
    if not server.startswith(("https://", "http://")):
        raise ConfigError(f"{source}: the server {server!r} of cluster {chosen.cluster!r} must start with https://")
    ca = _authority(cluster, source)
    return ClusterConfig(
        server=server,
        namespace=chosen.namespace or "default",
        ca=ca,
        insecure=cluster.insecure_skip_tls_verify,
        tls_server_name=cluster.tls_server_name or None,
        proxy=proxy_for(server, cluster.proxy_url, environ),
        auth=_auth(user, user_source, cluster, ca),
        headers=_impersonation(user),
    )


def _authority(cluster: ClusterEntry, source: Path) -> bytes | None:
    found = pem(
        cluster.certificate_authority_data,
        cluster.certificate_authority,
        source,
        "the certificate authority",
    )
    return found.read() if found is not None else None


def _auth(user: User, source: Path, cluster: ClusterEntry, ca: bytes | None) -> Auth:
    if user.auth_provider is not None:
        raise ConfigError(
            f"{source}: auth-provider was removed from Kubernetes in 1.26: use the exec plugin of your provider"
        )
    if user.exec is not None:
        return ExecAuth(_plugin(user.exec, source, cluster, ca))
    certificate = pem(user.client_certificate_data, user.client_certificate, source, "the client certificate")
    key = pem(user.client_key_data, user.client_key, source, "the client key")
    if (certificate is None) != (key is None):
        raise ConfigError(f"{source}: client-certificate and client-key go together: give both or neither")
    authorization = None
    if user.token:
        authorization = bearer(user.token)
    elif user.username or user.password:
        authorization = basic(user.username, user.password)
    token_file = relative_to(source, user.token_file) if user.token_file else None
    return FileAuth(authorization=authorization, token_file=token_file, certificate=certificate, key=key)


def _plugin(exec_: Exec, source: Path, cluster: ClusterEntry, ca: bytes | None) -> Plugin:
    if exec_.api_version not in API_VERSIONS:
        raise ConfigError(
            f"{source}: the credential plugin's apiVersion {exec_.api_version!r} is not supported: "
            f"use {' or '.join(API_VERSIONS)}"
        )
    # Like kubectl: a bare name is looked up in PATH, a path is relative to the file that names it.
    command = str(relative_to(source, exec_.command)) if os.sep in exec_.command else exec_.command
    return Plugin(
        command=command,
        api_version=exec_.api_version,
        args=exec_.args or (),
        env=tuple((variable.name, variable.value) for variable in exec_.env or ()),
        install_hint=exec_.install_hint,
        interactive=exec_.interactive_mode != "Never",
        cluster=_cluster_info(cluster, ca) if exec_.provide_cluster_info else None,
    )


def _cluster_info(cluster: ClusterEntry, ca: bytes | None) -> dict[str, object]:
    info: dict[str, object] = {"server": cluster.server}
    if ca is not None:
        info["certificate-authority-data"] = base64.b64encode(ca).decode()
    if cluster.tls_server_name:
        info["tls-server-name"] = cluster.tls_server_name
    if cluster.insecure_skip_tls_verify:
        info["insecure-skip-tls-verify"] = True
    if cluster.proxy_url:
        info["proxy-url"] = cluster.proxy_url
    for extension in cluster.extensions or ():
        if extension.name == "client.authentication.k8s.io/exec":
            info["config"] = extension.extension
    return info


def _impersonation(user: User) -> tuple[tuple[str, str], ...]:
    """Acting with one's own rights where the file says to act as somebody else would be worse than failing."""
    headers = [("Impersonate-User", user.as_user)] if user.as_user else []
    headers += [("Impersonate-Uid", user.as_uid)] if user.as_uid else []
    return (*headers, *(("Impersonate-Group", group) for group in user.as_groups))
