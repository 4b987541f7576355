# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Numba with arrays of their own: some from a heap that is an argument, some by np.empty.

The status is 0 if the sums are right and all blocks came back, 1 if not, and 77 where no GPU answers.
"""

import sys

import numpy as np
from numba import cuda

import warpheap
import warpheap.numba

COUNT = 100_000
NO_GPU = 77


@warpheap.numba.jit
def rows_of_the_heap(heap, sums):
    i = cuda.grid(1)
    if i < sums.size:
        row = heap.empty(i % 7 + 1, np.float32)
        for k in range(row.size):
            row[k] = i + k
        total = np.float32(0)
        for k in range(row.size):
            total += row[k]
        sums[i] = total
        heap.free(row)


@warpheap.numba.jit(arrays=True)
def rows_of_numba(sums):
    i = cuda.grid(1)
    if i < sums.size:
        row = np.empty(i % 7 + 1, np.float32)
        for k in range(row.size):
            row[k] = i + k
        total = np.float32(0)
        for k in range(row.size):
            total += row[k]
        sums[i] = total


def expected() -> np.ndarray:
    """The sums that both kernels have to find."""
    i = np.arange(COUNT)
    size = i % 7 + 1
    return (size * i + size * (size - 1) // 2).astype(np.float32)


def main() -> int:
    """Returns the status."""
    if not cuda.is_available():
        print("numba_arrays: no GPU answers")
        return NO_GPU
    wrong = 0
    blocks = (COUNT + 255) // 256
    with warpheap.Heap(1 << 30) as heap:
        for name in ("heap.empty", "np.empty"):
            sums = cuda.to_device(np.zeros(COUNT, np.float32))
            if name == "heap.empty":
                rows_of_the_heap[blocks, 256](heap, sums)
            else:
                with warpheap.numba.arrays_from(heap):
                    rows_of_numba[blocks, 256](sums)
            cuda.synchronize()
            bad = int(np.count_nonzero(sums.copy_to_host() != expected()))
            live = heap.statistics().live_bytes
            print(f"{name}: {bad} sums are wrong, {live} bytes did not come back")
            wrong += bad + (live or 0)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
