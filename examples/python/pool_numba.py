# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Checks numba-cuda over a pool, on a machine with a GPU: pool_numba.py. Ends with status 1 if something is wrong."""

from typing import Any

import numpy as np
from checks import Checks, microseconds
from numba import cuda

import warpheap.emm
from warpheap import Pool
from warpheap.errors import UsageError


@cuda.jit
def doubled(source: Any, target: Any) -> None:
    """Write twice each number."""
    i = cuda.grid(1)
    if i < source.size:
        target[i] = 2 * source[i]


def address(array: Any) -> int:
    """Address of the first element."""
    return int(array.__cuda_array_interface__["data"][0])


def owned(pool: Pool) -> str:
    """Arrays are blocks of the pool, and go back to it."""
    before = pool.statistics().live_blocks
    arrays = [cuda.device_array(size, np.uint8) for size in (1, 1000, 30 << 20)]
    assert all(pool.owns(address(each)) for each in arrays)
    assert pool.statistics().live_blocks == before + 3
    del arrays
    assert pool.statistics().live_blocks == before
    return f"{pool.statistics().committed_bytes >> 20} MiB committed"


def work() -> None:
    """A kernel reads one array and writes another, on the default stream and on another."""
    here = np.arange(1 << 20, dtype=np.float32)
    for stream in (cuda.default_stream(), cuda.stream()):
        there = cuda.to_device(here, stream=stream)
        target = cuda.device_array(here.size, np.float32, stream=stream)
        doubled[4096, 256, stream](there, target)
        found = target.copy_to_host(stream=stream)
        stream.synchronize()
        assert (found == 2 * here).all()


def churn() -> None:
    """Arrays of many sizes keep their contents while others come and go."""
    kept: list[tuple[int, Any]] = []
    for number in range(500):
        kept.append((number, cuda.to_device(np.full(1 + number * 7919 % 50_000, number, np.int32))))
        if len(kept) > 50:
            value, array = kept.pop(number * 31 % len(kept))
            assert (array.copy_to_host() == value).all()
    assert all((array.copy_to_host() == value).all() for value, array in kept)


def memory_info(pool: Pool) -> str:
    """Numba tells how much memory the pool can still hand out, and how much the GPU has."""
    array = cuda.device_array(1 << 20, np.uint8)
    free, total = cuda.current_context().get_memory_info()
    figures = pool.statistics()
    assert free <= figures.reserved_bytes - figures.live_bytes
    assert total - free >= figures.live_bytes >= array.size
    return f"{free >> 20} of {total >> 20} MiB free"


def out_of_memory() -> str:
    """An array that cannot be held raises MemoryError, and the next one is served."""
    try:
        cuda.device_array(1 << 42, np.uint8)
    except MemoryError as error:
        text = str(error)
    else:
        raise AssertionError("an array without memory")
    work()
    return text[:90]


def main() -> None:
    """Run all checks."""
    checks = Checks("numba")
    warpheap.emm.install()
    pool = Pool.of_device(backend="cuda")

    def refused_later() -> None:
        warpheap.emm.install()  # once more does nothing
        cuda.cudadrv.driver._memory_manager = cuda.cudadrv.driver.NumbaCUDAMemoryManager
        try:
            warpheap.emm.install()
        except UsageError:
            return
        finally:
            cuda.cudadrv.driver._memory_manager = warpheap.emm.PoolMemoryManager
        raise AssertionError("a second memory manager was taken")

    checks.served("owned", lambda: owned(pool))
    checks.served("work", work)
    checks.served("churn", churn)
    checks.served("memory_info", lambda: memory_info(pool))
    checks.served("out_of_memory", out_of_memory)
    array = cuda.device_array(10, np.uint8)
    checks.refused("ipc_handle", lambda: array.get_ipc_handle(), "another process")
    checks.served("refused_later", refused_later)
    speed = microseconds(lambda: cuda.device_array(1000, np.float32), 5000)
    checks.served("speed", lambda: f"cuda.device_array {speed:.1f} us")
    checks.end()


if __name__ == "__main__":
    main()
