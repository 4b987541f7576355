# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Checks cuda.core over a pool, on a machine with a GPU: pool_cuda_core.py. Its status is 1 if something is wrong."""

import ctypes
from typing import Any

from checks import Checks, microseconds
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource

import warpheap.cuda_core
from warpheap import Pool


def blocks(device: Any, stream: Any, pool: Pool) -> None:
    """Buffers are blocks of the pool, and go back to it when they are closed or end."""
    before = pool.statistics().live_blocks
    buffer = device.allocate(5000, stream=stream)
    assert isinstance(buffer, Buffer) and buffer.size == 5000
    assert pool.block_bytes(int(buffer.handle)) == 5120
    assert (buffer.is_device_accessible, buffer.is_host_accessible, buffer.device_id) == (True, False, device.device_id)
    buffer.close(stream)
    assert pool.statistics().live_blocks == before
    forgotten = device.allocate(10, stream=stream)
    assert pool.statistics().live_blocks == before + 1
    del forgotten
    assert pool.statistics().live_blocks == before


def copies(device: Any, stream: Any) -> None:
    """What is written to a buffer is read from its copy."""
    source, target = (device.allocate(1 << 20, stream=stream) for _ in range(2))
    other = device.create_stream()
    for value in (7, 9):
        source.fill(value, stream=stream)
        target.copy_from(source, stream=stream)
        kept = device.allocate(1 << 20, stream=other)
        kept.fill(0, stream=other)
        stream.sync()
        other.sync()
        assert bytes_of(target, stream)[:3] == bytes([value] * 3)
        kept.close(other)
    source.close(stream)
    target.close(stream)


def bytes_of(buffer: Any, stream: Any) -> bytes:
    """The contents of a buffer, on the host."""
    here = LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(here, stream=stream)
    stream.sync()
    return ctypes.string_at(int(here.handle), buffer.size)


def out_of_memory(device: Any, stream: Any) -> str:
    """A buffer that cannot be held raises MemoryError, and the next one is served."""
    try:
        device.allocate(1 << 42, stream=stream)
    except MemoryError as error:
        text = str(error)
    else:
        raise AssertionError("a buffer without memory")
    device.allocate(1000, stream=stream).close(stream)
    return text[:90]


def main() -> None:
    """Run all checks."""
    checks = Checks("cuda.core")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    resource = warpheap.cuda_core.PoolResource(device=0)
    device.memory_resource = resource
    checks.served("blocks", lambda: blocks(device, stream, resource.pool))
    checks.served("copies", lambda: copies(device, stream))
    checks.served("out_of_memory", lambda: out_of_memory(device, stream))

    def speed() -> str:
        taken = microseconds(lambda: device.allocate(4000, stream=stream).close(stream), 10_000)
        return f"allocate and close {taken:.2f} us"

    checks.served("speed", speed)
    checks.end()


if __name__ == "__main__":
    main()
