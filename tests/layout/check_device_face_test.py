# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_device_face: faces without host headers pass, and a host header is found where it is included."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TOOL = REPOSITORY / "tools/check_device_face"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("check_device_face", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """Writes a tree whose faces all include one header `parts.hpp` with this body."""

    def write(body: str) -> Path:
        parts = tmp_path / "include/warpheap/parts.hpp"
        parts.parent.mkdir(parents=True)
        parts.write_text(body)
        for face in load_tool().FACES:
            file = tmp_path / "include" / face
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#include <warpheap/parts.hpp>\n")
        return tmp_path

    return write


def run_check(root: Path) -> tuple[int, list[str]]:
    check = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
    assert check.stderr == ""
    return check.returncode, check.stdout.splitlines()


def test_faces_of_device_headers_pass(tree):
    status, lines = run_check(tree("#include <cstdint>\n#include <type_traits>\n"))
    assert (status, len(lines)) == (0, 1), lines


@pytest.mark.parametrize("header", ["string", "vector", "chrono", "mutex", "cerrno", "unistd.h", "sys/mman.h"])
def test_a_host_header_is_found(tree, header):
    status, lines = run_check(tree(f"#include <cstdint>\n#include <{header}>\n"))
    assert status == 1
    assert all(line.startswith("include/warpheap/parts.hpp:2: ") and f"<{header}>" in line for line in lines), lines
    for face in load_tool().FACES:
        assert any(f"<{face}>" in line for line in lines), face


def test_a_header_that_another_target_reads_is_not_judged(tree):
    status, lines = run_check(tree("#if defined(NO_COMPILER_DEFINES_THIS)\n#include <warpheap/absent.hpp>\n#endif\n"))
    assert status == 0, lines


def test_a_face_that_does_not_compile_is_found(tree):
    status, lines = run_check(tree("#include <warpheap/absent.hpp>\n"))
    assert status == 1
    assert all("cannot be read" in line and "absent.hpp" in line for line in lines), lines


def test_a_face_that_is_missing_is_found(tmp_path):
    (tmp_path / "include/warpheap").mkdir(parents=True)
    status, lines = run_check(tmp_path)
    assert status == 1
    assert any(load_tool().FACES[0] in line and "cannot be read" in line for line in lines), lines


def test_a_folder_that_is_no_repository_is_refused(tmp_path):
    check = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True)
    assert check.returncode == 2
    assert "give the root" in check.stderr
