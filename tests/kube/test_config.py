"""Where the cluster, the namespace and the credentials come from."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import yaml

from paddlejob.kube.auth import Credentials, FileAuth
from paddlejob.kube.config import ClusterConfig, from_files, in_cluster, load_config
from paddlejob.kube.errors import ConfigError


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_kubeconfig(
    folder: Path,
    *,
    name: str = "config",
    context: str = "c",
    cluster: dict[str, object] | None = None,
    user: dict[str, object] | None = None,
    namespace: str | None = None,
) -> Path:
    """One context with one cluster and one user, all called like the context."""
    inner: dict[str, object] = {"cluster": context, "user": context}
    if namespace:
        inner["namespace"] = namespace
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "contexts": [{"name": context, "context": inner}],
        "clusters": [{"name": context, "cluster": {"server": f"https://{context}:6443"} | (cluster or {})}],
        "users": [{"name": context, "user": user}],
    }
    path = folder / name
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


USERS: dict[str, tuple[dict[str, object] | None, Credentials]] = {
    "nobody": (None, Credentials()),
    "token": ({"token": "t"}, Credentials("Bearer t")),
    "token file wins over token": ({"token": "t", "tokenFile": "token"}, Credentials("Bearer from-file")),
    "name and password": ({"username": "u", "password": "p"}, Credentials("Basic dTpw")),
    "certificate data": (
        {"client-certificate-data": b64("CERT"), "client-key-data": b64("KEY")},
        Credentials(None, b"CERT\nKEY"),
    ),
    "certificate files": (
        {"client-certificate": "sub/cert", "client-key": "sub/key"},
        Credentials(None, b"CERT-FILE\nKEY-FILE"),
    ),
    "data wins over files": (
        {"client-certificate": "none", "client-certificate-data": b64("C"), "client-key-data": b64("K")},
        Credentials(None, b"C\nK"),
    ),
}


@pytest.mark.parametrize(("user", "expected"), USERS.values(), ids=USERS.keys())
async def test_credentials_of_a_user(tmp_path: Path, user: dict[str, object] | None, expected: Credentials) -> None:
    (tmp_path / "token").write_text("from-file\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/cert").write_text("CERT-FILE")
    (tmp_path / "sub/key").write_text("KEY-FILE")
    config = load_config(str(a_kubeconfig(tmp_path, user=user)))
    assert await config.auth.credentials() == expected


def test_everything_a_cluster_can_say(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("CA-FILE")
    cluster: dict[str, object] = {
        "server": "https://host/k8s/clusters/one/",
        "certificate-authority": "ca",
        "tls-server-name": "api.test",
        "proxy-url": "http://p:3128",
        "insecure-skip-tls-verify": True,
    }
    user: dict[str, object] = {"as": "bob", "as-uid": "7", "as-groups": ["x", "y"]}
    config = load_config(str(a_kubeconfig(tmp_path, cluster=cluster, user=user, namespace="team")))
    assert config.server == "https://host/k8s/clusters/one"
    assert (config.ca, config.insecure, config.tls_server_name) == (b"CA-FILE", True, "api.test")
    assert config.namespace == "team"
    assert config.proxy is not None
    assert str(config.proxy.url) == "http://p:3128"
    assert config.headers == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "x"),
        ("Impersonate-Group", "y"),
    )


def test_authority_data_wins_over_a_file(tmp_path: Path) -> None:
    cluster: dict[str, object] = {"certificate-authority": "none", "certificate-authority-data": b64("CA")}
    assert load_config(str(a_kubeconfig(tmp_path, cluster=cluster))).ca == b"CA"


def test_several_files_are_merged_and_the_first_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = a_kubeconfig(tmp_path, name="one", context="a", cluster={"server": "https://first"})
    two = a_kubeconfig(tmp_path, name="two", context="a", cluster={"server": "https://second"})
    three = a_kubeconfig(tmp_path, name="three", context="b", namespace="of-b")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/missing:{one}:{two}::{three}")
    assert load_config().server == "https://first"
    assert load_config(context="b").server == "https://b:6443"
    assert load_config(context="b").namespace == "of-b"
    assert load_config(str(two)).server == "https://second", "an explicit file is read alone"


def test_the_home_folder_is_looked_at_last(tmp_path: Path) -> None:
    folder = tmp_path / "home/.kube"
    folder.mkdir()
    a_kubeconfig(folder, context="home")
    assert load_config().server == "https://home:6443"


WRONG: dict[str, tuple[str, str]] = {
    "not yaml": ("a: [", "is not YAML"),
    "another shape": ("clusters: 7", "is not a kubeconfig"),
    "empty": ("", "no current-context"),
    "no such context": ("current-context: x\ncontexts: [{name: y}]", "no context 'x'; known contexts: y"),
    "no such cluster": ("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", "no cluster 'c'"),
    "cluster without server": (
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c}]",
        "no cluster 'c' with a server",
    ),
    "server without scheme": (
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
        "clusters: [{name: c, cluster: {server: host}}]",
        "must start with https://",
    ),
    "no such user": (
        "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: https://h}}]",
        "no user 'u'",
    ),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_kubeconfig_is_named_with_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "wrong"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words) as caught:
        load_config(str(path))
    assert str(path) in str(caught.value)


WRONG_USERS: dict[str, tuple[dict[str, object], str]] = {
    "auth-provider": ({"auth-provider": {"name": "gcp"}}, "use the exec plugin"),
    "certificate without key": ({"client-certificate-data": b64("C")}, "give both or neither"),
    "no base64": ({"client-certificate-data": "x", "client-key-data": "x"}, "is not base64"),
    "old plugin": ({"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}, "not supported"),
}


@pytest.mark.parametrize(("user", "words"), WRONG_USERS.values(), ids=WRONG_USERS.keys())
def test_a_user_we_cannot_be_says_why(tmp_path: Path, user: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(str(a_kubeconfig(tmp_path, user=user)))


def test_a_context_without_a_user_is_nobody(tmp_path: Path) -> None:
    path = tmp_path / "anonymous"
    path.write_text(
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: http://h}}]"
    )
    assert load_config(str(path)).server == "http://h"


@pytest.mark.parametrize("where", ["explicit", "environment", "nowhere", "context"])
def test_no_kubeconfig_says_where_was_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    missing = str(tmp_path / "missing")
    if where == "environment":
        monkeypatch.setenv("KUBECONFIG", missing)
    words = {"explicit": missing, "environment": missing, "nowhere": "--kubeconfig", "context": "needs a kubeconfig"}
    with pytest.raises(ConfigError, match=words[where]):
        load_config(missing if where == "explicit" else None, "c" if where == "context" else None)


@pytest.mark.parametrize(
    ("host", "server"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")]
)
async def test_inside_a_pod_the_service_account_is_used(tmp_path: Path, host: str, server: str) -> None:
    for name, text in {"token": "t\n", "ca.crt": "CA", "namespace": "team\n"}.items():
        (tmp_path / name).write_text(text)
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}
    config = in_cluster(environ, tmp_path)
    assert (config.server, config.namespace, config.ca) == (server, "team", b"CA")
    assert await config.auth.credentials() == Credentials("Bearer t")
    (tmp_path / "namespace").unlink()
    assert in_cluster(environ, tmp_path).namespace == "default"


async def test_a_token_file_is_read_again_within_a_minute_and_after_a_401(tmp_path: Path) -> None:
    token, now = tmp_path / "token", 1000.0
    token.write_text("one")
    auth = FileAuth(token_file=token, clock=lambda: now)
    first = await auth.credentials()
    token.write_text("two")
    assert await auth.credentials() == first
    now += 60
    assert (await auth.credentials()).authorization == "Bearer two"
    assert not await auth.refresh(Credentials("Bearer two")), "nothing new to offer"
    token.write_text("three")
    assert await auth.refresh(Credentials("Bearer two"))
    assert (await auth.credentials()).authorization == "Bearer three"
    token.unlink()
    now += 60
    with pytest.raises(ConfigError, match="cannot read the token"):
        await auth.credentials()


def test_secrets_are_not_printed(tmp_path: Path) -> None:
    config = load_config(str(a_kubeconfig(tmp_path, user={"token": "very-secret"})))
    assert "very-secret" not in repr(config)
    assert "very-secret" not in repr(Credentials("very-secret", b"very-secret"))


def test_files_are_read_with_the_environment_they_are_given(tmp_path: Path) -> None:
    config = from_files([a_kubeconfig(tmp_path)], None, {"HTTPS_PROXY": "http://p:1"})
    assert isinstance(config, ClusterConfig)
    assert config.proxy is not None
