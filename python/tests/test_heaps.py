# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.Heap` on the library of the host, and its arrays of a GPU with the host's memory in their place."""

import copy
import ctypes
import dataclasses
import gc
import pickle
import re
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import load_as_on_a_gpu

import warpheap
from warpheap.errors import UsageError
from warpheap.heaps import DeviceArray, Heap, HeapError, NotSupported, heap, library
from warpheap.heaps.library import Library, find_library, load_library
from warpheap.native import dlpack
from warpheap.native.arrays import on_device
from warpheap.native.library import CLibrary, Libraries

REPOSITORY = Path(__file__).parents[2]
MEBIBYTE = 1 << 20
BUILT = find_library("host")

pytestmark = pytest.mark.skipif(
    BUILT is None,
    reason="libwarpheap_heap_host.so is not built; the target warpheap_heap_host makes it",
)


@pytest.fixture(params=["host", "device"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Heaps take and return arrays of the host; then those of a device, which for this library is the host, too."""
    if request.param == "device":
        assert BUILT is not None
        load_as_on_a_gpu(library, Library(BUILT), monkeypatch)
    return str(request.param)


def made(size: int = 16 * MEBIBYTE, *words: Any, **options: Any) -> Heap:
    return Heap(size, *words, **{"backend": "host", **options})


def here(array: Any) -> np.ndarray:
    return np.asarray(array)


# --- Blocks -----------------------------------------------------------------------------------------------------------


def test_the_class_is_of_the_package() -> None:
    assert warpheap.Heap is Heap


def test_blocks_lie_apart_and_come_back(where: str) -> None:
    sizes = np.arange(4000) % 700
    with made() as taken:
        blocks = taken.malloc(sizes)
        assert isinstance(blocks, DeviceArray if where == "device" else np.ndarray)
        at = here(blocks)
        assert at.dtype == np.uint64
        assert at.shape == sizes.shape
        assert ((at == 0) == (sizes == 0)).all()
        order = np.argsort(at[sizes > 0])
        starts, lengths = at[sizes > 0][order], sizes[sizes > 0][order].astype(np.uint64)
        assert (starts[1:] >= starts[:-1] + lengths[:-1]).all()
        assert (starts % 16 == 0).all()
        live = taken.statistics().live_bytes
        assert live is not None and live >= sizes.sum()
        taken.free(blocks)
        assert taken.statistics().live_bytes == 0


@pytest.mark.parametrize("kind", [list, np.int32, np.uint32, np.int64, np.uint64, np.uint8])
def test_sizes_are_of_any_integer(where: str, kind: Any) -> None:
    sizes = [16, 32, 0] if kind is list else np.array([16, 32, 0], kind)
    with made() as taken:
        blocks = here(taken.malloc(sizes))
        assert list(blocks != 0) == [True, True, False]
        taken.free(blocks)
        assert taken.statistics().live_bytes == 0


def test_an_empty_batch_does_nothing(where: str) -> None:
    with made() as taken:
        assert len(taken.malloc(np.zeros(0, np.uint64))) == 0
        taken.free([])


def test_a_full_heap_gives_zeros(where: str) -> None:
    with made(MEBIBYTE) as taken:
        served = np.count_nonzero(here(taken.malloc([64 << 10] * 100)))
        assert 8 < served <= 16


def test_memory_of_a_block_can_be_written() -> None:
    with made() as taken:
        blocks = taken.malloc([64] * 100)
        for number, block in enumerate(blocks):
            ctypes.memset(int(block), number, 64)
        for number, block in enumerate(blocks):
            assert ctypes.string_at(int(block), 64) == bytes([number]) * 64


@pytest.mark.parametrize(
    ("sizes", "error", "text"),
    [
        ([-1], ValueError, "sizes has the negative number -1"),
        ([1.5], TypeError, "sizes are integers"),
        ([[1, 2]], ValueError, "shape (1, 2)"),
        ("ab", ValueError, "shape ()"),
    ],
)
def test_sizes_that_cannot_be_right_are_refused(sizes: Any, error: type[Exception], text: str) -> None:
    with made() as taken, pytest.raises(error, match=re.escape(text)):
        taken.malloc(sizes)


# --- The whole heap ---------------------------------------------------------------------------------------------------


def test_a_heap_grows_is_trimmed_restored_and_reset() -> None:
    with made(64 * MEBIBYTE) as taken:
        taken.grow(128 * MEBIBYTE)
        assert taken.statistics().size_bytes == taken.size == 128 * MEBIBYTE
        taken.grow(MEBIBYTE)
        assert taken.statistics().size_bytes == taken.size == 128 * MEBIBYTE
        taken.malloc([256] * 100)
        committed = taken.statistics().committed_bytes
        given_back = taken.trim()
        assert given_back > 0
        assert taken.statistics().committed_bytes == committed - given_back
        taken.restore()
        assert taken.statistics().committed_bytes == committed
        taken.reset()
        assert taken.statistics().live_bytes == 0


def test_the_handle_stays_where_it_is_when_the_heap_moves() -> None:
    with made(4 * MEBIBYTE, plain=True) as taken:
        handle = taken.handle
        assert handle % 8 == 0
        blocks = taken.malloc([32] * 10)
        with pytest.raises(OverflowError):
            taken.grow(8 * MEBIBYTE)
        distance = taken.relocate(8 * MEBIBYTE)
        assert distance != 0
        assert taken.handle == handle
        assert taken.statistics().size_bytes == taken.size == 8 * MEBIBYTE
        taken.free(blocks + np.array(distance, np.int64).astype(np.uint64))
        assert taken.statistics().live_bytes == 0


def test_a_checked_heap_tells_the_first_fault() -> None:
    with made(checked=True) as taken:
        assert taken.checked
        assert taken.first_fault() is None
        blocks = taken.malloc([40])
        ctypes.memset(int(blocks[0]) + 40, 7, 1)
        taken.free(blocks)
        fault = taken.first_fault()
        assert fault is not None
        assert (fault.kind, fault.pointer, fault.bytes) == ("overrun", int(blocks[0]), 40)
        assert "write beyond the size" in fault.text
        taken.clear_fault()
        taken.free(blocks)
        again = taken.first_fault()
        assert again is not None and again.kind == "double_free"


@pytest.mark.parametrize("design", [] if BUILT is None else Library(BUILT).designs)
def test_each_design_serves(design: str) -> None:
    with made(design=design) as taken:
        assert taken.design == design
        assert np.count_nonzero(taken.malloc([64] * 100)) == 100
        taken.reset()
        assert repr(taken) == f"Heap({16 * MEBIBYTE} bytes, {design}, host 0)"
    assert design in Heap.designs("host")


def test_what_a_design_cannot_do_is_said() -> None:
    with made(design="bump") as taken:
        with pytest.raises(NotSupported, match="'bump' cannot be trimmed"):
            taken.trim()
        with pytest.raises(NotSupported, match="checked=True"):
            taken.first_fault()
    with pytest.raises(NotSupported, match="cannot be checked"):
        made(design="bulk", checked=True)
    assert issubclass(NotSupported, HeapError)


# --- The life of a heap -----------------------------------------------------------------------------------------------


def test_a_closed_heap_says_so() -> None:
    taken = made()
    taken.close()
    taken.close()
    assert taken.closed
    assert repr(taken) == "Heap(closed)"
    uses = [lambda: taken.handle, taken.reset, taken.statistics, taken.trim, taken.__enter__, taken.first_fault]
    uses += [lambda: taken.malloc([1]), lambda: taken.free([0]), lambda: taken.grow(1), lambda: taken.relocate(1)]
    uses += [taken.restore, taken.clear_fault]
    for use in uses:
        with pytest.raises(ValueError, match="the heap is closed"):
            use()


def test_arrays_outlive_the_heap(where: str) -> None:
    taken = made()
    blocks = taken.malloc([16])
    taken.close()
    assert here(blocks)[0] != 0
    del blocks
    gc.collect()


def test_a_forgotten_heap_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BUILT is not None
    own = Library(BUILT)
    ended: list[int] = []
    monkeypatch.setattr(own, "destroy", ended.append, raising=False)
    monkeypatch.setattr(library, "load_library", lambda backend=None: own)
    taken = made()
    number = taken._address
    del taken
    gc.collect()
    assert ended == [number]


def test_threads_share_a_heap() -> None:
    with made(64 * MEBIBYTE) as taken:
        got: list[np.ndarray] = []
        threads = [threading.Thread(target=lambda: got.append(taken.malloc([64] * 1000))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(np.unique(np.concatenate(got))) == 8000


# --- What cannot be right ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"bytes": 0}, ValueError, "bytes is 0"),
        ({"bytes": -5}, ValueError, "bytes is -5"),
        ({"bytes": 2**64}, ValueError, "bytes is"),
        ({"bytes": 1.5}, TypeError, "bytes is 1.5: it is a whole number of bytes"),
        ({"bytes": "1G"}, TypeError, "such as 1 << 30"),
        ({"bytes": 1}, ValueError, "bytes"),
        ({"bytes": 2**63 + 2**62}, OverflowError, "bytes"),
        ({"bytes": MEBIBYTE, "design": "warp_slap"}, ValueError, "'warp_slap': use one of warp_slab,"),
        ({"bytes": MEBIBYTE, "design": None}, TypeError, "the name of a design"),
        ({"bytes": MEBIBYTE, "device": 7}, HeapError, "device 7"),
        ({"bytes": MEBIBYTE, "device": -1}, ValueError, "device is -1"),
        ({"bytes": MEBIBYTE, "device": "cuda:0"}, TypeError, "the number of a GPU"),
        ({"bytes": MEBIBYTE, "reserve_bytes": -1}, ValueError, "reserve_bytes"),
        ({"bytes": MEBIBYTE, "backend": "hip"}, UsageError, "'cuda', 'host' or None"),
    ],
)
def test_arguments_that_cannot_be_right_are_refused(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        Heap(**{"backend": "host", **options})


def test_what_to_build_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(library.LIBRARIES, "find", lambda backend: None)
    with pytest.raises(UsageError, match="--target warpheap_heap_host") as raised:
        Heap(1)
    assert library.VARIABLE in str(raised.value)


def test_the_library_exports_what_its_header_declares() -> None:
    assert BUILT is not None
    header = (REPOSITORY / "include/warpheap/heap/heap.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^[a-z].*?[ *](wh_heap_\w+)\(", header, re.MULTILINE))
    shown = subprocess.run(["nm", "-D", "--defined-only", BUILT], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in shown.splitlines()} == declared
    own = {"abi", "backend", "designs", "error"}
    assert {f"wh_heap_{name}" for name in {*library._CALLS, *library._ANSWERS, *own}} == declared


def test_structures_are_those_of_the_header(tmp_path: Path) -> None:
    names = {"options": library.HeapOptions, "statistics": library.RawStatistics, "fault": library.RawFault}
    prints = "".join(
        f'printf("%zu\\n", sizeof(wh_heap_{name}));\n'
        + "".join(f'printf("%zu\\n", offsetof(wh_heap_{name}, {field[0]}));\n' for field in kind._fields_)
        for name, kind in names.items()
    )
    source = tmp_path / "sizes.c"
    text = f"#include <stdio.h>\n#include <warpheap/heap/heap.h>\nint main(void) {{ {prints} return 0; }}\n"
    source.write_text(text, encoding="utf-8")
    include = REPOSITORY / "include"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"-I{include}", source, "-o", tmp_path / "sizes"], check=True)
    shown = subprocess.run([tmp_path / "sizes"], check=True, capture_output=True, text=True).stdout
    own = [
        number
        for kind in names.values()
        for number in (ctypes.sizeof(kind), *(getattr(kind, field[0]).offset for field in kind._fields_))
    ]
    assert [int(line) for line in shown.split()] == own


EXAMPLES = re.findall(
    r"^```python\n(.*?)^```", (REPOSITORY / "docs/python.md").read_text(encoding="utf-8"), re.M | re.S
)


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, str(BUILT))
    others = ("numba", "cupy", "cuda_core")
    own = [text for text in EXAMPLES if not any(name in text for name in others)]
    assert len(own) == 2
    for text in own:
        exec(compile(text, "docs/python.md", "exec"), {})
    live, fault = capsys.readouterr().out.splitlines()
    assert int(live) >= 16 + 100 + 4096
    assert "write beyond the size" in fault


def test_the_examples_for_a_gpu_are_of_the_language() -> None:
    assert len(EXAMPLES) == 6
    for text in EXAMPLES:
        compile(text, "docs/python.md", "exec")


def test_the_module_is_typed() -> None:
    assert (Path(heap.__file__).parents[1] / "py.typed").is_file()


class Elsewhere:
    """An array of a GPU, which is not to be read."""

    def __init__(self, kind: int, number: int, **interface: Any) -> None:
        self.place = (kind, number)
        if interface:
            self.__cuda_array_interface__ = interface

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, **words: Any) -> Any:
        raise AssertionError("it is not to be read")


def library_of_gpu(number: int) -> Any:
    return SimpleNamespace(uses_device_arrays=True, backend="cuda", array_device=lambda: number)


# What libraries say by __cuda_array_interface__, where nothing has the number of the GPU.
INTERFACE = {"shape": (2,), "typestr": "<u8", "data": (4096, False), "version": 3}


@pytest.mark.parametrize("interface", [{}, INTERFACE])
def test_an_array_of_another_gpu_is_refused(interface: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="lies on GPU 1, and this works on GPU 0"):
        on_device(library_of_gpu(0), Elsewhere(dlpack.CUDA, 1, **interface), "sizes")
    with pytest.raises(TypeError, match="DLPack's type 10: it is to be on the host or CUDA"):
        on_device(library_of_gpu(0), Elsewhere(10, 0, **interface), "sizes")
    with pytest.raises(TypeError, match="backend='cuda'"):
        on_device(load_library("host"), Elsewhere(dlpack.CUDA, 0, **interface), "sizes")


def test_an_array_by_interface_is_read_on_its_gpu_and_managed_memory_on_each() -> None:
    for kind in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        found = on_device(library_of_gpu(1), Elsewhere(kind, 1, **INTERFACE), "sizes")
        assert found is not None and (found.address, found.shape, found.kind) == (4096, (2,), "u8")
    assert on_device(library_of_gpu(1), Elsewhere(dlpack.CUDA_MANAGED, 0, **INTERFACE), "sizes") is not None


def test_an_array_of_a_heap_on_another_gpu_is_refused(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "host":
        return
    with made() as first, made() as second:
        blocks = first.malloc([16])
        assert blocks.device == 0
        monkeypatch.setattr(second._arrays, "array_device", lambda: 1)
        with pytest.raises(ValueError, match="blocks lies on GPU 0, and this works on GPU 1"):
            second.free(blocks)
        first.free(blocks)


def test_an_array_is_not_copied_with_its_memory(where: str) -> None:
    if where == "host":
        return
    with made() as taken:
        blocks = taken.malloc([16])
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=r"which to_numpy\(\) makes"):
                attempt(blocks)
        assert copy.deepcopy(blocks.to_numpy())[0] == here(blocks)[0]


def test_a_mask_is_refused_and_not_dropped() -> None:
    with made() as taken, pytest.raises(TypeError, match="sizes has a mask"):
        taken.malloc(np.ma.array([16, 32], mask=[False, True]))


# --- Libraries --------------------------------------------------------------------------------------------------------


def test_a_name_of_a_design_has_no_end_within() -> None:
    with pytest.raises(ValueError, match="it is the name of a design"):
        made(design="warp_slab\0bulk")


def test_another_interface_is_said_before_what_it_lacks() -> None:
    assert BUILT is not None
    newer = dataclasses.replace(library.INTERFACE, answers={**library.INTERFACE.answers, "of_tomorrow": (None, ())})
    with pytest.raises(UsageError, match="has interface 1 and this package needs 2"):
        CLibrary(BUILT, newer, 2)
    with pytest.raises(UsageError, match="has no wh_heap_of_tomorrow and is no library of heaps"):
        CLibrary(BUILT, newer, 1)


def test_a_gpu_that_does_not_answer_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for_gpu = SimpleNamespace(device_available=lambda: 0, error_text=lambda: "there is no driver")
    libraries: Libraries[Any] = Libraries(library.INTERFACE, lambda path: for_gpu)
    path = tmp_path / "libwarpheap_heap_cuda.so"
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(libraries, "find", lambda backend: path if backend == "cuda" else None)
    with pytest.raises(UsageError, match=r"finds no GPU \(there is no driver\), and no library of heaps was found"):
        libraries.load()
    with pytest.raises(UsageError, match=r"^no library of heaps was found"):
        libraries.load("host")
