# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of cuda.core and of CuPy with a heap: they link, and take heaps by their handles; no GPU is needed."""

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from device_code_fixtures import folder as folder
from device_code_fixtures import kernels
from device_code_fixtures import toolkit as toolkit

from warpheap import device_code
from warpheap.errors import UsageError

BY_SHIM = """
#include <warpheap/heap/device_library.h>
extern "C" __global__ void kernel(const wh_device_heap* heap, void** blocks) {
  wh_free(heap, blocks[threadIdx.x]);
  blocks[threadIdx.x] = wh_malloc(heap, threadIdx.x);
}
"""
HOT = """
#include <warpheap/device_hot.hpp>
extern "C" __global__ void kernel(const warpheap::heap_ref<>* heap, void** blocks) {
  heap->free(blocks[threadIdx.x]);
  blocks[threadIdx.x] = heap->malloc(threadIdx.x);
}
"""


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip where a package is not installed, and say which."""
    missing = [name for name in packages if importlib.util.find_spec(name.split(".")[0]) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@needs("cuda.core")
@pytest.mark.parametrize(
    ("source", "line", "checked"),
    [
        (BY_SHIM, "device", False),
        (BY_SHIM, "hot", False),
        (BY_SHIM, "whole", False),
        (BY_SHIM, "device", True),
        (HOT, "hot", False),
    ],
)
def test_a_source_for_cuda_core_links(folder, tmp_path, source, line, checked):
    pytest.importorskip("cuda.core", reason="cuda-core is not installed")
    import warpheap.cuda_core

    linked = warpheap.cuda_core.link(source, capability=(9, 0), line=line, checked=checked)
    assert kernels(bytes(linked.code), tmp_path)["kernel"].registers <= 40


def test_what_cannot_be_right_of_a_link_is_said(monkeypatch):
    import warpheap.cuda_core

    def none() -> None:
        raise RuntimeError("there is no driver")

    monkeypatch.setitem(sys.modules, "cuda.core", SimpleNamespace(Device=none))
    with pytest.raises(UsageError, match=r"no GPU answers \(there is no driver\): name the capability to link for"):
        warpheap.cuda_core.link("")
    for wrong in (9, "90", (9,), (9, 0, 0), (9.0, 0)):
        with pytest.raises(TypeError, match="it is two numbers, such as"):
            warpheap.cuda_core.link("", capability=wrong)
    with pytest.raises(TypeError, match=r"more is '/usr': it is a tuple of folders, such as \('/usr',\)"):
        warpheap.cuda_core.link("", capability=(9, 0), more="/usr")


def test_a_missing_package_gets_one_clear_line(monkeypatch):
    import warpheap.cuda_core
    import warpheap.cupy

    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(UsageError, match="pip install 'cuda-core"):
        warpheap.cuda_core.link("", capability=(9, 0))
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(UsageError, match="pip install cupy"):
        warpheap.cupy.linked_module("")


def test_headers_that_are_not_there_are_named(folder, monkeypatch):
    import warpheap.cuda_core

    monkeypatch.setitem(sys.modules, "cuda.core", SimpleNamespace())
    monkeypatch.setattr(device_code, "find_cccl", lambda: None)
    with pytest.raises(UsageError, match="CUDA_HOME"):
        warpheap.cuda_core.link(HOT, capability=(9, 0), line="hot")


def test_a_launch_hands_heaps_over_as_their_handles(monkeypatch):
    import warpheap.cuda_core

    class FakeHeap:
        backend, device, handle = "cuda", 0, 4096

    launched: list[tuple[Any, ...]] = []
    monkeypatch.setitem(sys.modules, "cuda.core", SimpleNamespace(launch=lambda *words: launched.append(words)))
    monkeypatch.setattr(warpheap.cuda_core.kernels, "Heap", FakeHeap)
    stream = SimpleNamespace(device=SimpleNamespace(device_id=0))
    warpheap.cuda_core.launch(stream, "config", "kernel", FakeHeap(), 7)
    assert launched == [(stream, "config", "kernel", 4096, 7)]
    stream.device.device_id = 1
    with pytest.raises(ValueError, match=r"GPU 0, .* GPU 1"):
        warpheap.cuda_core.launch(stream, "config", "kernel", FakeHeap())
    FakeHeap.backend = "host"
    with pytest.raises(ValueError, match="backend='cuda'"):
        warpheap.cuda_core.launch(stream, "config", "kernel", FakeHeap())
    assert len(launched) == 1
