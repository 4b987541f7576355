# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Numba and of CuPy with a heap: they compile and link, which needs no GPU."""

import contextlib
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cuda_tools import REPOSITORY, compile_text, device_library, find_toolkit, link

sys.path.insert(0, str(REPOSITORY / "python"))
from warpheap import device_code
from warpheap.cases.registers.cubin import read_cubin
from warpheap.errors import UsageError

BY_SHIM = """
#include <warpheap/heap/device_library.h>
extern "C" __global__ void kernel(const wh_device_heap* heap, void** blocks) {
  wh_free(heap, blocks[threadIdx.x]);
  blocks[threadIdx.x] = wh_malloc(heap, threadIdx.x);
}
"""


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip where a package is not installed, and say which."""
    missing = [name for name in packages if importlib.util.find_spec(name.split(".")[0]) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@pytest.fixture(scope="module")
def toolkit() -> Path:
    return find_toolkit("nvrtc", "nvJitLink")


@pytest.fixture
def folder(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the device library, where the package looks for it."""
    made = device_library(toolkit)
    monkeypatch.setenv(device_code.VARIABLE, str(made))
    return made


def kernels(code: bytes, tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "linked.cubin"
    file.write_bytes(code)
    return read_cubin(file)


# --- Where everything is ----------------------------------------------------------------------------------------------


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


# --- Numba ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def numba(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`warpheap.numba`, for a GPU that it believes to be there."""
    pytest.importorskip("numba.cuda.cudadrv.linkable_code", reason="numba-cuda is not installed")
    from numba.cuda import compiler, dispatcher

    device = SimpleNamespace(compute_capability=(9, 0), id=0)
    for module in (compiler, dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: device)
    import warpheap.numba

    monkeypatch.setattr(warpheap.numba.cuda, "get_current_device", lambda: device)
    for kept in (warpheap.numba._functions, warpheap.numba._code, warpheap.numba._malloc_of_arrays):
        kept.cache_clear()
    return warpheap.numba


def compiled(numba: Any, function: Any, *types: Any, checked: bool = False) -> bytes:
    from numba import cuda
    from numba.cuda import types as t

    signature = t.void(numba.HeapType(checked), *types)
    ptx, _ = cuda.compile(function, signature, cc=(9, 0), device=False, abi="numba", output="ptx")
    return ptx.encode()


@pytest.mark.parametrize("checked", [False, True])
def test_a_kernel_of_numba_links(toolkit, folder, numba, tmp_path, checked):
    import numpy as np
    from numba import cuda
    from numba.cuda import types

    def rows(heap, sums, count):
        i = cuda.grid(1)
        if i < count:
            row = heap.empty(i % 7 + 1, np.float32)
            for k in range(row.size):
                row[k] = i + k
            total = np.float32(0)
            for k in range(row.size):
                total += row[k]
            sums[i] = total
            heap.free(row)
            heap.free(heap.malloc(i))
            heap.free(heap.aligned_malloc(64, 100))

    ptx = compiled(numba, rows, types.float32[::1], types.int64, checked=checked)
    alone = link(toolkit, ("PTX", ptx))
    assert alone.status != 0
    for name in ("whn_malloc", "whn_aligned_malloc", "whn_free"):
        assert name in alone.log
    files = device_code.libraries(checked=checked)
    linked = link(toolkit, ("PTX", ptx), *(("FATBIN", file.read_bytes()) for file in files))
    assert linked.status == 0, linked.log
    found = [kernel for name, kernel in kernels(linked.code, tmp_path).items() if "rows" in name]
    assert found
    assert max(kernel.registers for kernel in found) <= 40


def test_a_length_of_any_integer_type_compiles(numba):
    import numpy as np
    from numba import cuda
    from numba.cuda import types

    def rows(heap, lengths):
        row = heap.empty(lengths[cuda.grid(1)], np.float64)
        row[0] = 1
        heap.free(row)

    for kind in (types.uint64, types.int64, types.uint32, types.int8):
        assert b"whn_malloc" in compiled(numba, rows, kind[::1])


@pytest.mark.parametrize(
    ("count", "asked"),
    [(3, 24), (0, 0), (-1, None), (2**60 - 1, 2**63 - 8), (2**60, None), (2**61, None), (2**61 + 1, None)],
)
def test_bytes_of_an_array_do_not_wrap_around(numba, monkeypatch, count, asked):
    import numpy as np
    from numba.cuda import types

    taken: list[int] = []
    malloc = {"malloc": lambda heap, bytes: taken.append(int(bytes)) or np.uint64(4096)}
    monkeypatch.setattr(numba, "_functions", lambda *words: malloc)
    for name in ("_handle", "_pointer"):
        monkeypatch.setattr(numba, name, lambda value: value)
    monkeypatch.setattr(numba, "carray", lambda block, shape, dtype: shape)
    empty = numba._empty(numba.HeapType(False), types.int64, types.NumberClass(types.float64))
    assert empty(100, count, np.float64) == (count if asked is not None else 0,)
    assert taken == [asked] * (asked is not None)


def test_what_is_no_type_of_elements_is_named(numba):
    from numba.cuda import types

    def rows(heap, count):
        heap.free(heap.empty(count, 5))

    with pytest.raises(Exception, match=r"a type of elements such as np\.float32, and was given Literal"):
        compiled(numba, rows, types.int64)


@pytest.mark.parametrize(
    ("checked", "line", "names"),
    [
        (False, "device", ["warpheap_device.fatbin"]),
        (False, "hot", ["warpheap_hot.fatbin", "warpheap_cold.fatbin"]),
        (True, "hot", ["warpheap_device_checked.fatbin"]),
    ],
)
def test_a_use_of_a_heap_brings_the_library_along(numba, monkeypatch, checked, line, names):
    asked: dict[str, list[str]] = {}

    def declare_device(name: str, signature: Any, link: list[Any]) -> None:
        asked[name] = [code.name for code in link]

    monkeypatch.setattr(numba.cuda, "declare_device", declare_device)
    numba._functions(checked, line)
    numba._functions.cache_clear()
    assert asked == dict.fromkeys(("whn_malloc", "whn_aligned_malloc", "whn_free"), names)


def test_a_heap_is_handed_over_as_its_handle(numba):
    from numba.cuda import types

    heap = SimpleNamespace(backend="cuda", handle=4096, device=0)
    hand_over = numba.extensions[0].prepare_args
    assert hand_over(numba.HeapType(False), heap, stream=0, retr=[]) == (types.uint64, 4096)
    assert hand_over(types.int32, 7) == (types.int32, 7)
    heap.device = 1
    with pytest.raises(ValueError, match=r"GPU 1, .* GPU 0"):
        hand_over(numba.HeapType(False), heap)
    heap.backend = "host"
    with pytest.raises(ValueError, match="backend='cuda'"):
        hand_over(numba.HeapType(False), heap)


def test_a_heap_of_another_design_is_refused(numba):
    assert numba._type_of(SimpleNamespace(design="warp_slab", checked=True), None) == numba.HeapType(True)
    with pytest.raises(ValueError, match="'bulk'"):
        numba._type_of(SimpleNamespace(design="bulk", checked=False), None)


def test_lto_ir_is_linked_as_such(numba, monkeypatch):
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(numba.cuda, "jit", lambda **options: asked.append(options) or (lambda function: function))
    numba.jit(lambda heap: None)
    monkeypatch.setattr(numba, "line", "hot")
    numba.jit(lambda heap: None)
    assert [options.get("lto") for options in asked] == [None, True]
    assert all(options["extensions"] == numba.extensions for options in asked)


def test_checked_heaps_are_of_another_type(numba):
    assert numba.HeapType(False) != numba.HeapType(True)
    assert numba.HeapType(True) == numba.HeapType(True)


def test_code_is_kept_by_what_it_was_linked_with(numba, monkeypatch):
    heap = SimpleNamespace(design="warp_slab", checked=False)
    before = numba._type_of(heap, None)
    monkeypatch.setattr(numba, "line", "hot")
    assert numba._type_of(heap, None) != before


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("raise ImportError('no numba here')", "no numba here"),
        # numba-cuda 0.30 with NumPy 2.5.
        ("import numpy; numpy.name_that_was_removed", "name_that_was_removed"),
    ],
)
def test_numba_that_does_not_import_gets_one_clear_line(tmp_path, missing, text):
    (tmp_path / "numba.py").write_text(missing, encoding="utf-8")
    (tmp_path / "llvmlite.py").write_text("ir = None", encoding="utf-8")
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").touch()
    (tmp_path / "cuda" / "bindings.py").write_text("driver = None", encoding="utf-8")
    source = (
        "from warpheap.errors import UsageError\n"
        "try:\n    import warpheap.numba\n"
        "except UsageError as error:\n    print(error)\n"
    )
    path = os.pathsep.join(str(folder) for folder in (tmp_path, REPOSITORY / "python"))
    done = subprocess.run(
        [sys.executable, "-c", source], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert text in done.stdout
    assert "numpy<2.5" in done.stdout
    assert len(done.stdout.splitlines()) == 1


# --- Arrays that Numba makes itself -----------------------------------------------------------------------------------


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


# --- cuda.core and CuPy ----------------------------------------------------------------------------------------------

HOT = """
#include <warpheap/device_hot.hpp>
extern "C" __global__ void kernel(const warpheap::heap_ref<>* heap, void** blocks) {
  heap->free(blocks[threadIdx.x]);
  blocks[threadIdx.x] = heap->malloc(threadIdx.x);
}
"""


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
