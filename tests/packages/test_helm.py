"""docs/helm.md is true: its commands are run from top to bottom, with either helm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.docs.typist import ROOT, Typist, commands
from tests.packages.prometheus_operator import crds

PAGE = ROOT / "docs" / "helm.md"
DEPLOYMENT = "/apis/apps/v1/namespaces/paddle-system/deployments/paddle-controller-manager"


@pytest.mark.timeout(400)
def test_every_command_of_the_page_works(empty: ControlPlane, program: Path, tmp_path: Path) -> None:
    empty.install(*crds("servicemonitors", "prometheusrules"))
    typist = Typist(empty, tmp_path)
    (tmp_path / "bin" / "helm").symlink_to(program)
    lines = commands(PAGE)
    assert len([line for line in lines if line.startswith("helm ")]) >= 6
    for line in lines:
        typist.type(line)
        if line.startswith(("helm install", "helm upgrade", "helm rollback")):
            pods = empty.api.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]
            version = "0.1.1" if "image.tag" in line else "0.1.0"
            assert pods["image"] == f"registry.example.com/paddle-operator:{version}"
            assert ("--namespace=team-a" in pods["args"]) == ("helm install" not in line)
    left = empty.kubectl("get", "ns,crd,clusterrole,clusterrolebinding", "-o", "name")
    assert "paddle" not in left
