# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the runtime compiler of the CUDA toolkit, reads every face for device code and compiles a kernel."""

import ctypes
import importlib.machinery
import importlib.util
import re
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

KERNEL = """
__global__ void kernel(warpheap::heap_ref<warpheap::bump> heap, void** block) {
  *block = heap.malloc(16);
  heap.free(*block);
}
"""


def faces() -> list[str]:
    loader = importlib.machinery.SourceFileLoader("check_device_face", str(REPOSITORY / "tools/check_device_face"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.FACES


@pytest.fixture(scope="module")
def toolkit() -> Path:
    nvcc = shutil.which("nvcc")
    root = Path(nvcc).resolve().parents[1] if nvcc else Path("/usr/local/cuda")
    if not (root / "lib64/libnvrtc.so").exists():
        pytest.skip("the CUDA toolkit with NVRTC is not installed")
    return root


def compile_text(toolkit: Path, text: str, *more: str) -> tuple[int, str]:
    """Status and messages of NVRTC for a program of this text, compiled to PTX."""
    nvrtc = ctypes.CDLL(str(toolkit / "lib64/libnvrtc.so"))
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None) == 0
    words = ["-std=c++20", "-arch=compute_90", f"-I{REPOSITORY}/include"]
    words += [f"-I{toolkit}/include", f"-I{toolkit}/include/cccl"]
    words += more
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    status = nvrtc.nvrtcCompileProgram(program, len(words), options)
    length = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(length))
    log = ctypes.create_string_buffer(length.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


def test_every_face_is_read(toolkit):
    includes = "".join(f"#include <{face}>\n" for face in faces())
    # A design that no GPU has tested yet has a face all the same.
    status, log = compile_text(toolkit, includes + KERNEL, "-DWARPHEAP_TRY_UNTESTED_DESIGNS")
    assert status == 0, log


def test_a_host_function_is_refused(toolkit):
    status, log = compile_text(toolkit, "inline int on_the_host() { return 1; }\n")
    assert status != 0
    assert "host functions are not allowed" in log


def test_a_design_that_no_gpu_has_tested_is_refused(toolkit):
    registry = (REPOSITORY / "include/warpheap/designs/registry.def").read_text(encoding="utf-8")
    headers = sorted(set(re.findall(r"^WARPHEAP_HOST_DESIGN\(\w+, (\S+)\)$", registry, re.MULTILINE)))
    guard = "#include <warpheap/designs/untested_on_gpu.hpp>"
    for header in headers:
        assert guard in (REPOSITORY / "include/warpheap/designs" / header).read_text(encoding="utf-8"), header
    status, log = compile_text(toolkit, f"{guard}\n")
    assert status != 0
    assert "no GPU has passed the tests of this design" in log
