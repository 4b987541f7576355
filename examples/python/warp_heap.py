# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of NVIDIA Warp that take blocks from a heap: linked lists of lengths that only the kernel knows.

    python warp_heap.py [--compile FOLDER]

Warp has no public way to link code of others, so `link_with_heaps` fills the tables that its module builder has for its
own libraries. That is private to Warp: it is tried with 1.19, and may end with any other version.

The status is 0 if the sums are right and all blocks came back, 1 if not, and 77 where no GPU answers. `--compile` only
compiles the kernels for compute capability 9.0 into a folder, which needs no GPU.
"""

import argparse
import functools
import sys
from pathlib import Path

import numpy as np
import warp as wp

import warpheap
from warpheap import device_code

COUNT = 100_000
NO_GPU = 77


def link_with_heaps() -> None:
    """Lets the modules that Warp builds from now on call `wh_malloc` and `wh_free`."""
    builder = wp._src.context.ModuleBuilder
    begin = builder.__init__
    hot, cold = (file.read_bytes() for file in device_code.libraries("hot"))

    @functools.wraps(begin)
    def begin_with_heaps(self, *words, **options):
        begin(self, *words, **options)
        # One of a pair is a fatbin of LTO-IR, the other one of machine code; Warp hands both to the linker.
        self.fatbins |= {"warpheap_hot": hot, "warpheap_cold": cold}
        self.ltoirs_decl |= {
            "wh_malloc": "__device__ void* wh_malloc(const void*, unsigned long long);",
            "wh_free": "__device__ void wh_free(const void*, void*);",
        }

    builder.__init__ = begin_with_heaps


@wp.func_native("return (wp::uint64)wh_malloc((const void*)heap, (unsigned long long)bytes);")
def heap_malloc(heap: wp.uint64, bytes: wp.uint64) -> wp.uint64: ...


@wp.func_native("wh_free((const void*)heap, (void*)block);")
def heap_free(heap: wp.uint64, block: wp.uint64): ...


@wp.func_native("*(float*)(block + 4ull * (unsigned long long)index) = value;")
def store(block: wp.uint64, index: int, value: float): ...


@wp.func_native("return *(const float*)(block + 4ull * (unsigned long long)index);")
def load(block: wp.uint64, index: int) -> float: ...


@wp.kernel(enable_backward=False)
def make_rows(heap: wp.uint64, rows: wp.array(dtype=wp.uint64)):
    i = wp.tid()
    size = i % 7 + 1
    row = heap_malloc(heap, wp.uint64(4 * size))
    rows[i] = row
    if row != wp.uint64(0):
        for k in range(size):
            store(row, k, float(i + k))


@wp.kernel(enable_backward=False)
def add_and_free(heap: wp.uint64, rows: wp.array(dtype=wp.uint64), sums: wp.array(dtype=float)):
    i = wp.tid()
    row = rows[i]
    if row != wp.uint64(0):
        total = wp.float32(0.0)
        for k in range(i % 7 + 1):
            total += load(row, k)
        sums[i] = total
        heap_free(heap, row)


def run() -> int:
    """Launches both kernels, and returns how much is wrong."""
    rows = wp.zeros(COUNT, dtype=wp.uint64, device="cuda:0")
    sums = wp.zeros(COUNT, dtype=float, device="cuda:0")
    with warpheap.Heap(1 << 30, device=0) as heap:
        handle = wp.uint64(heap.handle)
        wp.launch(make_rows, dim=COUNT, inputs=[handle, rows], device="cuda:0")
        wp.launch(add_and_free, dim=COUNT, inputs=[handle, rows, sums], device="cuda:0")
        wp.synchronize()
        live = heap.statistics().live_bytes or 0
    i = np.arange(COUNT)
    size = i % 7 + 1
    bad = int(np.count_nonzero(sums.numpy() != (size * i + size * (size - 1) // 2).astype(np.float32)))
    print(f"warp_heap: {bad} sums are wrong, {live} bytes did not come back")
    return bad + live


def main() -> int:
    """Returns the status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    link_with_heaps()
    if given.compile is not None:
        wp.compile_aot_module(sys.modules[__name__], arch=90, module_dir=given.compile, use_ptx=False)
        return 0
    if not wp.is_cuda_available():
        print("warp_heap: no GPU answers")
        return NO_GPU
    return 1 if run() else 0


if __name__ == "__main__":
    sys.exit(main())
