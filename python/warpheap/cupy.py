# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps in kernels of CuPy, and arrays of CuPy from a pool.

`warpheap.cupy.use_pool()` lets CuPy take the memory of its arrays from the pool that the process has for each GPU.

A kernel that includes <warpheap/device.hpp> is compiled whole, once for each card, since CuPy keeps it on disk:

    module = cupy.RawModule(code=SOURCE, options=warpheap.cupy.options(), backend="nvrtc")
    module.get_function("kernel")((blocks,), (threads,), (numpy.uint64(heap.handle), ...))

where SOURCE takes `const warpheap::heap_ref<>* heap`. One that includes <warpheap/device_hot.hpp> or calls the `wh_`
functions of <warpheap/heap/device_library.h> is linked, in a fraction of the time:

    module = warpheap.cupy.linked_module(SOURCE)

Arrays of CuPy go to `Heap.malloc` and `Heap.free` as they are, and what `malloc` returns becomes one by
`cupy.asarray`, without a copy.
"""

import importlib
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpheap import cuda_core, device_code
from warpheap.errors import UsageError
from warpheap.stream_pools import Pool


def options() -> tuple[str, ...]:
    """Options of `cupy.RawModule` for sources that include <warpheap/device.hpp>."""
    return device_code.options()


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise UsageError(f"CuPy is needed here and cannot be imported ({error}): pip install cupy-cuda13x") from error


def linked_module(source: str, *, line: str = "device", checked: bool = False, more: tuple[str, ...] = ()) -> Any:
    """A `cupy.RawModule` of what `warpheap.cuda_core.link` makes of a source for the current device."""
    cupy = _cupy()
    digits = str(cupy.cuda.Device().compute_capability)
    capability = (int(digits[:-1]), int(digits[-1]))
    linked = cuda_core.link(source, capability=capability, line=line, checked=checked, more=more)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linked.cubin"
        path.write_bytes(bytes(linked.code))
        module = cupy.RawModule(path=str(path))
        module.compile()  # reads the file
        return module


class _Blocks:
    """Blocks of CuPy's arrays, by their addresses, with the streams that they were taken for."""

    def __init__(self, pool: Pool | None, current_stream: Callable[[], Any]) -> None:
        self._current_stream = current_stream
        self._pool = pool
        self._pools: dict[int, Pool] = {}
        self._lock = threading.Lock()
        self._taken: dict[int, tuple[Pool, Any]] = {}
        # The pool knows a stream as long as it lives, so a stream that CuPy would end with its object is kept.
        self._streams: dict[int, Any] = {}

    def malloc(self, bytes: int, device: int) -> int:
        """Take a block for the current stream; CuPy calls this with the current device."""
        pool = self._of(device)
        stream = self._current_stream()
        block = pool.allocate(bytes, stream)
        with self._lock:
            self._streams.setdefault(stream.ptr, stream)
            self._taken[block] = (pool, stream)
        return block

    def free(self, block: int, device: int) -> None:
        """Take a block back, after what its stream and the current one were given."""
        with self._lock:
            pool, stream = self._taken.pop(block)
        current = self._current_stream()
        if current.ptr != stream.ptr:
            with self._lock:
                self._streams.setdefault(current.ptr, current)
            pool.note_use(block, current)
        pool.deallocate(block, stream)

    def _of(self, device: int) -> Pool:
        if self._pool is not None:
            if self._pool.device != device:
                raise ValueError(
                    f"the pool is on GPU {self._pool.device}, and the array is to be on GPU {device}: leave the pool "
                    "out, and each GPU has its own"
                )
            return self._pool
        with self._lock:
            if device not in self._pools:
                self._pools[device] = Pool.of_device(device, backend="cuda")
            return self._pools[device]


def allocator(pool: Pool | None = None) -> Any:
    """A `cupy.cuda.PythonFunctionAllocator` whose blocks are of a pool; its `malloc` is for `cupy.cuda.set_allocator`.

    `pool`: None takes the pool that the process has for the current GPU. A block is for the stream that is current when
    the array is made. When the array ends on another current stream, the pool waits for that one, too, before it hands
    the memory out. Streams that arrays were made on live as long as the allocator. An array that the pool cannot hold
    raises `MemoryError`.
    """
    cupy = _cupy()
    if pool is not None and pool.backend != "cuda":
        raise ValueError("the pool is on the host, and arrays of CuPy are on a GPU: make it with backend='cuda'")
    blocks = _Blocks(pool, cupy.cuda.get_current_stream)
    return cupy.cuda.PythonFunctionAllocator(blocks.malloc, blocks.free)


def use_pool(pool: Pool | None = None) -> None:
    """Let arrays of CuPy that are made from now on be blocks of a pool, as `allocator` tells.

    Arrays that are there keep their memory. `cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)` goes back
    to CuPy's own pool.
    """
    cupy = _cupy()
    cupy.cuda.set_allocator(allocator(pool).malloc)
