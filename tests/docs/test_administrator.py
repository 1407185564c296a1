"""docs/administrator.md is true: its commands are run from top to bottom, its rights suffice, its metrics exist."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import NODE, ControlPlane
from tests.docs.typist import LANGUAGES, ROOT, Typist, commands, halves, yaml_blocks
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role

PAGE = ROOT / "docs" / "administrator.md"
DEPLOYMENT = "/apis/apps/v1/namespaces/paddle-system/deployments/paddle-controller-manager"
KUSTOMIZATION, ROLE = yaml_blocks(PAGE)


@pytest.fixture(scope="module")
def fresh(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(binaries, tmp_path_factory.mktemp("administrator")) as started:
        started.kubectl("label", "node", NODE, "kubernetes.io/os=linux")  # as every kubelet does
        yield started


@pytest.mark.timeout(400)
def test_every_command_of_the_page_works(fresh: ControlPlane, tmp_path: Path) -> None:
    typist = Typist(fresh, tmp_path)
    (tmp_path / "paddlejob-user.yaml").write_text(ROLE)
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    for line in commands(PAGE):
        own = "paddlejob-user.yaml" in line or "-k ." in line
        said = typist.type(line, tmp_path if own else ROOT)
        if "can-i" in line:
            assert said == "yes\n"
        if "-k ." in line:
            pods = fresh.api.get(DEPLOYMENT)["spec"]["template"]["spec"]
            assert pods["containers"][0]["image"] == "registry.example.com/paddle-operator:0.1.0"
            assert pods["nodeSelector"] == {"kubernetes.io/os": "linux"}
    left = fresh.kubectl("get", "ns,crd,clusterrole,clusterrolebinding", "-o", "name")
    assert "paddle" not in left


@pytest.mark.usefixtures("operator")
def test_a_person_with_these_rights_can_do_everything(desk: Desk, kubelet: Kubelet, tmp_path: Path) -> None:
    role = {**yaml.safe_load(ROLE), "kind": "Role", "metadata": {"name": "user", "namespace": desk.namespace}}
    desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(role))
    desk.kubectl("create", "rolebinding", "user", "--role=user", f"--serviceaccount={desk.namespace}:default")
    token = desk.control_plane.token_for("default", desk.namespace)
    person = Person(tmp_path, desk.control_plane.kubeconfig(tmp_path / "ada", token=token, namespace=desk.namespace))
    worker = {**a_role(1), "requests": 1, "limits": 4}
    worker["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    beside = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beside"}, "data": {}}
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump_all([beside, a_job("mine", worker=worker)]))
    person.pipes("submit", path).fine()
    person.pipes("wait", "mine", "--for=Running", "--timeout=2m").fine()
    kubelet.says(f"{desk.namespace}/mine-worker-0", "hello")
    assert person.pipes("logs", "mine").fine().out == "[mine-worker-0] hello\n"
    for command in (("list",), ("describe", "mine"), ("suspend", "mine"), ("resume", "mine")):
        person.pipes(*command).fine()
    refused = person.pipes("scale", "mine", "2")
    assert "elastic" in refused.sentence, "it was refused for what it is, not for who asked"
    person.pipes("delete", "mine").fine()


def test_every_metric_of_the_page_exists(operator: OperatorProcess, desk: Desk) -> None:
    desk.submit(a_job("counted"))
    desk.in_phase("counted", "Running")
    named, also = (set(re.findall(r"`(paddlejob_\w+)`", page.read_text())) for page in halves(PAGE))
    scraped = operator.scrape()
    assert len(named) >= 8
    assert named == also
    assert not {one for one in named if one not in scraped}
    exported = {one.removesuffix("_total") for one in re.findall(r"^# HELP (paddlejob_\w+) ", scraped, re.MULTILINE)}
    shown = {one.removesuffix("_total") for one in named}
    assert not {one for one in exported if one not in shown and not one.endswith("_created")}


@pytest.mark.parametrize("page", halves(PAGE), ids=LANGUAGES)
def test_every_flag_of_the_page_exists(page: Path) -> None:
    flags = set(re.findall(r"`(--[a-z-]+)`", page.read_text()))
    source = (ROOT / "src/paddlejob/cli/operator.py").read_text() + (ROOT / "src/paddlejob/cli/install.py").read_text()
    missing = {one for one in flags if one.removeprefix("--").replace("-", "_") not in source}
    assert not missing
