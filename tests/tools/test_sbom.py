"""What a list of contents says of the system below Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import sbom

STATUS = """Package: libssl3
Status: install ok installed
Architecture: amd64
Version: 3.0.15-1~deb12u1
Description: a library
 Package: not a package

Package: removed
Status: deinstall ok config-files
Version: 1.0

Package: tzdata
Status: install ok installed
Architecture: all
Version: 1:2024b+x
"""


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sbom, "DPKG", tmp_path)
    monkeypatch.setattr(sbom, "RELEASE", tmp_path / "os-release")
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    return tmp_path


def test_debian_packages_that_are_installed_are_listed(debian: Path) -> None:
    (debian / "status").write_text(STATUS)
    found = {one["name"]: one["purl"] for one in sbom.debian_packages()}
    assert found == {
        "libssl3": "pkg:deb/debian/libssl3@3.0.15-1~deb12u1?arch=amd64&distro=debian-12",
        "tzdata": "pkg:deb/debian/tzdata@1%3A2024b%2Bx?arch=all&distro=debian-12",
    }


def test_images_without_dpkg_keep_a_file_for_each_package(debian: Path) -> None:
    (debian / "status.d").mkdir()
    (debian / "status.d" / "base-files").write_text("Package: base-files\nVersion: 12.4\nArchitecture: amd64\n")
    assert [one["name"] for one in sbom.debian_packages()] == ["base-files"]


def test_there_may_be_no_debian_below(debian: Path) -> None:
    assert not list(sbom.debian_packages()), debian


def test_the_same_moment_gives_the_same_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first = sbom.bom()
    assert first == sbom.bom()
    assert first["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
