"""Credential plugins: small shell scripts that print what real ones print."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from paddlejob.kube.auth import Credentials
from paddlejob.kube.client import Client
from paddlejob.kube.config import load_config
from paddlejob.kube.errors import ConfigError
from paddlejob.kube.exec_plugin import ExecAuth, Plugin
from tests.kube.fake_server import FakeServer, refuses, until
from tests.kube.test_config import a_kubeconfig

V1 = "client.authentication.k8s.io/v1"


def a_script(folder: Path, body: str, name: str = "plugin") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def printing(folder: Path, status: dict[str, str], api_version: str = V1) -> Path:
    """A plugin that counts its runs in the file `runs` and prints a credential."""
    credential = json.dumps({"apiVersion": api_version, "kind": "ExecCredential", "status": status})
    return a_script(folder, f"echo run >> {folder}/runs\ncat <<'END'\n{credential}\nEND")


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


@pytest.mark.parametrize("api_version", [V1, "client.authentication.k8s.io/v1beta1"])
async def test_a_plugin_gives_a_token_and_is_not_run_again(tmp_path: Path, api_version: str) -> None:
    plugin = printing(tmp_path, {"token": "t"}, api_version)
    auth = ExecAuth(Plugin(str(plugin), api_version))
    given = await asyncio.gather(*(auth.credentials() for _ in range(5)))
    assert set(given) == {Credentials("Bearer t")}
    assert runs(tmp_path) == 1


async def test_a_plugin_may_give_a_client_certificate(tmp_path: Path) -> None:
    plugin = printing(tmp_path, {"clientCertificateData": "CERT", "clientKeyData": "KEY"})
    assert await ExecAuth(Plugin(str(plugin), V1)).credentials() == Credentials(None, b"CERT\nKEY")


@pytest.mark.parametrize(
    "expires", ["2030-01-01T00:00:00Z", "2030-01-01T08:00:00.123456789+08:00"], ids=["utc", "another zone"]
)
async def test_expired_credentials_are_asked_for_again(tmp_path: Path, expires: str) -> None:
    now = 1893456000.0 - 3600  # an hour before 2030
    auth = ExecAuth(
        Plugin(str(printing(tmp_path, {"token": "t", "expirationTimestamp": expires})), V1), wall_clock=lambda: now
    )
    await auth.credentials()
    await auth.credentials()
    assert runs(tmp_path) == 1
    now += 3595
    await auth.credentials()
    assert runs(tmp_path) == 2


async def test_after_a_401_the_plugin_runs_once_for_all_who_were_refused(tmp_path: Path) -> None:
    auth = ExecAuth(Plugin(str(printing(tmp_path, {"token": "t"})), V1))
    refused = await auth.credentials()
    assert await asyncio.gather(*(auth.refresh(refused) for _ in range(5))) == [True] * 5
    assert runs(tmp_path) == 2


async def test_a_plugin_is_told_the_cluster_and_its_environment(tmp_path: Path) -> None:
    a_script(tmp_path, f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/info; echo "$1 $EXTRA" > {tmp_path}/args; exit 3')
    cluster: dict[str, object] = {
        "tls-server-name": "api.test",
        "insecure-skip-tls-verify": True,
        "proxy-url": "http://p:1",
        "certificate-authority-data": "Q0E=",
        "extensions": [
            {"name": "other", "extension": {"no": 1}},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ],
    }
    exec_ = {
        "command": "./plugin",
        "apiVersion": V1,
        "args": ["--flag"],
        "env": [{"name": "EXTRA", "value": "more"}],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    config = load_config(str(a_kubeconfig(tmp_path, cluster=cluster, user={"exec": exec_})))
    with pytest.raises(ConfigError, match="it exited with code 3: no output"):
        await config.auth.credentials()
    assert (tmp_path / "args").read_text() == "--flag more\n"
    assert json.loads((tmp_path / "info").read_text()) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://c:6443",
                "tls-server-name": "api.test",
                "insecure-skip-tls-verify": True,
                "proxy-url": "http://p:1",
                "certificate-authority-data": "Q0E=",
                "config": {"audience": "x"},
            },
        },
    }


@pytest.mark.parametrize(
    ("hint", "words"), [("", "install it or correct"), ("brew install it", "brew install it")], ids=["none", "given"]
)
async def test_a_missing_plugin_says_how_to_install_it(tmp_path: Path, hint: str, words: str) -> None:
    exec_ = {"command": "no-such-plugin-anywhere", "apiVersion": V1, "installHint": hint}
    config = load_config(str(a_kubeconfig(tmp_path, user={"exec": exec_})))
    with pytest.raises(ConfigError, match=f"(?s)'no-such-plugin-anywhere' cannot be run: No such file.*{words}"):
        await config.auth.credentials()


BROKEN: dict[str, tuple[str, str]] = {
    "fails": ("echo 'log in first' >&2; exit 1", "exited with code 1: log in first"),
    "prints nonsense": ("echo nonsense", "did not print an ExecCredential"),
    "another version": ('echo \'{"apiVersion":"other"}\'', "answered in other, but the kubeconfig asks for"),
    "no version": ("echo '{}'", "answered in no apiVersion"),
    "no status": (f'echo \'{{"apiVersion":"{V1}"}}\'', "has no status"),
    "nothing in it": (f'echo \'{{"apiVersion":"{V1}","status":{{}}}}\'', "neither a token nor"),
    "bad time": (
        f'echo \'{{"apiVersion":"{V1}","status":{{"token":"t","expirationTimestamp":"soon"}}}}\'',
        "'soon' is not a time",
    ),
}


@pytest.mark.parametrize(("body", "words"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_plugin_says_what_is_wrong(tmp_path: Path, body: str, words: str) -> None:
    script = a_script(tmp_path, body)
    with pytest.raises(ConfigError, match=words) as caught:
        await ExecAuth(Plugin(str(script), V1)).credentials()
    assert str(script) in str(caught.value)


async def test_a_plugin_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddlejob.kube.exec_plugin.PLUGIN_SECONDS", 0.2)
    script = a_script(tmp_path, "exec sleep 600")
    with pytest.raises(ConfigError, match="did not finish within"):
        await ExecAuth(Plugin(str(script), V1)).credentials()


async def test_a_cancelled_call_ends_its_plugin(tmp_path: Path) -> None:
    script = a_script(tmp_path, f"echo $$ > {tmp_path}/pid\nexec sleep 600")
    task = asyncio.create_task(ExecAuth(Plugin(str(script), V1)).credentials())
    pid = tmp_path / "pid"
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_refused_call_runs_the_plugin_and_goes_again(tmp_path: Path, server: FakeServer) -> None:
    server.fail("any", refuses(401, "Unauthorized"))
    async with Client(server.config(ExecAuth(Plugin(str(printing(tmp_path, {"token": "t"})), V1)))) as client:
        await client.request("GET", "/x")
    assert runs(tmp_path) == 2
    assert len(server.requests) == 2
