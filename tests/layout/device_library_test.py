# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The device library: kernels of any language link with it, and the hot part of the default design with the cold."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from cuda_tools import REPOSITORY, Compiled, compile_text, device_library, find_toolkit, link

sys.path.insert(0, str(REPOSITORY / "python"))
from warpheap.cases.registers.cubin import Kernel, read_cubin

HEADER = REPOSITORY / "include/warpheap/heap/device_library.h"

BY_HANDLE = """
#include <warpheap/device_hot.hpp>
extern "C" __global__ void kernel(const warpheap::heap_ref<>* heap, void** blocks) {
  void* block = heap->malloc(threadIdx.x * 8);
  heap->free(blocks[threadIdx.x]);
  blocks[threadIdx.x] = heap->aligned_malloc(64, threadIdx.x);
  heap->free(block);
}
"""
BY_SHIM = """
extern "C" __device__ void* wh_malloc(unsigned long long, unsigned long long);
extern "C" __device__ void wh_free(unsigned long long, void*);
extern "C" __global__ void kernel(unsigned long long heap, void** blocks) {
  void* block = wh_malloc(heap, threadIdx.x * 8);
  wh_free(heap, blocks[threadIdx.x]);
  blocks[threadIdx.x] = block;
}
"""
# What the cut leaves to the cold part.
EXTERNALS = {
    "_ZNK8warpheap9warp_slab14take_elsewhereEjjNS_10slab_claimEPv",
    "_ZNK8warpheap9warp_slab17take_without_slabEj",
    "_ZNK8warpheap9warp_slab10malloc_runEyy",
    "_ZN8warpheap6detail10slab_hints7show_ofES1_jj",
    "_ZN8warpheap9warp_slab11free_run_ofES0_jj",
}


@pytest.fixture(scope="module")
def toolkit() -> Path:
    return find_toolkit("nvrtc", "nvJitLink")


@pytest.fixture(scope="module")
def library(toolkit) -> dict[str, bytes]:
    """The files of the library for compute capability 9.0, by name."""
    files = device_library(toolkit).glob("warpheap_*.fatbin")
    return {file.stem.removeprefix("warpheap_"): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def hot(toolkit) -> Compiled:
    made = compile_text(toolkit, BY_HANDLE, "-rdc=true", kind="CUBIN")
    assert made.status == 0, made.log
    return made


def undefined_functions(code: bytes, folder: Path) -> set[str]:
    """The functions that a cubin calls and does not have."""
    file = folder / "code.cubin"
    file.write_bytes(code)
    shown = subprocess.run(["readelf", "--wide", "--symbols", file], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in shown.splitlines()]
    return {row[7] for row in rows if len(row) == 8 and row[3] == "FUNC" and row[6] == "UND"}


def kernels(code: bytes, folder: Path) -> dict[str, Kernel]:
    file = folder / "linked.cubin"
    file.write_bytes(code)
    return read_cubin(file)


def fatbins(library: dict[str, bytes], *names: str) -> list[tuple[str, bytes]]:
    return [("FATBIN", library[name]) for name in names]


def test_the_hot_part_calls_the_cold_part_and_nothing_else(hot, tmp_path):
    assert undefined_functions(hot.code, tmp_path) == EXTERNALS


def test_the_hot_part_compiles_within_six_seconds(hot):
    assert hot.seconds <= 6.0


def test_the_hot_part_is_refused_where_nothing_can_be_linked(toolkit):
    made = compile_text(toolkit, BY_HANDLE)
    assert made.status != 0
    assert "compile with -rdc=true" in made.log


def test_the_hot_part_links_with_the_cold_part(toolkit, library, hot, tmp_path):
    linked = link(toolkit, ("CUBIN", hot.code), *fatbins(library, "cold"))
    assert linked.status == 0, linked.log
    assert kernels(linked.code, tmp_path)["kernel"].registers <= 40


def test_the_hot_part_does_not_link_alone(toolkit, hot):
    linked = link(toolkit, ("CUBIN", hot.code))
    assert linked.status != 0
    for name in EXTERNALS:
        assert name in linked.log


@pytest.mark.parametrize("names", [("device",), ("device_checked",), ("hot", "cold"), ("whole",)])
def test_a_kernel_links_with_each_line_of_the_library(toolkit, library, tmp_path, names):
    by_code = names[0].startswith("device")
    user = compile_text(
        toolkit, BY_SHIM, "-rdc=true", *([] if by_code else ["-dlto"]), kind="PTX" if by_code else "LTOIR"
    )
    assert user.status == 0, user.log
    part = ("PTX" if by_code else "LTOIR", user.code)
    linked = link(toolkit, part, *fatbins(library, *names), options=() if by_code else ("-lto", "-maxrregcount=40"))
    assert linked.status == 0, linked.log
    assert kernels(linked.code, tmp_path)["kernel"].registers <= 40


def test_two_lines_of_the_library_do_not_link_together(toolkit, library, tmp_path):
    files = [tmp_path / name for name in ("device.fatbin", "device_checked.fatbin")]
    for file in files:
        file.write_bytes(library[file.stem])
    # nvJitLink 13.0 crashes here.
    command = [toolkit / "bin/nvlink", "--arch=sm_90", *files, "-o", tmp_path / "linked.cubin"]
    linked = subprocess.run(command, capture_output=True, text=True)
    assert linked.returncode != 0
    assert "wh_malloc" in linked.stdout + linked.stderr


@pytest.mark.parametrize("name", ["device", "device_checked"])
def test_the_library_has_what_its_header_declares(toolkit, library, tmp_path, name):
    text = HEADER.read_text(encoding="utf-8")
    functions = re.findall(r"^__device__ .*?(\w+)\(", text, re.MULTILINE)
    entries = re.findall(r"^__global__ .*?(\w+)\(", text, re.MULTILINE)
    assert len(functions) == 10
    uses = "".join(f"  *place++ = reinterpret_cast<void*>(&{function});\n" for function in functions)
    user = f"#include <{HEADER.relative_to(REPOSITORY / 'include')}>\n__global__ void all(void** place) {{\n{uses}}}\n"
    made = compile_text(toolkit, user, "-rdc=true")
    assert made.status == 0, made.log
    linked = link(toolkit, ("PTX", made.code), *fatbins(library, name))
    assert linked.status == 0, linked.log
    found = kernels(linked.code, tmp_path)
    assert set(entries) < set(found)
    assert set(functions) < set(found)
    assert max(each.registers for each in found.values()) <= 32
    assert entries == ["wh_batch_malloc", "wh_batch_free"]
