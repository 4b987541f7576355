# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of numba-cuda from a pool: a plug-in for external memory management (EMM).

`warpheap.emm.install()` before Numba uses a GPU, or NUMBA_CUDA_MEMORY_MANAGER=warpheap.emm in the environment. Each
context takes device memory from the pool that the process has for its GPU; pinned memory of the host stays Numba's.

Numba names no stream to a memory manager, so a block is for the default stream, which waits for the work of all streams
that Numba makes and lets them wait for it. A stream that was made without that (`cudaStreamNonBlocking`) is to be
synchronized before an array ends that it uses.
"""

from typing import Any

from warpheap.errors import UsageError, packages_missing
from warpheap.stream_pools import Pool
from warpheap.stream_pools.library import load_for_gpu

try:
    from cuda.bindings.driver import CUdeviceptr
    from numba import cuda
    from numba.cuda import HostOnlyCUDAMemoryManager, MemoryPointer
    from numba.cuda.cudadrv import driver
    from numba.cuda.np import arrayobj  # noqa: F401  what kernels with arrays need, which Numba imports late
# Names that a newer NumPy or Numba lacks are attributes where Numba uses them as it is imported.
except (ImportError, AttributeError) as error:
    needed, command = "numba-cuda 0.30 with NumPy below 2.5", "pip install 'numba-cuda>=0.30' 'numpy<2.5'"
    raise packages_missing("warpheap.emm", needed, ("numba-cuda", "numba", "numpy"), error, command) from error


class PoolMemoryManager(HostOnlyCUDAMemoryManager):
    """Device memory of one context of Numba from the pool of its GPU."""

    _pool: Pool | None = None

    @property
    def interface_version(self) -> int:
        """Version of Numba's interface for memory managers."""
        return 1

    def initialize(self) -> None:
        """Find the pool; Numba calls this before anything else, and again after a reset."""
        if self._pool is None:
            self._pool = self._find_pool()

    def _find_pool(self) -> Pool:
        return Pool.of_device(self.context.device.id, backend="cuda")

    def _own(self) -> Pool:
        self.initialize()
        assert self._pool is not None
        return self._pool

    def memalloc(self, size: int) -> Any:
        """Take a block of `size` bytes. Raises `MemoryError` if the pool cannot hold it."""
        pool = self._own()
        block = pool.allocate(size)
        try:
            # Not of `self`: a pointer may outlive the context, and keeps what it needs.
            return MemoryPointer(self.context, CUdeviceptr(block), size, finalizer=lambda: pool.deallocate(block))
        except BaseException:
            pool.deallocate(block)
            raise

    def get_memory_info(self) -> Any:
        """Free and total bytes: what the pool can still hand out with the memory that others leave, and the GPU's."""
        figures = self._own().statistics()
        left, total = driver.driver.cuMemGetInfo()
        addresses = figures.reserved_bytes - figures.committed_bytes
        return driver.MemoryInfo(figures.committed_bytes - figures.live_bytes + min(addresses, int(left)), int(total))

    def get_ipc_handle(self, memory: Any) -> Any:
        """Refused: a block of a pool is mapped memory, which other processes cannot open in this way."""
        raise NotImplementedError("a block of warpheap's pool cannot be opened by another process: copy it to the host")


def install() -> None:
    """Let Numba take device memory from pools; called before Numba uses a GPU.

    Raises `UsageError` if it has used one, since arrays would be given back to where they were not taken from, and if
    the library of pools is not built or no GPU answers. Once more does nothing.
    """
    # Numba sets this when it makes its first context.
    current = driver._memory_manager
    if current is PoolMemoryManager:
        return
    if current is not None:
        raise UsageError(
            f"Numba has used a GPU already, or was given a memory manager: it has {current.__name__}; call "
            "warpheap.emm.install() first"
        )
    load_for_gpu("device arrays of Numba")
    cuda.set_memory_manager(PoolMemoryManager)


# The name that NUMBA_CUDA_MEMORY_MANAGER=warpheap.emm asks for.
_numba_memory_manager = PoolMemoryManager
