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

import functools
import hashlib
import importlib
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpheap import cuda_core, device_code
from warpheap.errors import UsageError
from warpheap.stream_pools import Pool
from warpheap.stream_pools.kept_streams import KeptStreams
from warpheap.stream_pools.library import load_for_gpu


def options() -> tuple[str, ...]:
    """Options of `cupy.RawModule` for sources that include <warpheap/device.hpp>."""
    return device_code.options()


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise UsageError(f"CuPy is needed here and cannot be imported ({error}): pip install cupy-cuda13x") from error


@functools.lru_cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """The folder of modules that CuPy reads, which the end of the process removes."""
    return tempfile.TemporaryDirectory(prefix="warpheap-cupy-")


def linked_module(source: str, *, line: str = "device", checked: bool = False, more: tuple[str, ...] = ()) -> Any:
    """A `cupy.RawModule` of what `warpheap.cuda_core.link` makes of a source for the current device.

    It runs on that device and on all others of the same compute capability.
    """
    cupy = _cupy()
    digits = str(cupy.cuda.Device().compute_capability)
    capability = (int(digits[:-1]), int(digits[-1]))
    linked = cuda_core.link(source, capability=capability, line=line, checked=checked, more=more)
    code = bytes(linked.code)
    # CuPy reads the file again on each further device, and keeps what it read by the file's name.
    file = Path(_folder().name) / f"{hashlib.sha256(code).hexdigest()}.cubin"
    if not file.is_file():
        whole = file.with_suffix(f".{threading.get_ident()}")
        whole.write_bytes(code)
        whole.replace(file)
    module = cupy.RawModule(path=str(file))
    module.compile()  # reads the file, so that a wrong one is told here
    return module


# The number of the default stream of a thread (cudaStreamPerThread), which is another stream in each thread.
_PER_THREAD = 2


class _Blocks:
    """Blocks of CuPy's arrays, by their addresses, with the streams and threads that they were taken for."""

    def __init__(self, pool: Pool | None, current_stream: Callable[[int], Any]) -> None:
        """Blocks of a pool. `current_stream`: returns the calling thread's stream on the GPU with a number."""
        self._current_stream = current_stream
        self._pool = pool
        self._pools = {} if pool is None else {pool.device: pool}
        self._lock = threading.Lock()  # of `_pools`, for who adds one
        # One thread at a time adds or takes an entry: Python sees to that for a single call of a dict.
        self._taken: dict[int, tuple[Pool, Any, int]] = {}
        self._streams = KeptStreams()

    def malloc(self, bytes: int, device: int) -> int:
        """Take a block for the current stream; CuPy calls this with the current device."""
        pool = self._pools.get(device) or self._of(device)
        stream = self._current_stream(device)
        number = stream.ptr
        if number > _PER_THREAD:  # else a default stream, which ends with the process
            self._streams.keep(pool, stream)
        block = pool.allocate(bytes, number)
        self._taken[block] = (pool, stream, threading.get_ident())
        return block

    def free(self, block: int, device: int) -> None:
        """Take a block of a GPU back, after what its stream and this thread's stream on that GPU were given.

        Another GPU may be current: CuPy calls this wherever the last reference to an array ends. If the pool refuses,
        the block stays as it is.
        """
        current = self._current_stream(device)
        used_last = current.ptr
        pool, stream, thread = taken = self._taken.pop(block)
        number = stream.ptr
        try:
            if used_last > _PER_THREAD:
                self._streams.keep(pool, current)
            if number == _PER_THREAD and thread != threading.get_ident():
                # Here that number is another stream. The default stream waits for those of all threads.
                if used_last != _PER_THREAD:
                    pool.note_use(block, used_last)
                pool.deallocate(block)
                return
            if used_last != number:
                pool.note_use(block, used_last)
            pool.deallocate(block, number)
        except BaseException:
            self._taken[block] = taken
            raise

    def _of(self, device: int) -> Pool:
        if self._pool is not None and self._pool.device != device:
            raise ValueError(
                f"the pool is on GPU {self._pool.device}, and the array is to be on GPU {device}: leave the pool "
                "out, and each GPU has its own"
            )
        with self._lock:
            if device not in self._pools:
                self._pools[device] = Pool.of_device(device, backend="cuda")
            return self._pools[device]


def allocator(pool: Pool | None = None) -> Any:
    """A `cupy.cuda.PythonFunctionAllocator` whose blocks are of a pool; its `malloc` is for `cupy.cuda.set_allocator`.

    `pool`: None takes the pool that the process has for the current GPU; one that is given stays open as long as its
    arrays are used. A block is for the stream that is current when the array is made. When the array ends on another
    current stream, the pool waits for that one, too, before it hands the memory out. Streams that arrays were made on
    live as long as the allocator, whose end makes the pool forget them. (A `cupy.cuda.ExternalStream` is ended by
    others: `Pool.forget` it first.) An array that the pool cannot hold raises `MemoryError`. Raises `UsageError` if the
    library of pools is not built or no GPU answers.
    """
    cupy = _cupy()
    if pool is None:
        load_for_gpu("arrays of CuPy")  # what is missing is said here, and not by the first array
    elif pool.backend != "cuda":
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
