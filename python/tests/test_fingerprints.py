# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fingerprints are those of cmake/fingerprint.cmake, and tell one state of the sources from another."""

import shutil
import subprocess
from pathlib import Path

import pytest

from warpheap.fingerprints import SCOPES, fingerprint

REPOSITORY = Path(__file__).parents[2]


def small_tree(folder: Path) -> Path:
    """Sources with names that order by letters, capitals and depth."""
    for name in ("include/b.hpp", "include/B/a.hpp", "include/b_.hpp", "src/device/x.cu", "src/y.cpp", "benchmarks/z"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")
    (folder / "cmake").mkdir()
    shutil.copy(REPOSITORY / "cmake" / "fingerprint.cmake", folder / "cmake")
    return folder


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
@pytest.mark.parametrize("scope", SCOPES)
def test_they_are_those_of_cmake(tmp_path: Path, scope: str) -> None:
    for root in (REPOSITORY, small_tree(tmp_path)):
        command = ["cmake", "-D", f"SCOPE={scope}", "-P", root / "cmake" / "fingerprint.cmake"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert fingerprint(root, scope) == shown.strip()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_writes_that_of_the_device_library_into_a_file(tmp_path: Path) -> None:
    root, file = small_tree(tmp_path), tmp_path / "made" / "library.fingerprint"
    words = ["-DSCOPE=device", f"-DOUTPUT={file}", "-P", root / "cmake" / "fingerprint.cmake"]
    subprocess.run(["cmake", *words], check=True, capture_output=True)
    assert file.read_text(encoding="ascii") == fingerprint(root, "device") + "\n"


def test_a_scope_sees_its_own_files_alone(tmp_path: Path) -> None:
    root = small_tree(tmp_path)
    before = {scope: fingerprint(root, scope) for scope in SCOPES}
    (root / "src" / "y.cpp").write_text("other", encoding="utf-8")
    assert fingerprint(root, "device") == before["device"]
    assert fingerprint(root, "sources") != before["sources"]
    (root / "include" / "b.hpp").rename(root / "include" / "c.hpp")
    assert fingerprint(root, "device") != before["device"]
