# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Numba with a heap: they compile and link, which needs no GPU."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from cuda_tools import REPOSITORY, link
from device_code_fixtures import folder as folder
from device_code_fixtures import kernels
from device_code_fixtures import numba as numba
from device_code_fixtures import toolkit as toolkit

from warpheap import device_code


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
