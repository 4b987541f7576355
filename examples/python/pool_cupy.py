# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Checks CuPy over a pool, on a machine with a GPU: pool_cupy.py. Ends with status 1 if something is wrong."""

import cupy
import numpy as np
from checks import Checks, microseconds

import warpheap.cupy
from warpheap import Pool

COUNT = 4 << 20
SLEEP = cupy.RawKernel(
    """
extern "C" __global__ void wait(long long cycles) {
  long long begin = clock64();
  while (clock64() - begin < cycles) {}
}
""",
    "wait",
)


def sleep(cycles: int) -> None:
    """Keep the current stream busy."""
    SLEEP((1,), (1,), (np.int64(cycles),))


def owned(pool: Pool) -> str:
    """Arrays are blocks of the pool, and go back to it."""
    before = pool.statistics().live_blocks
    arrays = [cupy.empty(size, cupy.uint8) for size in (1, 1000, 30 << 20)]
    assert all(pool.owns(each.data.ptr) for each in arrays)
    assert pool.statistics().live_blocks == before + 3
    del arrays
    assert pool.statistics().live_blocks == before
    return f"{pool.statistics().committed_bytes >> 20} MiB committed"


def work() -> None:
    """Products, sorts and sums are those of NumPy."""
    here = np.arange(512 * 512).reshape(512, 512) % 97
    there = cupy.asarray(here.astype(np.float64))
    assert (cupy.asnumpy(there @ there) == here @ here).all()
    assert (cupy.asnumpy(cupy.sort(there.ravel())) == np.sort(here.ravel())).all()
    assert int(there.sum()) == here.sum()


def churn() -> None:
    """Arrays of many sizes keep their contents while others come and go."""
    kept = []
    for number in range(1000):
        kept.append((number, cupy.full(1 + number * 7919 % 50_000, number, cupy.int32)))
        if len(kept) > 100:
            value, array = kept.pop(number * 31 % len(kept))
            assert bool((array == value).all())
    assert all(bool((array == value).all()) for value, array in kept)


def two_streams() -> None:
    """Memory that one stream freed is not written by another before the first is done."""
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    for number in range(10):
        with first:
            array = cupy.full(COUNT, number, cupy.int32)
            sleep(20_000_000)
            copy = array + 0
            del array
        with second:
            garbage = [cupy.full(COUNT, -1, cupy.int32) for _ in range(8)]
        first.synchronize()
        second.synchronize()
        with first:
            assert bool((copy == number).all()), number
            first.synchronize()
        del garbage


def ends_elsewhere() -> None:
    """An array that ends where another stream is current waits for that one, too."""
    side = cupy.cuda.Stream(non_blocking=True)
    for number in range(5):
        array = cupy.full(COUNT, number, cupy.int32)
        cupy.cuda.Stream.null.synchronize()
        with side:
            sleep(100_000_000)
            copy = array + 0
            del array
        garbage = [cupy.full(COUNT, -1, cupy.int32) for _ in range(8)]
        side.synchronize()
        assert bool((copy == number).all()), f"the memory was handed out too early, in round {number}"
        del garbage


def out_of_memory(pool: Pool) -> str:
    """An array that cannot be held raises MemoryError, and the next one is served."""
    before = pool.statistics().failures
    try:
        cupy.empty(1 << 42, cupy.uint8)
    except MemoryError as error:
        text = str(error)
    else:
        raise AssertionError("an array without memory")
    assert pool.statistics().failures == before + 1
    assert int(cupy.ones(1000).sum()) == 1000
    return text[:90]


def main() -> None:
    """Run all checks."""
    checks = Checks(f"cupy {cupy.__version__}")
    own = microseconds(lambda: cupy.empty(1000, cupy.float32), 20_000)
    warpheap.cupy.use_pool()
    pool = Pool.of_device(backend="cuda")

    def speed() -> str:
        ours = microseconds(lambda: cupy.empty(1000, cupy.float32), 20_000)
        assert ours <= 40 * own, f"cupy.empty {ours:.2f} us, CuPy's own pool {own:.2f} us"
        return f"cupy.empty {ours:.2f} us, {ours / own:.2f} times CuPy's own pool ({own:.2f} us)"

    checks.served("owned", lambda: owned(pool))
    checks.served("work", work)
    checks.served("churn", churn)
    checks.served("two_streams", two_streams)
    checks.served("ends_elsewhere", ends_elsewhere)
    checks.served("out_of_memory", lambda: out_of_memory(pool))
    checks.served("speed", speed)

    def goes_back() -> str:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)
        cupy.cuda.Device().synchronize()
        assert not pool.owns(cupy.empty(1000).data.ptr)
        before = pool.statistics().committed_bytes
        given_back = pool.trim()
        assert given_back > 0 and pool.statistics().committed_bytes == before - given_back
        return f"{given_back >> 20} of {before >> 20} MiB given back"

    checks.served("goes_back", goes_back)
    checks.end()


if __name__ == "__main__":
    main()
