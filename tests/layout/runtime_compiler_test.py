# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the runtime compiler of the CUDA toolkit, reads every face for device code and compiles a kernel."""

import importlib.machinery
import importlib.util
import re
from pathlib import Path

import pytest
from cuda_tools import REPOSITORY, compile_text, find_toolkit

# A template is compiled only where it is used, so a kernel uses each.
KERNEL = """
extern "C" __global__ void NAME_kernel(warpheap::heap_ref<warpheap::NAME> heap, void** block) {
  *block = heap.malloc(16);
  heap.free(*block);
}
"""
# It has no face: the toolkit's own malloc needs no header.
WITHOUT_FACE = {"cuda_malloc/cuda_malloc.hpp"}


def families() -> dict[str, list[str]]:
    """The designs of each header of the registry, the first and the last of them."""
    registry = (REPOSITORY / "include/warpheap/designs/registry.def").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for design, header in re.findall(r"^WARPHEAP_\w*DESIGN\((\w+), (\S+)\)$", registry, re.MULTILINE):
        found.setdefault(header, []).append(design)
    assert len(found) > 10
    return {header: sorted({names[0], names[-1]}) for header, names in found.items() if header not in WITHOUT_FACE}


def faces() -> list[str]:
    loader = importlib.machinery.SourceFileLoader("check_device_face", str(REPOSITORY / "tools/check_device_face"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.FACES


@pytest.fixture(scope="module")
def toolkit() -> Path:
    return find_toolkit("nvrtc")


def test_every_face_is_read(toolkit):
    includes = "".join(f"#include <{face}>\n" for face in faces())
    # A design that no GPU has tested yet has a face all the same.
    made = compile_text(toolkit, includes + KERNEL.replace("NAME", "bump"), "-DWARPHEAP_TRY_UNTESTED_DESIGNS")
    assert made.status == 0, made.log


@pytest.mark.parametrize("header", families())
def test_a_kernel_of_each_family_compiles(toolkit, header):
    kernels = "".join(KERNEL.replace("NAME", design) for design in families()[header])
    text = f"#include <warpheap/designs/{header}>\n#include <warpheap/heap/device.hpp>\n{kernels}"
    made = compile_text(toolkit, text, "-DWARPHEAP_TRY_UNTESTED_DESIGNS")
    assert made.status == 0, made.log


def test_a_host_function_is_refused(toolkit):
    made = compile_text(toolkit, "inline int on_the_host() { return 1; }\n")
    assert made.status != 0
    assert "host functions are not allowed" in made.log


def test_a_design_that_no_gpu_has_tested_is_refused(toolkit):
    registry = (REPOSITORY / "include/warpheap/designs/registry.def").read_text(encoding="utf-8")
    headers = sorted(set(re.findall(r"^WARPHEAP_HOST_DESIGN\(\w+, (\S+)\)$", registry, re.MULTILINE)))
    guard = "#include <warpheap/designs/untested_on_gpu.hpp>"
    for header in headers:
        assert guard in (REPOSITORY / "include/warpheap/designs" / header).read_text(encoding="utf-8"), header
    made = compile_text(toolkit, f"{guard}\n")
    assert made.status != 0
    assert "no GPU has passed the tests of this design" in made.log
