"""Volumes on this machine: where the data behind a mount path really lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddlejob.local.volumes import NotYet, Volumes

MAPS = {
    "ConfigMap/files": {"a.txt": "A", "b.txt": "B"},
    "ConfigMap/stray": {"../x": "X"},
    "Secret/keys": {"token": "t"},
}


def mounts(tmp_path: Path, volume: dict[str, Any], at: str = "/data", **mount: Any) -> tuple[tuple[str, str], ...]:
    mapped = {"claim": tmp_path / "mine"}
    volumes = Volumes({"volumes": [{"name": "v", **volume}]}, tmp_path / "pod", mapped, MAPS)
    return volumes.mounts({"volumeMounts": [{"name": "v", "mountPath": at, **mount}]})


def test_a_host_path_is_where_it_is(tmp_path: Path) -> None:
    assert mounts(tmp_path, {"hostPath": {"path": "/srv/data"}}) == (("/data", "/srv/data"),)
    assert mounts(tmp_path, {"hostPath": {"path": "/data"}}) == ()


def test_an_empty_dir_is_a_new_folder_of_the_pod(tmp_path: Path) -> None:
    ((at, path),) = mounts(tmp_path, {"emptyDir": {}})
    assert (at, path) == ("/data", str(tmp_path / "pod" / "v"))
    assert Path(path).is_dir()


def test_shared_memory_is_the_machines_own(tmp_path: Path) -> None:
    assert mounts(tmp_path, {"emptyDir": {"medium": "Memory"}}, at="/dev/shm") == ()


def test_shared_memory_that_the_operator_adds_changes_nothing_here(tmp_path: Path) -> None:
    """Not even where there is no such folder."""
    volume = {"name": "paddle-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
    container = {"volumeMounts": [{"name": "paddle-shared-memory", "mountPath": "/dev/shm"}]}
    assert Volumes({"volumes": [volume]}, tmp_path / "pod", {}, {}).mounts(container) == ()
    assert not (tmp_path / "pod").exists()


def test_a_config_map_becomes_files(tmp_path: Path) -> None:
    ((_, path),) = mounts(tmp_path, {"configMap": {"name": "files"}})
    assert {one.name: one.read_text() for one in Path(path).iterdir()} == {"a.txt": "A", "b.txt": "B"}


def test_chosen_items_get_the_names_they_are_given(tmp_path: Path) -> None:
    volume = {"configMap": {"name": "files", "items": [{"key": "a.txt", "path": "deep/one.txt"}]}}
    ((_, path),) = mounts(tmp_path, volume)
    assert [str(one.relative_to(path)) for one in Path(path).rglob("*.txt")] == ["deep/one.txt"]


def test_a_secret_becomes_files_too(tmp_path: Path) -> None:
    ((_, path),) = mounts(tmp_path, {"secret": {"secretName": "keys"}})
    assert (Path(path) / "token").read_text() == "t"


def test_a_claim_is_where_the_user_says(tmp_path: Path) -> None:
    volume = {"persistentVolumeClaim": {"claimName": "claim"}}
    assert mounts(tmp_path, volume) == (("/data", str(tmp_path / "mine")),)


@pytest.mark.parametrize("volume", [{"configMap": {"name": "none"}}, {"secret": {"secretName": "none"}}])
def test_a_config_map_or_secret_that_is_optional_may_be_missing(tmp_path: Path, volume: dict[str, Any]) -> None:
    ((_, path),) = mounts(tmp_path, {kind: {**source, "optional": True} for kind, source in volume.items()})
    assert list(Path(path).iterdir()) == []
    with pytest.raises(NotYet, match='"none" not found'):
        mounts(tmp_path, volume)


def test_a_sub_path_may_name_one_file_of_a_config_map(tmp_path: Path) -> None:
    ((at, path),) = mounts(tmp_path, {"configMap": {"name": "files"}}, at="/data/train.txt", subPath="a.txt")
    assert (at, Path(path).read_text()) == ("/data/train.txt", "A")


STRAY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a sub-path": ({"emptyDir": {}}, {"subPath": "a/../../x"}),
    "an absolute sub-path": ({"emptyDir": {}}, {"subPath": "/x"}),
    "a chosen item": ({"configMap": {"name": "files", "items": [{"key": "a.txt", "path": "../x"}]}}, {}),
    "a key": ({"configMap": {"name": "stray"}}, {}),
}


@pytest.mark.parametrize("case", STRAY)
def test_nothing_leads_out_of_its_volume(tmp_path: Path, case: str) -> None:
    volume, mount = STRAY[case]
    with pytest.raises(NotYet, match="x leads out of its volume"):
        mounts(tmp_path, volume, **mount)
    assert not list(tmp_path.rglob("x"))


def test_a_sub_path_is_a_folder_in_the_volume(tmp_path: Path) -> None:
    ((_, path),) = mounts(tmp_path, {"emptyDir": {}}, subPath="part")
    assert path.endswith("/v/part")
    assert Path(path).is_dir()


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "a claim that nobody mapped": ({"persistentVolumeClaim": {"claimName": "x"}}, "--volume v=PATH"),
    "a kind that is not here": ({"nfs": {"server": "a"}}, "volume v (nfs) is not on this machine"),
    "a config map that is not in the file": ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
}


@pytest.mark.parametrize("case", MISSING)
def test_what_is_not_there_is_told(tmp_path: Path, case: str) -> None:
    volume, said = MISSING[case]
    with pytest.raises(NotYet) as waiting:
        mounts(tmp_path, volume)
    assert said in str(waiting.value)


def test_a_mount_without_a_volume_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotYet, match="not defined"):
        Volumes({}, tmp_path, {}, MAPS).mounts({"volumeMounts": [{"name": "v", "mountPath": "/data"}]})
