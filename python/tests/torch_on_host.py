# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch over a pool of the host, on a CUDA runtime without a GPU: see test_torch_real.py. Ends with status 0."""

import gc
import sys
from typing import Any

import torch

import warpheap.torch
from warpheap import Pool
from warpheap.stream_pools.library import load_library

warpheap.torch.load_for_gpu = lambda what: load_library("host")
C = torch._C


def live(pool: Pool) -> dict[int, tuple[int, int | None]]:
    return {each.address: (each.bytes, each.stream) for each in pool.snapshot().segments if each.state == "live"}


def raised(kind: type[Exception], call: Any, *words: Any) -> str:
    try:
        call(*words)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def empty(count: int) -> Any:
    return torch.empty(count, device="cuda")


def blocks(pool: Pool) -> None:
    """Tensors are blocks of their streams, and go back."""
    tensor = empty(1000)
    assert live(pool) == {tensor.data_ptr(): (4096, 0)}
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        other = empty(300)
    assert live(pool)[other.data_ptr()] == (1280, stream.cuda_stream)
    other.record_stream(torch.cuda.current_stream())
    tensor.record_stream(stream)
    del tensor, other
    assert live(pool) == {}
    assert empty(0).data_ptr() == 0


def out_of_memory(pool: Pool) -> None:
    """What cannot be held is PyTorch's own error."""
    text = raised(torch.OutOfMemoryError, empty, 1 << 42)
    assert text.startswith("CUDA out of memory. Tried to allocate 17592186044416 bytes on GPU 0"), text
    assert "no memory for a block of" in text
    assert live(pool) == {}


def out_of_memory_with_a_graph_that_ended(pool: Pool) -> None:
    """Memory of private pools that nothing uses serves when there is no other."""
    torch.cuda.reset_accumulated_memory_stats()
    pool.limit(1 << 30)
    most = (1 << 30) // 8 * 7
    C._cuda_beginAllocateCurrentThreadToPool(0, (0, 77))
    tensor = torch.empty(most, device="cuda", dtype=torch.uint8)
    C._cuda_endAllocateToPool(0, (0, 77))
    del tensor
    assert "no memory" in raised(torch.OutOfMemoryError, lambda: torch.empty(most, device="cuda", dtype=torch.uint8))
    C._cuda_releasePool(0, (0, 77))
    tensor = torch.empty(most, device="cuda", dtype=torch.uint8)
    figures = torch.cuda.memory_stats()
    assert (figures["num_ooms"], figures["num_alloc_retries"]) == (1, 1), figures
    pool.limit(None)
    assert pool.statistics().captures == 0
    del tensor


def figures(pool: Pool) -> None:
    """PyTorch's figures are of its own tensors, and what it has reserved is the pool's."""
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.reset_accumulated_memory_stats()
    tensor = empty(1000)
    gone = empty(5000)
    del gone
    stats = torch.cuda.memory_stats()
    assert [stats[f"allocated_bytes.all.{each}"] for each in ("current", "peak", "allocated", "freed")] == [
        4096,
        4096 + 20224,
        4096 + 20224,
        20224,
    ]
    assert [stats[f"requested_bytes.all.{each}"] for each in ("current", "peak", "allocated", "freed")] == [
        4000,
        24000,
        24000,
        20000,
    ]
    assert [stats[f"allocation.all.{each}"] for each in ("current", "peak", "allocated", "freed")] == [1, 2, 2, 1]
    assert torch.cuda.memory_reserved() == pool.statistics().committed_bytes > 0
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == 4096
    assert torch.cuda.memory_stats()["requested_bytes.all.peak"] == 4000
    torch.cuda.reset_accumulated_memory_stats()
    assert torch.cuda.memory_stats()["requested_bytes.all.allocated"] == 0
    assert "4096 B" in torch.cuda.memory_summary()
    del tensor
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == pool.statistics().committed_bytes == 0


def snapshot(pool: Pool) -> None:
    """A snapshot has each tensor where it lies, and those of one private pool if that is asked for."""
    tensors = [empty(count) for count in (100, 1000, 10_000)]
    found = {}
    for segment in torch.cuda.memory_snapshot():
        at = segment["address"]
        for block in segment["blocks"]:
            found[at] = (block["size"], block["requested_size"], block["state"], segment["segment_pool_id"])
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]
    sizes = {each.data_ptr(): each.numel() * 4 for each in tensors}
    assert found == {at: ((size + 255) // 256 * 256, size, "active_allocated", (0, 0)) for at, size in sizes.items()}, (
        found
    )
    own = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(own):
        inner = empty(2000)
    assert own.use_count() == 1
    assert [each["address"] for each in own.snapshot()] == [inner.data_ptr()]
    assert own.id in {each["segment_pool_id"] for each in torch.cuda.memory_snapshot()}
    outer = empty(2000)
    assert C._cuda_checkPoolLiveAllocations(0, own.id, {inner.data_ptr()})
    del inner
    assert C._cuda_checkPoolLiveAllocations(0, own.id, set())
    del own, outer
    gc.collect()
    torch.cuda.empty_cache()
    assert pool.statistics().captures == 0


def checkpoints(pool: Pool) -> None:
    """A checkpoint makes the tensors of its time live again, at their places."""
    name = (0, 99)
    C._cuda_beginAllocateCurrentThreadToPool(0, name)
    first, second = empty(100), empty(1000)
    state = C._cuda_getCheckpointState(0, name)
    places = {first.data_ptr(), second.data_ptr()}
    at = second.data_ptr()
    del second
    again = empty(800)
    assert again.data_ptr() == at
    stale = [each.untyped_storage()._cdata for each in (first, again)]
    C._cuda_setCheckpointPoolState(0, state, stale, [])
    assert C._cuda_checkPoolLiveAllocations(0, name, places)
    C._cuda_endAllocateToPool(0, name)
    del first, again  # which end nothing any more
    assert C._cuda_checkPoolLiveAllocations(0, name, places)
    for place in places:
        C._cuda_cudaCachingAllocator_raw_delete(place)
    assert torch.cuda.memory_allocated() == 0
    assert pool.statistics().live_blocks == 2  # held
    del state
    gc.collect()
    assert pool.statistics().live_blocks == 0
    C._cuda_releasePool(0, name)
    torch.cuda.empty_cache()
    assert pool.statistics().captures == 0


def memory_fraction(pool: Pool) -> None:
    """A fraction of the memory limits the pool, and all of it limits it no more."""
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.0)
    count = pool.statistics().committed_bytes + (1 << 20)
    assert "most_bytes" in raised(torch.OutOfMemoryError, empty, count)
    torch.cuda.set_per_process_memory_fraction(1.0)
    assert empty(count).numel() == count


def refusals(pool: Pool) -> None:
    """What is not served says so."""
    assert "not recorded" in raised(NotImplementedError, torch.cuda.memory._record_memory_history)
    torch.cuda.memory._record_memory_history(None)
    assert C._cuda_isHistoryEnabled() is False
    assert "does not serve others" in raised(NotImplementedError, lambda: torch.cuda.MemPool(use_on_oom=True))
    assert "kept whole" in raised(NotImplementedError, lambda: torch.cuda.MemPool(no_split=True))
    assert "nothing uses" in raised(RuntimeError, C._cuda_releasePool, 0, (0, 12345))
    allocator = torch.cuda.memory.CUDAPluggableAllocator(
        str(load_library("host").path), "wh_pool_torch_malloc", "abort"
    )
    assert "no other one" in raised(NotImplementedError, lambda: torch.cuda.MemPool(allocator.allocator()))


if __name__ == "__main__":
    warpheap.torch.install(sys.argv[1])
    of_process = Pool.of_device(0, backend="host")
    if sys.argv[1] == "full":
        assert torch.cuda.get_allocator_backend() == "warpheap"
        for check in (
            blocks,
            out_of_memory,
            figures,
            snapshot,
            checkpoints,
            refusals,
            memory_fraction,
            out_of_memory_with_a_graph_that_ended,
        ):
            check(of_process)
            print(check.__name__, flush=True)
    else:
        for check in (blocks, out_of_memory):
            check(of_process)
            print(check.__name__, flush=True)
    torch.cuda.empty_cache()
    assert of_process.statistics().committed_bytes == 0
