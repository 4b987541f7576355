# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Pools where others take their memory from them: CuPy by a stand-in, numba-cuda and cuda.core as they are."""

import gc
import importlib
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import environment

import warpheap.cupy
from warpheap.errors import UsageError
from warpheap.stream_pools import Pool, PoolError
from warpheap.stream_pools.library import LIBRARIES, find_library, load_library

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
    monkeypatch.setattr(LIBRARIES, "load", lambda backend: load_library("host"))
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
        self.device = own.cupy.device
        self.ptr = own.take(size, self.device)

    def __del__(self) -> None:
        if self.ptr:
            self._own.give(self.ptr, self.device)


class FakeCupy:
    """The part of CuPy that hands out memory."""

    def __init__(self) -> None:
        self.device = 0
        self.stream = SimpleNamespace(ptr=0)
        self.streams: dict[int, Any] = {}  # current streams of GPUs that are not current
        self.allocator: Any = None
        self.cuda = SimpleNamespace(
            PythonFunctionAllocator=self._make,
            get_current_stream=self._stream_of,
            set_allocator=lambda allocator: setattr(self, "allocator", allocator),
        )

    def _stream_of(self, device: int = -1) -> Any:
        return self.stream if device in (-1, self.device) else self.streams[device]

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


def test_an_array_that_ends_while_another_gpu_is_current_is_of_its_own(cupy, as_on_a_gpu, monkeypatch) -> None:
    calls = spied(as_on_a_gpu, monkeypatch)
    warpheap.cupy.use_pool()
    cupy.stream = SimpleNamespace(ptr=7)
    array = cupy.allocator(1000)
    block = array.ptr
    cupy.streams[0], cupy.device, cupy.stream = SimpleNamespace(ptr=8), 1, SimpleNamespace(ptr=9)
    del array
    assert calls[1:] == [("note_use", block, 8), ("deallocate", block, 7)]


def in_a_thread(call: Any) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize(("ends_on", "noted"), [(2, []), (5, [5])])
def test_the_default_stream_of_another_thread_is_waited_for(cupy, as_on_a_gpu, monkeypatch, ends_on, noted) -> None:
    calls = spied(as_on_a_gpu, monkeypatch)
    warpheap.cupy.use_pool()
    cupy.stream = SimpleNamespace(ptr=2)
    kept: list[Any] = []
    in_a_thread(lambda: kept.append(cupy.allocator(1000)))
    block = kept[0].ptr
    cupy.stream = SimpleNamespace(ptr=ends_on)
    kept.clear()
    assert calls[1:] == [*(("note_use", block, stream) for stream in noted), ("deallocate", block, 0)]
    cupy.stream = SimpleNamespace(ptr=2)
    own = cupy.allocator(1000)
    block = own.ptr
    del own
    assert calls[-1] == ("deallocate", block, 2)


@pytest.mark.parametrize("call", ["note_use", "deallocate"])
def test_a_block_that_the_pool_refuses_to_take_back_stays(cupy, as_on_a_gpu, monkeypatch, call) -> None:
    blocks = warpheap.cupy._Blocks(as_on_a_gpu, cupy.cuda.get_current_stream)
    block = blocks.malloc(1000, 0)
    cupy.stream = SimpleNamespace(ptr=5)
    with monkeypatch.context() as patch:
        patch.setattr(as_on_a_gpu, call, lambda *words: (_ for _ in ()).throw(PoolError("no")))
        with pytest.raises(PoolError, match="no"):
            blocks.free(block, 0)
    assert as_on_a_gpu.statistics().live_blocks == 1
    blocks.free(block, 0)
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_a_linked_module_is_read_on_each_gpu(cupy, monkeypatch) -> None:
    made: list[Any] = []

    class FakeModule:
        def __init__(self, path: str) -> None:
            self.path = Path(path)
            made.append(self.path.read_bytes)

        def compile(self) -> None:
            assert self.path.read_bytes() == b"code"

    asked: list[dict[str, Any]] = []
    link = lambda source, **options: asked.append(options) or SimpleNamespace(code=bytearray(b"code"))  # noqa: E731
    monkeypatch.setattr(warpheap.cupy.cuda_core, "link", link)
    cupy.RawModule = FakeModule
    cupy.cuda.Device = lambda: SimpleNamespace(compute_capability="120")
    first = warpheap.cupy.linked_module("source", line="hot")
    second = warpheap.cupy.linked_module("source")
    assert [options["capability"] for options in asked] == [(12, 0)] * 2
    assert [options["line"] for options in asked] == ["hot", "device"]
    assert first.path == second.path and [path.name for path in first.path.parent.iterdir()] == [first.path.name]
    assert [read() for read in made] == [b"code"] * 2, "the file is there for the next GPU"


class EndingStream(SimpleNamespace):
    """A stream that tells its end."""

    def __init__(self, number: int, ended: list[int]) -> None:
        super().__init__(ptr=number, ended=ended)

    def __del__(self) -> None:
        self.ended.append(self.ptr)


def test_streams_of_arrays_stay_until_the_pool_has_forgotten_them(cupy, as_on_a_gpu, monkeypatch) -> None:
    ended: list[int] = []
    warpheap.cupy.use_pool()
    cupy.stream = EndingStream(5, ended)
    array = cupy.allocator(10)
    cupy.stream = SimpleNamespace(ptr=0)
    gc.collect()
    del array
    gc.collect()
    assert ended == []
    assert as_on_a_gpu.statistics().streams == 1
    forget = as_on_a_gpu._library.forget
    monkeypatch.setattr(
        as_on_a_gpu._library, "forget", lambda own, number: known.append((number, list(ended))) or forget(own, number)
    )
    known: list[Any] = []
    cupy.allocator = None
    gc.collect()
    assert known == [(5, [])], "the pool forgets the stream before it ends"
    assert as_on_a_gpu.statistics().streams == 0
    assert ended == [5]


def test_a_stream_with_the_number_of_a_forgotten_one_lives_as_long_as_the_pool_knows_it(cupy, as_on_a_gpu) -> None:
    warpheap.cupy.use_pool()
    cupy.stream = SimpleNamespace(ptr=5)  # an ExternalStream: its owner has the pool forget it, and destroys it
    cupy.allocator(1000)
    as_on_a_gpu.forget(cupy.stream)

    class Stream:
        ptr = 5

    ended: list[int] = []
    cupy.stream = Stream()
    weakref.finalize(cupy.stream, ended.append, 5)
    cupy.allocator(1000)
    cupy.stream = SimpleNamespace(ptr=0)
    gc.collect()
    assert ended == [], "the pool asks the driver about the stream"
    cupy.allocator = None
    gc.collect()
    assert ended == [5]


def test_a_stream_that_the_pool_cannot_forget_never_ends(cupy, as_on_a_gpu, monkeypatch) -> None:
    ended: list[int] = []
    stream = EndingStream(5, ended)
    warpheap.cupy.use_pool()
    cupy.stream = stream
    del stream
    cupy.allocator(10)
    cupy.stream = SimpleNamespace(ptr=0)
    monkeypatch.setattr(as_on_a_gpu, "forget", lambda stream: (_ for _ in ()).throw(PoolError("it is captured")))
    cupy.allocator = None
    gc.collect()
    assert ended == []


def test_default_streams_are_not_forgotten(cupy, as_on_a_gpu, monkeypatch) -> None:
    warpheap.cupy.use_pool()
    for number in (0, 1, 2):
        cupy.stream = SimpleNamespace(ptr=number)
        cupy.allocator(10)
    monkeypatch.setattr(as_on_a_gpu, "forget", lambda stream: pytest.fail(f"{stream} was forgotten"))
    cupy.allocator = None
    gc.collect()


def test_cupy_hears_that_there_is_no_memory(cupy, as_on_a_gpu) -> None:
    warpheap.cupy.use_pool()
    with pytest.raises(MemoryError, match="no memory for a block of"):
        cupy.allocator(1 << 40)
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_without_a_gpu_cupy_keeps_its_pool(cupy, monkeypatch) -> None:
    for_gpu = SimpleNamespace(device_available=lambda: 0, error_text=lambda: "there is no driver")
    monkeypatch.setattr(LIBRARIES, "load", lambda backend: for_gpu)
    with pytest.raises(UsageError, match="arrays of CuPy need a GPU, and no GPU answers: there is no driver"):
        warpheap.cupy.use_pool()
    assert cupy.allocator is None


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


def test_without_a_gpu_numba_keeps_its_manager(emm, monkeypatch) -> None:
    from numba.cuda.cudadrv import driver

    for_gpu = SimpleNamespace(device_available=lambda: 0, error_text=lambda: "there is no driver")
    monkeypatch.setattr(LIBRARIES, "load", lambda backend: for_gpu)
    monkeypatch.setattr(driver, "_memory_manager", None)
    with pytest.raises(UsageError, match="device arrays of Numba need a GPU, and no GPU answers: there is no driver"):
        emm.install()
    assert driver._memory_manager is None


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
    del memory
    gc.collect()
    assert as_on_a_gpu.statistics().live_blocks == 0


def test_free_memory_is_of_the_pool_and_what_others_leave(emm, as_on_a_gpu, monkeypatch) -> None:
    own = manager(emm)
    memory = own.memalloc(5000)
    figures = as_on_a_gpu.statistics()
    for left, room in ((1 << 50, figures.reserved_bytes - figures.committed_bytes), (1000, 1000)):
        answers = SimpleNamespace(cuMemGetInfo=lambda left=left: (left, 1 << 60))
        monkeypatch.setattr(emm.driver, "driver", answers)
        information = own.get_memory_info()
        assert information == (figures.committed_bytes - 5120 + room, 1 << 60)
    assert memory.size == 5000


def test_a_pointer_that_numba_refuses_leaves_no_block(emm, as_on_a_gpu, monkeypatch) -> None:
    def refuse(*words: Any, **more: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(emm, "MemoryPointer", refuse)
    with pytest.raises(RuntimeError, match="no"):
        manager(emm).memalloc(5000)
    assert as_on_a_gpu.statistics().live_blocks == 0


REMOVED = "import sys; sys.name_that_was_removed"
# A numba-cuda whose arrays in kernels cannot be imported, as 0.30.4 beside NumPy 2.5; all else of it can be.
LATE = {
    "cuda/bindings/driver.py": "CUdeviceptr = int",
    "numba/cuda/__init__.py": "HostOnlyCUDAMemoryManager = object; MemoryPointer = None",
    "numba/cuda/cudadrv/driver.py": "",
    "numba/cuda/np/arrayobj.py": REMOVED,
}


@pytest.mark.parametrize("files", [{"numba.py": "raise ImportError('none here')"}, {"numba.py": REMOVED}, LATE])
def test_numba_that_does_not_import_gets_one_clear_line(tmp_path, files) -> None:
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    text = (
        "from warpheap.errors import UsageError\n"
        "try:\n    import warpheap.emm\n"
        "except UsageError as error:\n    print(error)\n"
    )
    variables = environment()
    variables["PYTHONPATH"] = os.pathsep.join((str(tmp_path), variables["PYTHONPATH"]))
    shown = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True, env=variables)
    assert shown.stdout.startswith("warpheap.emm needs numba-cuda 0.30 with NumPy below 2.5, and found ")
    assert shown.stdout.endswith(": pip install 'numba-cuda>=0.30' 'numpy<2.5'\n")


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
