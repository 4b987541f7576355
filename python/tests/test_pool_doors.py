# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Pools where others take their memory from them: CuPy by a stand-in, numba-cuda and cuda.core as they are."""

import gc
import importlib
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import environment

import warpheap.cupy
from warpheap.errors import UsageError
from warpheap.stream_pools import Pool
from warpheap.stream_pools.library import find_library

pytestmark = pytest.mark.skipif(find_library("host") is None, reason="libwarpheap_pool_host.so is not built")


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(backend="host", reserve_bytes=64 << 20) as own:
        yield own


@pytest.fixture
def as_on_a_gpu(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """The pool of the process is this one, which says that it is on a GPU."""
    monkeypatch.setattr(Pool, "backend", "cuda")
    monkeypatch.setattr(Pool, "of_device", lambda device=None, backend=None: pool)
    return pool


def spied(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the library is called with from now on: the name, and numbers but that of the pool."""
    calls: list[tuple[Any, ...]] = []

    def spy(name: str, real: Any) -> Any:
        def call(own: int, *words: Any) -> None:
            real(own, *words)
            calls.append((name, *(word for word in words if isinstance(word, int))))

        return call

    monkeypatch.setattr(pool, "_take", spy("allocate", pool._take))
    monkeypatch.setattr(pool, "_give", spy("deallocate", pool._give))
    monkeypatch.setattr(pool._library, "note_use", spy("note_use", pool._library.note_use), raising=False)
    return calls


# --- CuPy -------------------------------------------------------------------------------------------------------------


class FakeArrayMemory:
    """What CuPy makes for an array: it calls the functions as `PythonFunctionAllocatorMemory` does."""

    def __init__(self, own: Any, size: int) -> None:
        self._own = own
        self.ptr = 0
        self.ptr = own.take(size, own.cupy.device)

    def __del__(self) -> None:
        if self.ptr:
            self._own.give(self.ptr, self._own.cupy.device)


class FakeCupy:
    """The part of CuPy that hands out memory."""

    def __init__(self) -> None:
        self.device = 0
        self.stream = SimpleNamespace(ptr=0)
        self.allocator: Any = None
        self.cuda = SimpleNamespace(
            PythonFunctionAllocator=self._make,
            get_current_stream=lambda: self.stream,
            set_allocator=lambda allocator: setattr(self, "allocator", allocator),
        )

    def _make(self, take: Any, give: Any) -> Any:
        own = SimpleNamespace(take=take, give=give, cupy=self)
        return SimpleNamespace(malloc=lambda size: FakeArrayMemory(own, size))


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)  # type: ignore[arg-type]
    return fake


def test_arrays_of_cupy_are_blocks_of_the_current_stream(cupy, as_on_a_gpu, monkeypatch) -> None:
    calls = spied(as_on_a_gpu, monkeypatch)
    warpheap.cupy.use_pool()
    cupy.stream = SimpleNamespace(ptr=7)
    array = cupy.allocator(1000)
    assert as_on_a_gpu.block_bytes(array.ptr) == 1024
    block = array.ptr
    del array
    assert calls == [("allocate", 1000, 0, 7), ("deallocate", block, 7)]
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_an_array_that_ends_on_another_stream_waits_for_both(cupy, as_on_a_gpu, monkeypatch) -> None:
    calls = spied(as_on_a_gpu, monkeypatch)
    warpheap.cupy.use_pool(as_on_a_gpu)
    array = cupy.allocator(1000)
    block = array.ptr
    cupy.stream = SimpleNamespace(ptr=9)
    del array
    assert calls[1:] == [("note_use", block, 9), ("deallocate", block, 0)]


def test_streams_of_arrays_stay(cupy, as_on_a_gpu) -> None:
    ended: list[int] = []

    class Stream(SimpleNamespace):
        def __del__(self) -> None:
            ended.append(self.ptr)

    warpheap.cupy.use_pool()
    cupy.stream = Stream(ptr=5)
    array = cupy.allocator(10)
    cupy.stream = SimpleNamespace(ptr=0)
    gc.collect()
    del array
    gc.collect()
    assert ended == []
    cupy.allocator = None
    gc.collect()
    assert ended == [5]


def test_cupy_hears_that_there_is_no_memory(cupy, as_on_a_gpu) -> None:
    warpheap.cupy.use_pool()
    with pytest.raises(MemoryError, match="no memory for a block of"):
        cupy.allocator(1 << 40)
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_a_pool_of_another_gpu_is_refused(cupy, as_on_a_gpu) -> None:
    warpheap.cupy.use_pool(as_on_a_gpu)
    cupy.device = 1
    with pytest.raises(ValueError, match="the pool is on GPU 0, and the array is to be on GPU 1"):
        cupy.allocator(10)


def test_a_pool_of_the_host_is_refused(cupy, pool) -> None:
    with pytest.raises(ValueError, match="make it with backend='cuda'"):
        warpheap.cupy.use_pool(pool)


# --- Numba ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def emm(as_on_a_gpu: Pool) -> Any:
    pytest.importorskip("numba.cuda.cudadrv.linkable_code", reason="numba-cuda is not installed")
    return importlib.import_module("warpheap.emm")


def manager(emm: Any) -> Any:
    made = emm.PoolMemoryManager(context=SimpleNamespace(device=SimpleNamespace(id=0)))
    made.initialize()
    return made


def test_numba_takes_the_manager(emm, monkeypatch) -> None:
    from numba.cuda.cudadrv import driver

    monkeypatch.setattr(driver, "_memory_manager", None)
    emm.install()
    emm.install()
    assert driver._memory_manager is emm.PoolMemoryManager
    assert emm._numba_memory_manager is emm.PoolMemoryManager


def test_numba_finds_the_manager_by_its_variable(emm) -> None:
    text = (
        "from numba.cuda.cudadrv import driver; driver._ensure_memory_manager(); "
        "print(driver._memory_manager.__module__)"
    )
    variables = environment() | {"NUMBA_CUDA_MEMORY_MANAGER": "warpheap.emm"}
    shown = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True, env=variables)
    assert shown.stdout.strip() == "warpheap.emm"


def test_numba_that_has_used_a_gpu_is_refused(emm, monkeypatch) -> None:
    from numba.cuda.cudadrv import driver

    monkeypatch.setattr(driver, "_memory_manager", driver.NumbaCUDAMemoryManager)
    with pytest.raises(UsageError, match=r"it has NumbaCUDAMemoryManager; call warpheap.emm.install\(\) first"):
        emm.install()


def test_memory_of_numba_is_of_the_pool(emm, as_on_a_gpu) -> None:
    own = manager(emm)
    memory = own.memalloc(5000)
    assert as_on_a_gpu.block_bytes(int(memory.handle if hasattr(memory, "handle") else memory.device_pointer)) == 5120
    assert memory.size == 5000
    information = own.get_memory_info()
    assert information.total == as_on_a_gpu.statistics().reserved_bytes
    assert information.free == information.total - 5120
    del memory
    gc.collect()
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_numba_hears_that_there_is_no_memory(emm) -> None:
    with pytest.raises(MemoryError, match="no memory"):
        manager(emm).memalloc(1 << 40)


def test_numba_cannot_hand_a_block_to_another_process(emm) -> None:
    own = manager(emm)
    with pytest.raises(NotImplementedError, match="copy it to the host"):
        own.get_ipc_handle(own.memalloc(10))


# --- cuda.core --------------------------------------------------------------------------------------------------------


@pytest.fixture
def cuda_core() -> Any:
    pytest.importorskip("cuda.core", reason="cuda.core is not installed")
    return importlib.import_module("warpheap.cuda_core.buffers")


def test_a_buffer_of_cuda_core_is_a_block(cuda_core, pool) -> None:
    from cuda.core import MemoryResource

    resource = cuda_core.PoolResource(pool)
    assert isinstance(resource, MemoryResource)
    buffer = resource.allocate(5000, stream=None)
    assert pool.block_bytes(int(buffer.handle)) == 5120
    assert (buffer.size, buffer.memory_resource, buffer.device_id) == (5000, resource, 0)
    assert (buffer.is_device_accessible, buffer.is_host_accessible) == (False, True)
    buffer.close(None)
    assert pool.statistics().live_blocks == 0
    resource.allocate(10, stream=None)
    gc.collect()
    assert pool.statistics().live_blocks == 0


def test_cuda_core_hears_that_there_is_no_memory(cuda_core, pool) -> None:
    with pytest.raises(MemoryError, match="no memory"):
        cuda_core.PoolResource(pool).allocate(1 << 40, stream=None)


def test_a_buffer_that_cuda_core_refuses_leaves_no_block(cuda_core, pool, monkeypatch) -> None:
    def refuse(*words: Any, **more: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(cuda_core, "Buffer", SimpleNamespace(from_handle=refuse))
    with pytest.raises(RuntimeError, match="no"):
        cuda_core.PoolResource(pool).allocate(10, stream=None)
    assert pool.statistics().live_blocks == 0


def test_the_resource_is_of_the_gpu_that_was_named(cuda_core, as_on_a_gpu) -> None:
    assert cuda_core.PoolResource().pool is as_on_a_gpu
    resource = cuda_core.PoolResource(as_on_a_gpu, device=0)
    assert (resource.device_id, resource.is_device_accessible, resource.is_host_accessible) == (0, True, False)
    assert resource.is_managed is False
    with pytest.raises(ValueError, match="give one of them"):
        cuda_core.PoolResource(as_on_a_gpu, device=1)


def test_the_stream_of_a_buffer_reaches_the_pool(cuda_core, pool, monkeypatch) -> None:
    calls = spied(pool, monkeypatch)
    resource = cuda_core.PoolResource(pool)
    stream = SimpleNamespace(__cuda_stream__=lambda: (0, 7))
    monkeypatch.setattr(cuda_core, "Buffer", SimpleNamespace(from_handle=lambda block, *words, **more: block))
    block = resource.allocate(100, stream=stream)
    resource.deallocate(block, 100, stream=stream)
    assert calls == [("allocate", 100, 0, 7), ("deallocate", block, 7)]
