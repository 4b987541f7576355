# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of cuda.core that take a heap: one makes rows, another one adds them up and frees them.

    python cuda_core_heap.py [--line device|hot|whole] [--compile FOLDER]

The status is 0 if the sums are right and all blocks came back, 1 if not, and 77 where no GPU answers. `--compile`
writes what is linked for compute capability 9.0 into a folder and launches nothing, which needs no GPU.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig

import warpheap
import warpheap.cuda_core

COUNT = 100_000
NO_GPU = 77
SOURCE = r"""
#include <warpheap/heap/device_library.h>

extern "C" __global__ void make_rows(const wh_device_heap* heap, float** rows, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int size = i % 7 + 1;
  rows[i] = static_cast<float*>(wh_malloc(heap, size * sizeof(float)));
  for (int k = 0; rows[i] != nullptr && k < size; ++k) rows[i][k] = i + k;
}

extern "C" __global__ void add_and_free(const wh_device_heap* heap, float** rows, float* sums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || rows[i] == nullptr) return;
  sums[i] = 0;
  for (int k = 0; k < i % 7 + 1; ++k) sums[i] += rows[i][k];
  wh_free(heap, rows[i]);
}
"""


def run(line: str) -> int:
    """Launches both kernels, and returns how much is wrong."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = warpheap.cuda_core.link(SOURCE, line=line)
    make_rows, add_and_free = (code.get_kernel(name) for name in ("make_rows", "add_and_free"))
    count, config = np.int32(COUNT), LaunchConfig(grid=(COUNT + 255) // 256, block=256)
    rows, sums = (device.allocate(size * COUNT, stream=stream) for size in (8, 4))
    with warpheap.Heap(1 << 30) as heap:
        warpheap.cuda_core.launch(stream, config, make_rows, heap, rows, count)
        warpheap.cuda_core.launch(stream, config, add_and_free, heap, rows, sums, count)
        stream.sync()
        live = heap.statistics().live_bytes or 0
    found = np.empty(COUNT, np.float32)
    (status,) = driver.cuMemcpyDtoH(found.ctypes.data, int(sums.handle), found.nbytes)
    if int(status) != 0:
        raise RuntimeError(f"the sums cannot be read: {status!r}")
    i = np.arange(COUNT)
    size = i % 7 + 1
    bad = int(np.count_nonzero(found != (size * i + size * (size - 1) // 2).astype(np.float32)))
    print(f"cuda_core_heap: {bad} sums are wrong, {live} bytes did not come back")
    return bad + live


def main() -> int:
    """Returns the status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--line", default="device", choices=("device", "hot", "whole"))
    parser.add_argument("--compile", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.compile is not None:
        linked = warpheap.cuda_core.link(SOURCE, capability=(9, 0), line=given.line)
        (given.compile / "cuda_core_heap.cubin").write_bytes(bytes(linked.code))
        return 0
    if not has_gpu():
        print("cuda_core_heap: no GPU answers")
        return NO_GPU
    return 1 if run(given.line) else 0


def has_gpu() -> bool:
    """True if a driver is there and has a GPU."""
    try:
        return int(driver.cuInit(0)[0]) == 0
    except RuntimeError:
        return False


if __name__ == "__main__":
    sys.exit(main())
