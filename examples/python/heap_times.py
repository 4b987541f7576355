# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What heaps cost in kernels of CuPy and of Numba: heap_times.py.

A kernel of 2^20 threads takes and gives back a block of 16 bytes each. Times are of whole kernels, by events, medians
of 31 launches after 3 others; `first` is the first launch with a new heap. Of Numba also the time until a kernel that
takes a heap runs for the first time, and of the same kernel without one. The status is 1 if a block did not come back.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from checks import Checks

import warpheap

COUNT = 1 << 20
HEAP = 1 << 29
LAUNCHES = 31
WARM_UPS = 3

RAW = """
#include <warpheap/device.hpp>
extern "C" __global__ void cycle(const warpheap::heap_ref<>* heap, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  volatile unsigned* block = static_cast<volatile unsigned*>(heap->malloc(16));
  if (block == nullptr) return;
  *block = i;
  heap->free(const_cast<unsigned*>(block));
}
"""
LINKED = """
#include <warpheap/heap/device_library.h>
extern "C" __global__ void cycle(const wh_device_heap* heap, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  volatile unsigned* block = static_cast<volatile unsigned*>(wh_malloc(heap, 16));
  if (block == 0) return;
  *block = i;
  wh_free(heap, const_cast<unsigned*>(block));
}
"""


def measured(launch: Callable[[warpheap.Heap], None], timed: Callable[[Callable[[], None]], float]) -> str:
    """The first launch with a new heap, and the median of later ones, in microseconds."""
    with warpheap.Heap(HEAP) as heap:
        first = timed(lambda: launch(heap))
        for _ in range(WARM_UPS):
            launch(heap)
        later = statistics.median(timed(lambda: launch(heap)) for _ in range(LAUNCHES))
        live = heap.statistics().live_bytes
        assert not live, f"{live} bytes did not come back"
    return f"{later:.1f} us, first {first:.1f} us"


def with_cupy(checks: Checks) -> None:
    """Kernels that CuPy compiles whole, and kernels that are linked."""
    import cupy

    import warpheap.cupy

    def timed(call: Callable[[], None]) -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) * 1000

    def launched(module: Any) -> Callable[[warpheap.Heap], None]:
        kernel = module.get_function("cycle")
        return lambda heap: kernel((COUNT // 256,), (256,), (np.uint64(heap.handle), np.uint32(COUNT)))

    def raw() -> str:
        module = cupy.RawModule(code=RAW, options=warpheap.cupy.options(), backend="nvrtc")
        begin = time.monotonic()
        module.compile()
        return f"{measured(launched(module), timed)}, compiled in {time.monotonic() - begin:.2f} s at most"

    def linked(line: str) -> str:
        begin = time.monotonic()
        module = warpheap.cupy.linked_module(LINKED, line=line)
        took = time.monotonic() - begin
        return f"{measured(launched(module), timed)}, compiled and linked in {took:.2f} s"

    checks.served("cupy_raw_module", raw)
    for line in ("device", "whole"):
        checks.served(f"cupy_linked_{line}", lambda line=line: linked(line))


def with_numba(checks: Checks) -> None:
    """Kernels of Numba, linked in each way."""
    from numba import cuda

    import warpheap.numba

    def timed(call: Callable[[], None]) -> float:
        begin, end = cuda.event(), cuda.event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1000

    def until_first(launch: Callable[[], None]) -> float:
        begin = time.monotonic()
        launch()
        cuda.synchronize()
        return time.monotonic() - begin

    def without() -> str:
        @cuda.jit
        def index(out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = i

        out = cuda.device_array(COUNT, np.uint32)
        return f"first run after {until_first(lambda: index[COUNT // 256, 256](out)):.2f} s"

    def cycle(line: str) -> str:
        warpheap.numba.line = line

        @warpheap.numba.jit
        def cycle(heap, count):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < count:
                heap.free(heap.malloc(16))

        with warpheap.Heap(HEAP) as heap:
            took = until_first(lambda: cycle[COUNT // 256, 256](heap, COUNT))
        return f"{measured(lambda heap: cycle[COUNT // 256, 256](heap, COUNT), timed)}, first run after {took:.2f} s"

    checks.served("numba_without_heap", without)
    for line in ("device", "hot", "whole"):
        checks.served(f"numba_{line}", lambda line=line: cycle(line))


def main() -> None:
    """Measure with each package that is there."""
    checks = Checks("heap_times")
    for name, with_package in (("cupy", with_cupy), ("numba", with_numba)):
        try:
            with_package(checks)
        except ImportError as error:
            print(f"{name} cannot be imported here: {error}")
    if not checks.passed and not checks.failed:
        print("neither CuPy nor Numba can be imported here", file=sys.stderr)
        sys.exit(77)
    checks.end()


if __name__ == "__main__":
    main()
