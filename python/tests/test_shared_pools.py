# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of a pool in another process, on the library of the host."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator

import pytest
from conftest import environment

import warpheap
from warpheap.stream_pools import ImportedBlock, NotSupported, Pool, PoolError, library

MEBIBYTE = 1 << 20

pytestmark = pytest.mark.skipif(
    library.find_library("host") is None,
    reason="libwarpheap_pool_host.so is not built; the target warpheap_pool_host makes it",
)


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(backend="host", reserve_bytes=8 * MEBIBYTE, shared=True) as own:
        yield own


def elsewhere(program: str, *handles: bytes) -> str:
    """What a program in another process says; `handles` are those that it gets."""
    text = f"import numpy as np, warpheap\nhandles = {handles!r}\n{program}"
    ended = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, env=environment(), timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_class_is_of_the_package() -> None:
    assert warpheap.ImportedBlock is ImportedBlock


def test_another_process_reads_and_writes_the_same_bytes(pool: Pool) -> None:
    blocks = [pool.allocate(1000), pool.allocate(3 * MEBIBYTE)]
    for number, block in enumerate(blocks):
        ctypes.memset(block, 7 + number, 1000)
    program = """
for number, handle in enumerate(handles):
    with warpheap.ImportedBlock(handle, backend="host") as block:
        values = np.asarray(block)
        assert block.address == values.ctypes.data and block.bytes == values.size
        assert (values[:1000] == 7 + number).all()
        values[:1000] = 50 + number
        print(block.bytes)
"""
    said = elsewhere(program, *(pool.export(block) for block in blocks))
    assert [int(line) for line in said.split()] == [pool.block_bytes(block) for block in blocks]
    for number, block in enumerate(blocks):
        assert ctypes.string_at(block, 1000) == bytes([50 + number]) * 1000


def test_a_block_is_released_once_and_refused_afterwards(pool: Pool) -> None:
    program = """
import ctypes, gc
from warpheap.stream_pools import library

def released():
    memories, blocks = ctypes.c_uint64(), ctypes.c_uint64()
    library.load_library("host").imports(ctypes.byref(memories), ctypes.byref(blocks))
    return memories.value, blocks.value

for _ in range(3):
    assert released() == (0, 0)
    block = warpheap.ImportedBlock(handles[0], backend="host")
    again = warpheap.ImportedBlock(handles[0], backend="host")
    assert block.address == again.address
    assert released() == (1, 2)
    del again
    gc.collect()
    assert released() == (1, 1)
    np.asarray(block)[0] = 9
    block.close()
    block.close()
    assert block.closed and repr(block) == "ImportedBlock(closed)"
    try:
        block.address
    except ValueError as error:
        assert "the imported block is closed" in str(error)
    else:
        raise AssertionError("a closed block has an address")
"""
    elsewhere(program, pool.export(pool.allocate(64)))


def test_what_is_no_block_or_no_shared_pool_is_refused(pool: Pool) -> None:
    block = pool.allocate(100)
    with pytest.raises(ValueError, match="block"):
        pool.export(block + 256)
    pool.deallocate(block)
    with pytest.raises(ValueError, match="block"):
        pool.export(block)
    with Pool(backend="host", reserve_bytes=8 * MEBIBYTE) as other, pytest.raises(NotSupported, match="shared=True"):
        other.export(other.allocate(100))


def test_a_handle_is_whole_and_of_another_process(pool: Pool) -> None:
    handle = pool.export(pool.allocate(100))
    with pytest.raises(ValueError, match="process"):
        ImportedBlock(handle, backend="host")
    with pytest.raises(ValueError, match="192"):
        ImportedBlock(handle[:-1], backend="host")
    with pytest.raises(TypeError, match="of type str: give the bytes"):
        ImportedBlock("abc", backend="host")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="handle"):
        ImportedBlock(bytes(192), backend="host")
    with pytest.raises(TypeError, match="device is 'x'"):
        ImportedBlock(handle, device="x", backend="host")  # type: ignore[arg-type]


def test_memory_that_is_gone_is_refused() -> None:
    with Pool(backend="host", reserve_bytes=8 * MEBIBYTE, shared=True) as pool:
        handle = pool.export(pool.allocate(100))
    program = """
try:
    warpheap.ImportedBlock(handles[0], backend="host")
except (warpheap.stream_pools.PoolError, MemoryError) as error:
    print(error)
"""
    assert "given it back" in elsewhere("import warpheap.stream_pools\n" + program, handle)


def test_an_array_of_the_host_has_no_face_of_a_gpu(pool: Pool) -> None:
    program = "print(hasattr(warpheap.ImportedBlock(handles[0], backend='host'), '__cuda_array_interface__'))"
    assert elsewhere(program, pool.export(pool.allocate(100))) == "False\n"


def test_what_is_refused_is_told_in_words_of_python() -> None:
    with Pool(backend="host", reserve_bytes=1 << 20) as plain:
        block = plain.allocate(1)
        with pytest.raises(NotSupported, match=r"make the pool with shared=True$"):
            plain.export(block)


def test_peers_are_devices_that_are_there(pool: Pool) -> None:
    pool.allow_peer(0)
    with pytest.raises(PoolError, match="no device 1"):
        pool.allow_peer(1)
    with pytest.raises(ValueError, match="device"):
        pool.allow_peer(-1)
