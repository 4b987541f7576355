# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.device_code`: the options, libraries and headers that a compiler or a linker is given."""

from pathlib import Path

import pytest
from cuda_tools import compile_text
from device_code_fixtures import folder as folder
from device_code_fixtures import toolkit as toolkit

from warpheap import device_code
from warpheap.errors import UsageError


def test_the_options_compile_a_kernel(toolkit):
    text = "#include <warpheap/device.hpp>\n__global__ void kernel(warpheap::heap_ref<> heap) { heap.free(nullptr); }\n"
    made = compile_text(toolkit, text, *device_code.options())
    assert made.status == 0, made.log


def test_the_options_of_the_hot_part_compile_it(toolkit):
    kernel = "__global__ void kernel(warpheap::heap_ref<> heap) { heap.free(nullptr); }\n"
    text = f"#include <warpheap/device_hot.hpp>\n{kernel}"
    assert compile_text(toolkit, text, *device_code.hot_options()).status == 0
    assert compile_text(toolkit, text, *device_code.options()).status != 0


def test_each_line_names_its_files(folder):
    for line, names in device_code.LINES.items():
        assert [file.name for file in device_code.libraries(line)] == [f"warpheap_{name}.fatbin" for name in names]
    assert [file.name for file in device_code.libraries(checked=True)] == ["warpheap_device_checked.fatbin"]


def test_what_cannot_be_linked_is_refused(folder):
    with pytest.raises(UsageError, match="use one of: device, hot, whole"):
        device_code.libraries("cold")
    with pytest.raises(UsageError, match="checked heaps are linked by 'device' only"):
        device_code.libraries("hot", checked=True)


def test_what_to_build_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv(device_code.VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match="--target warpheap_device"):
        device_code.libraries()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for everything, where no toolkit and no package with headers is found."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(device_code.shutil, "which", lambda *words, **options: None)
    monkeypatch.setattr(device_code, "_namespace", lambda name: [tmp_path / name])
    return tmp_path


def headers(folder: Path) -> Path:
    for name in ("cuda/atomic", "cuda/std/cstdint", "nv/target"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_headers_of_cccl_are_found_where_they_can_be(nowhere, monkeypatch):
    assert device_code.find_cccl() is None
    monkeypatch.setattr(device_code.shutil, "which", lambda *words, **options: str(nowhere / "toolkit/bin/nvcc"))
    by_nvcc = headers(nowhere / "toolkit" / "include" / "cccl")
    assert device_code.find_cccl() == by_nvcc
    python_package = headers(nowhere / "cuda" / "cccl" / "headers" / "include")
    assert device_code.find_cccl() == python_package
    wheel = headers(nowhere / "nvidia" / "cu13" / "include" / "cccl")
    assert device_code.find_cccl() == wheel
    older = headers(nowhere / "older" / "include")
    monkeypatch.setenv("CUDA_PATH", str(nowhere / "older"))
    assert device_code.find_cccl() == older
    (older / "nv" / "target").unlink()
    assert device_code.find_cccl() == wheel
