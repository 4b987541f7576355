# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python: they compile where there is no GPU, say so, and are right where there is one."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cuda_tools import REPOSITORY, device_library, find_toolkit

sys.path.insert(0, str(REPOSITORY / "python"))
from warpheap.cases.registers.cubin import read_cubin
from warpheap.device_code import VARIABLE

NEEDS = {
    "numba_arrays": ("numba.cuda.cudadrv.linkable_code",),
    "cuda_core_heap": ("cuda.core",),
    "jax_heap": ("jax",),
    "warp_heap": ("warp",),
}
NO_GPU = 77


def run(name: str, *words: str, folder: Path) -> subprocess.CompletedProcess:
    """Runs an example with the device library in a folder."""
    for package in NEEDS[name]:
        try:
            found = importlib.util.find_spec(package)
        except ImportError:
            found = None
        if found is None:
            pytest.skip(f"not installed: {package}")
    kept = {"PYTHONPATH": str(REPOSITORY / "python"), VARIABLE: str(folder)}
    command = [sys.executable, REPOSITORY / "examples" / "python" / f"{name}.py", *words]
    return subprocess.run(command, env=os.environ | kept, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def folder() -> Path:
    return device_library(find_toolkit("nvJitLink"))


@pytest.mark.parametrize("name", NEEDS)
def test_it_is_right_on_a_gpu_and_says_so_without_one(name, folder):
    shown = run(name, folder=folder)
    if shown.returncode == NO_GPU:
        assert f"{name}: no GPU answers" in shown.stdout
    else:
        assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.parametrize("line", ["device", "hot", "whole"])
def test_kernels_of_cuda_core_are_linked(folder, tmp_path, line):
    shown = run("cuda_core_heap", "--line", line, "--compile", str(tmp_path), folder=folder)
    assert shown.returncode == 0, shown.stderr
    assert {"make_rows", "add_and_free"} <= set(read_cubin(tmp_path / "cuda_core_heap.cubin"))


def test_kernels_of_warp_are_linked(folder, tmp_path):
    shown = run("warp_heap", "--compile", str(tmp_path), folder=folder)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    (cubin,) = tmp_path.glob("*.cubin")
    kernels = read_cubin(cubin)
    for name in ("make_rows", "add_and_free"):
        found = [kernel for own, kernel in kernels.items() if name in own]
        assert found, f"{name} is not among {', '.join(kernels)}"
        assert max(kernel.registers for kernel in found) <= 48


def test_the_library_for_jax_is_built_and_made_known(folder, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    shown = run("jax_heap", "--compile", str(tmp_path), folder=folder)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    symbols = subprocess.run(["nm", "-D", tmp_path / "libjax_heap.so"], check=True, capture_output=True, text=True)
    for name in ("warpheap_malloc", "warpheap_free"):
        assert f" T {name}" in symbols.stdout
