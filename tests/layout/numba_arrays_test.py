# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that Numba makes itself in a kernel, with their memory from a heap that the host names."""

import contextlib
import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cuda_tools import compile_text, link
from device_code_fixtures import folder as folder
from device_code_fixtures import numba as numba
from device_code_fixtures import toolkit as toolkit

from warpheap import device_code
from warpheap.errors import UsageError


def test_arrays_of_numba_take_their_memory_by_malloc_of_warpheap(toolkit, folder, numba, monkeypatch, tmp_path):
    import numpy as np
    from numba import cuda
    from numba.cuda import config, types
    from numba.cuda.memory_management import nrt

    monkeypatch.setattr(config, "CUDA_ENABLE_NRT", True)

    def sums_of_rows(sums):
        i = cuda.grid(1)
        row = np.empty(i % 7 + 1, np.float32)
        for k in range(row.size):
            row[k] = i + k
        sums[i] = row[0] + row[row.size - 1]

    ptx, _ = cuda.compile(
        sums_of_rows, types.void(types.float32[::1]), cc=(9, 0), device=False, abi="numba", output="ptx"
    )
    assert "NRT_MemInfo_alloc_aligned" in ptx
    runtime = compile_text(toolkit, nrt.NRT_LIBRARY.data, f"-I{nrt.get_include()}", "-rdc=true")
    assert runtime.status == 0, runtime.log
    parts = [("PTX", ptx.encode()), ("PTX", runtime.code)]
    own = [("FATBIN", code.data) for code in (*numba._code(False, "device"), numba._malloc_of_arrays())]
    for more, is_defined in (([], False), (own, True)):
        linked = link(toolkit, *parts, *more)
        assert linked.status == 0, linked.log
        assert [bool(defined(linked.code, name, tmp_path)) for name in ("malloc", "free")] == [is_defined] * 2
    assert defined(linked.code, "wh_default_heap", tmp_path)


def defined(code: bytes, name: str, tmp_path: Path) -> bool:
    """True if a cubin defines a symbol; false if it leaves that to the driver."""
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    file = tmp_path / "symbols.cubin"
    file.write_bytes(code)
    shown = subprocess.run(["readelf", "-sW", file], check=True, capture_output=True, text=True).stdout
    rows = re.findall(rf"(?:FUNC|OBJECT) +GLOBAL +\S+ +(?:\[[^]]*\] +)?(\S+) {name}$", shown, re.MULTILINE)
    assert rows, f"nothing names {name}"
    return "UND" not in rows


class FakeDriver:
    """The calls of the CUDA driver that name a heap, with a word of memory for each module."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.status = 0
        self.refused: set[int] = set()  # words that cannot be written
        self.current = 0  # the GPU
        self.awaited: list[int] = []  # GPUs

    @staticmethod
    def CUlibrary(handle: int) -> int:
        return handle

    def cuLibraryGetGlobal(self, library: int, name: bytes) -> tuple[int, int, int]:
        assert name == b"wh_default_heap"
        self.words.setdefault(library, -1)
        return self.status, library, 8

    def cuMemcpyHtoD(self, place: int, source: int, size: int) -> tuple[int]:
        assert size == 8
        if place in self.refused:
            return (700,)
        self.words[place] = ctypes.c_uint64.from_address(source).value
        return (self.status,)

    @contextlib.contextmanager
    def on(self, device: int) -> Iterator[None]:
        """Make a GPU current, as `numba.cuda.gpus[device]` does."""
        before, self.current = self.current, device
        yield
        self.current = before

    def synchronize(self) -> None:
        self.awaited.append(self.current)


class Gpus:
    """`numba.cuda.gpus`."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    def __getitem__(self, device: int) -> contextlib.AbstractContextManager[None]:
        return self.driver.on(device)


@pytest.fixture
def driver(numba: Any, monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    made = FakeDriver()
    monkeypatch.setattr(numba, "driver", made)
    monkeypatch.setattr(numba, "_slots", numba._Slots())
    monkeypatch.setattr(numba.cuda, "synchronize", made.synchronize)
    monkeypatch.setattr(numba.cuda, "gpus", Gpus(made))
    monkeypatch.setattr(numba.cuda, "get_current_device", lambda: SimpleNamespace(id=made.current))
    return made


def heap_at(handle: int, **others: Any) -> Any:
    kept = {"backend": "cuda", "device": 0, "design": "warp_slab", "checked": False, "closed": False}
    return SimpleNamespace(handle=handle, **(kept | others))


def test_each_module_takes_the_heap_that_is_named(numba, driver):
    first, second = (
        SimpleNamespace(handle=100),
        SimpleNamespace(handle=SimpleNamespace(handle=200)),
    )
    numba._slots.loaded(first)
    assert driver.words == {100: 0}
    with numba.arrays_from(heap_at(4096)):
        assert driver.words == {100: 4096}
        numba._slots.loaded(second)
        assert driver.words == {100: 4096, 200: 4096}
        with numba.arrays_from(heap_at(8192)):
            assert driver.words == {100: 8192, 200: 8192}
            numba._slots.unloaded(first)
        assert driver.words == {100: 8192, 200: 4096}
    assert driver.words[200] == 0


def test_modules_of_another_gpu_keep_their_heap(numba, driver):
    numba._slots.loaded(SimpleNamespace(handle=100))
    with numba.arrays_from(heap_at(4096)), driver.on(1):
        numba._slots.loaded(SimpleNamespace(handle=200))
        with numba.arrays_from(heap_at(8192, device=1)):
            assert driver.words == {100: 4096, 200: 8192}
        assert driver.words == {100: 4096, 200: 0}


def test_the_end_is_on_the_gpu_of_the_begin(numba, driver):
    numba._slots.loaded(SimpleNamespace(handle=100))
    with numba.arrays_from(heap_at(4096)):
        driver.current = 1
    assert (driver.awaited, driver.current, driver.words) == ([0], 1, {100: 0})


def test_a_heap_that_cannot_be_named_everywhere_is_named_nowhere(numba, driver):
    for handle in (100, 200, 300):
        numba._slots.loaded(SimpleNamespace(handle=handle))
    with numba.arrays_from(heap_at(4096)):
        driver.refused = {200}
        with (
            pytest.raises(numba.HeapError, match="700"),
            numba.arrays_from(heap_at(8192)),
        ):
            raise AssertionError("the block of the with does not begin")
        assert driver.words == {100: 4096, 200: 4096, 300: 4096}
        driver.refused = set()
        numba._slots.loaded(SimpleNamespace(handle=400))
        assert driver.words[400] == 4096
    assert set(driver.words.values()) == {0}


def test_a_module_that_cannot_take_its_heap_is_not_known(numba, driver):
    driver.refused = {100}
    with pytest.raises(numba.HeapError, match="700"):
        numba._slots.loaded(SimpleNamespace(handle=100))
    with numba.arrays_from(heap_at(4096)):
        assert driver.words == {100: -1}


def test_a_fault_of_a_kernel_is_told_and_the_heap_forgotten(numba, driver, monkeypatch):
    def fault() -> None:
        driver.refused = {100}
        raise RuntimeError("an illegal address")

    numba._slots.loaded(SimpleNamespace(handle=100))
    monkeypatch.setattr(numba.cuda, "synchronize", fault)
    with (
        pytest.raises(RuntimeError, match="an illegal address"),
        numba.arrays_from(heap_at(4096)),
    ):
        pass
    numba._slots.loaded(SimpleNamespace(handle=200))
    assert driver.words[200] == 0


def test_threads_end_in_any_order(numba, driver):
    numba._slots.loaded(SimpleNamespace(handle=100))
    first, second = numba.arrays_from(heap_at(4096)), numba.arrays_from(heap_at(8192))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert driver.words == {100: 8192}
    second.__exit__(None, None, None)
    assert driver.words == {100: 0}


def test_a_heap_that_was_closed_is_not_named(numba, driver):
    heap = heap_at(4096)
    with numba.arrays_from(heap):
        heap.closed = True
        numba._slots.loaded(SimpleNamespace(handle=100))
        assert driver.words == {100: 0}


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"checked": True}, "is checked"),
        ({"design": "bulk"}, "'bulk'"),
        ({"device": 1}, "GPU 1, "),
        ({"backend": "host"}, "backend='cuda'"),
    ],
)
def test_a_heap_that_cannot_serve_arrays_is_refused(numba, driver, others, text):
    numba._slots.loaded(SimpleNamespace(handle=100))
    with (
        pytest.raises(ValueError, match=text),
        numba.arrays_from(heap_at(4096, **others)),
    ):
        pass
    assert driver.words == {100: 0}


def test_a_refusal_of_the_driver_is_told(numba, driver):
    driver.status = 201
    with pytest.raises(numba.HeapError, match="201"):
        numba._slots.loaded(SimpleNamespace(handle=100))


def test_a_kernel_with_arrays_is_linked_with_malloc(numba, driver, monkeypatch):
    from numba.cuda import config

    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(numba.cuda, "jit", lambda **options: asked.append(options) or (lambda function: function))
    monkeypatch.setattr(config, "CUDA_ENABLE_NRT", False)
    numba.jit(lambda: None)
    assert not config.CUDA_ENABLE_NRT
    numba.jit(arrays=True, link=["own.cu"])(lambda: None)
    assert config.CUDA_ENABLE_NRT
    first, *others = asked[-1]["link"]
    assert first == "own.cu"
    assert [code.name for code in others] == ["warpheap_device.fatbin", "warpheap_malloc.fatbin"]
    assert others[0] is numba._code(False, "device")[0]
    assert "link" not in asked[0]
    numba.jit(arrays=True, link=None, extensions=None)(lambda: None)
    assert (len(asked[-1]["link"]), asked[-1]["extensions"]) == (2, numba.extensions)


def test_a_kernel_that_cannot_be_linked_leaves_the_runtime_off(numba, monkeypatch, tmp_path):
    from numba.cuda import config

    monkeypatch.setattr(config, "CUDA_ENABLE_NRT", False)
    monkeypatch.setenv(device_code.VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match="--target warpheap_device"):
        numba.jit(arrays=True)(lambda: None)
    assert not config.CUDA_ENABLE_NRT


def test_types_in_place_of_a_function_are_refused(numba):
    with pytest.raises(TypeError, match="it takes the kernel's function"):
        numba.jit("void(int64)")
