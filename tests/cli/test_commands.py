"""The command line as a person meets it: what it prints, and the exit codes that scripts rely on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {}}]
current-context: here
"""


def paddlejob(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paddlejob", *args]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "COLUMNS": "200", **env}
    )


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_crd_prints_what_is_checked_in(version: str) -> None:
    done = paddlejob("crd", f"--version={version}")
    assert done.returncode == 0
    assert yaml.safe_load(done.stdout) == yaml.safe_load((ROOT / "deploy" / version / "crd.yaml").read_text())


def test_help_tells_what_every_command_does() -> None:
    said = paddlejob("--help").stdout
    assert "Print the CustomResourceDefinition of PaddleJob." in said
    assert "Run the operator." in said


BAD_USE = {
    "an unknown command": (("fly",), "fly"),
    "an unknown flag": (("operator", "--fly"), "--fly"),
    "an unknown log format": (("operator", "--log-format=xml"), "xml"),
    "no concurrency": (("operator", "--kube-api-concurrency=0"), ">= 1"),
    "an address without a port": (("operator", "--metrics-bind-address=here"), "write HOST:PORT or :PORT"),
}


@pytest.mark.parametrize("case", BAD_USE)
def test_bad_use_is_explained_and_exits_with_2(case: str, tmp_path: Path) -> None:
    args, said = BAD_USE[case]
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    done = paddlejob(*args, KUBECONFIG=str(kubeconfig))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_port_that_is_in_use_is_explained(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        flags = (f"--metrics-bind-address={address}", "--health-probe-bind-address=0")
        done = paddlejob("operator", f"--kubeconfig={kubeconfig}", *flags)
    assert done.returncode == 2, done.stderr
    assert f"cannot listen on '{address}'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_kubeconfig_that_is_not_there_is_explained_and_exits_with_3(tmp_path: Path) -> None:
    done = paddlejob("operator", f"--kubeconfig={tmp_path / 'nowhere'}")
    assert done.returncode == 3, done.stderr
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
