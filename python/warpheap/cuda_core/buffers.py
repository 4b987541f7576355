# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers of cuda.core from a pool: `PoolResource` is a `MemoryResource`.

device = cuda.core.Device(0)
device.set_current()
device.memory_resource = warpheap.cuda_core.PoolResource()
buffer = device.allocate(1 << 20, stream=device.create_stream())
"""

from typing import Any

from warpheap.errors import UsageError
from warpheap.native.arguments import byte_count, stream_number
from warpheap.stream_pools import Pool
from warpheap.stream_pools.kept_streams import KeptStreams

try:
    from cuda.core import Buffer, MemoryResource
except ImportError as error:
    raise UsageError(
        f"warpheap.cuda_core needs cuda.core, which cannot be imported ({error}): pip install 'cuda-core>=1.0'"
    ) from error

# cuda.core tells a buffer the stream of its end since it has this argument; before, it was that of the first use.
_KNOWS_STREAM = "stream" in (Buffer.from_handle.__doc__ or "")


class PoolResource(MemoryResource):
    """A memory resource whose buffers are blocks of a pool, in the order of their streams."""

    def __init__(self, pool: Pool | None = None, *, device: int | None = None) -> None:
        """A resource over `pool`, or over the pool that the process has for the GPU `device`; None is the current one.

        The pool stays open as long as buffers of it are used. Streams that buffers were made on live as long as the
        resource; its end makes the pool forget them.
        """
        if pool is not None and device not in (None, pool.device):
            raise ValueError(f"the pool is on GPU {pool.device}, and device is {device}: give one of them")
        self.pool = Pool.of_device(device, backend="cuda") if pool is None else pool
        self._streams = KeptStreams()

    def allocate(self, size: int, *, stream: Any) -> Any:
        """Take a buffer of `size` bytes for work on `stream`. Raises `MemoryError` if the pool cannot hold it."""
        bytes = byte_count(size, "size", 0)
        self._streams.keep(self.pool, stream)
        block = self.pool.allocate(bytes, stream)
        try:
            return Buffer.from_handle(block, size, mr=self, **({"stream": stream} if _KNOWS_STREAM else {}))
        except BaseException:
            self.pool.deallocate(block, stream)
            raise

    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
        """Take a buffer back, after the work that `stream` was given; None is the default stream."""
        self._streams.keep(self.pool, stream)
        self.pool.deallocate(int(ptr), stream_number(stream))

    @property
    def device_id(self) -> int:
        """Number of the GPU."""
        return self.pool.device

    @property
    def is_device_accessible(self) -> bool:
        """True if kernels can use the buffers."""
        return self.pool.backend == "cuda"

    @property
    def is_host_accessible(self) -> bool:
        """True if the host can use the buffers."""
        return self.pool.backend == "host"

    @property
    def is_managed(self) -> bool:
        """False: buffers stay where they are."""
        return False
