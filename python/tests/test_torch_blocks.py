# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks that warpheap.torch keeps for PyTorch, on a pool of the host: private pools and checkpoints."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_ulonglong, c_void_p
from pathlib import Path
from typing import Any

import pytest

from warpheap.stream_pools import Pool
from warpheap.stream_pools.library import find_library

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
BUILT = find_library("host")
KIBIBYTE = 1 << 10

pytestmark = [
    pytest.mark.skipif(BUILT is None, reason="libwarpheap_pool_host.so is not built"),
    pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler was found"),
]

_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "make": (c_void_p, (c_char_p, c_void_p)),
    "end": (None, (c_void_p,)),
    "allocate": (c_void_p, (c_void_p, c_size_t, c_void_p)),
    "deallocate": (c_int, (c_void_p, c_void_p)),
    "note_use": (c_int, (c_void_p, c_void_p, c_void_p)),
    "requested": (c_size_t, (c_void_p, c_void_p)),
    "has": (c_int, (c_void_p, c_void_p)),
    "begin": (c_int, (c_void_p, c_ulonglong, c_void_p)),
    "end_pool": (c_int, (c_void_p, c_ulonglong)),
    "add_use": (None, (c_void_p, c_ulonglong)),
    "remove_use": (c_int, (c_void_p, c_ulonglong)),
    "uses": (c_size_t, (c_void_p, c_ulonglong)),
    "collect": (c_int, (c_void_p,)),
    "waits": (c_int, (c_void_p,)),
    "are_live": (c_int, (c_void_p, c_ulonglong, POINTER(c_void_p), c_size_t)),
    "take": (c_void_p, (c_void_p, c_ulonglong)),
    "restore": (c_size_t, (c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_size_t))),
    "forget": (None, (c_void_p, c_void_p)),
    "entries": (c_size_t, (c_void_p, POINTER(c_uint64))),
    "counts": (None, (c_void_p, POINTER(c_uint64))),
    "reset_peak": (None, (c_void_p,)),
    "routed": (c_int, (c_void_p,)),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    file = tmp_path_factory.mktemp("probe") / "probe.so"
    includes = [f"-I{REPOSITORY / 'include'}", f"-I{REPOSITORY / 'python/warpheap/torch'}"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    source = HERE / "torch_blocks_probe.cpp"
    command = ["c++", "-std=c++20", "-O1", "-g", "-fPIC", "-shared", *warnings, *includes, source, "-o", file, "-ldl"]
    subprocess.run([str(word) for word in command], check=True)
    loaded = ctypes.CDLL(str(file))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, f"probe_{name}")
        function.restype = result
        function.argtypes = arguments
    return loaded


class Blocks:
    """`device_blocks` over a pool of the host."""

    def __init__(self, probe: ctypes.CDLL, pool: Pool) -> None:
        self.pool = pool
        self._probe = probe
        self.own = probe.probe_make(str(BUILT).encode(), pool._address)
        assert self.own

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._probe, f"probe_{name}")
        return lambda *words: function(self.own, *words)

    def restored(self, checkpoint: int) -> tuple[set[int], set[int]]:
        room, both = (c_void_p * 1000)(), c_size_t()
        freed = self.restore(checkpoint, room, byref(both))
        return {room[i] for i in range(freed)}, {room[i] for i in range(freed, both.value)}

    def live(self, name: int, *blocks: int) -> bool:
        return bool(self.are_live(name, (c_void_p * len(blocks))(*blocks), len(blocks)))

    def listed(self) -> list[tuple[int, ...]]:
        room = (c_uint64 * 6000)()
        return [tuple(room[6 * i : 6 * i + 6]) for i in range(self.entries(room))]

    def counted(self) -> list[int]:
        room = (c_uint64 * 14)()
        self.counts(room)
        return list(room)


@pytest.fixture
def blocks(probe: ctypes.CDLL) -> Iterator[Blocks]:
    with Pool(backend="host", reserve_bytes=256 << 20) as pool:
        made = Blocks(probe, pool)
        yield made
        made.end()


OK, INVALID = 0, 1


def test_what_is_no_library_of_pools_is_refused(probe: ctypes.CDLL) -> None:
    assert not probe.probe_make(b"/nowhere/lib.so", None)
    assert not probe.probe_make(b"libc.so.6", None)


def test_blocks_are_known_until_they_are_taken_back(blocks: Blocks) -> None:
    block = blocks.allocate(1000, 5)
    assert (blocks.has(block), blocks.requested(block)) == (1, 1000)
    assert blocks.listed() == [(block, 1024, 1000, 5, 0, 1)]
    assert blocks.pool.block_bytes(block) == 1024
    assert blocks.deallocate(block) == OK
    assert blocks.deallocate(block) == INVALID
    assert (blocks.has(block), blocks.requested(block), blocks.listed()) == (0, 0, [])
    assert blocks.pool.statistics().live_blocks == 0


def test_requests_are_counted(blocks: Blocks) -> None:
    first, second = blocks.allocate(1000, 0), blocks.allocate(10, 0)
    blocks.deallocate(first)
    blocks.allocate(20, 0)
    assert blocks.counted() == [30, 1010, 1030, 1000, 512, 1280, 1536, 1024, 2, 2, 3, 1, 0, 0]
    blocks.reset_peak()
    assert blocks.counted()[1::4][:3] == [30, 512, 2]
    blocks.deallocate(second)


@pytest.mark.parametrize("size", [1, 256, 257, 1000, 5000])
def test_a_block_is_listed_with_its_size_in_the_pool(blocks: Blocks, size: int) -> None:
    block = blocks.allocate(size, 0)
    assert blocks.listed() == [(block, blocks.pool.block_bytes(block), size, 0, 0, 1)]


def test_a_refused_request_leaves_nothing(blocks: Blocks) -> None:
    assert blocks.allocate(1 << 40, 0) is None
    assert blocks.listed() == []
    assert blocks.counted() == [0] * 14


def test_uses_of_other_streams_reach_the_pool(blocks: Blocks) -> None:
    block = blocks.allocate(1000, 5)
    assert blocks.note_use(block, 6) == OK
    assert blocks.note_use(block, 5) == OK
    assert blocks.note_use(block + 256, 6) == OK  # not a block: ignored, as PyTorch does
    assert blocks.deallocate(block) == OK


def test_a_private_pool_serves_the_streams_that_belong(blocks: Blocks) -> None:
    assert blocks.routed() == 0
    assert blocks.begin(4, 9) == OK
    assert blocks.routed() == 1
    inside, outside = blocks.allocate(1000, 9), blocks.allocate(1000, 8)
    assert blocks.end_pool(4) == OK
    after = blocks.allocate(1000, 9)
    assert blocks.routed() == 0
    pools = {entry[0]: entry[4] for entry in blocks.listed()}
    assert pools == {inside: 4, outside: 0, after: 0}
    assert blocks.live(4, inside)
    assert not blocks.live(4, inside, outside)
    assert not blocks.live(4)
    assert not blocks.live(4, outside)
    blocks.deallocate(inside)
    assert blocks.live(4)
    assert blocks.allocate(1000, 9) != inside  # the memory stays private


def test_a_name_that_is_begun_is_refused_and_counts_nothing(blocks: Blocks) -> None:
    assert blocks.begin(4, 9) == OK
    assert blocks.begin(4, 8) == INVALID
    assert blocks.uses(4) == 1
    assert blocks.end_pool(4) == OK
    assert blocks.end_pool(4) == INVALID


def test_memory_without_uses_waits_to_be_collected(blocks: Blocks) -> None:
    blocks.add_use(4)  # as a MemPool does
    blocks.begin(4, 9)
    blocks.deallocate(blocks.allocate(1000, 9))
    assert blocks.remove_use(4) == 1
    assert blocks.remove_use(4) == 1
    assert blocks.remove_use(4) == 0
    assert blocks.collect() == 0  # a stream may be captured
    blocks.end_pool(4)
    assert blocks.pool.statistics().private_bytes > 0
    assert blocks.collect() == 1
    assert blocks.waits() == 1
    assert blocks.collect() == 0
    figures = blocks.pool.statistics()
    assert (figures.private_bytes, figures.captures) == (0, 0)


def test_memory_with_a_use_is_not_collected(blocks: Blocks) -> None:
    for _ in range(2):
        blocks.begin(4, 9)
        blocks.end_pool(4)
    assert blocks.uses(4) == 2
    blocks.remove_use(4)
    assert blocks.collect() == 0
    assert blocks.pool.statistics().captures == 1
    blocks.remove_use(4)
    assert blocks.collect() == 1
    assert blocks.pool.statistics().captures == 0
    blocks.begin(4, 9)  # the name can be used anew
    assert blocks.uses(4) == 1


def test_a_checkpoint_is_restored_after_its_blocks_were_freed(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept, gone = blocks.allocate(1000, 9), blocks.allocate(3000, 9)
    blocks.deallocate(gone)
    taken = blocks.take(4)
    assert blocks.deallocate(kept) == OK
    assert blocks.has(kept) == 0
    assert blocks.deallocate(kept) == INVALID
    assert blocks.counted()[12:] == [1, 1024]
    blocks.reset_peak()
    assert blocks.counted()[4:6] == [0, 0], "what is held is in no figure of PyTorch's"
    assert blocks.pool.block_bytes(kept) == 1024  # held
    other = blocks.allocate(64 * KIBIBYTE, 9)
    assert blocks.live(4, other)
    assert blocks.restored(taken) == ({other}, {kept})
    assert blocks.live(4, kept)
    assert blocks.requested(kept) == 1000
    assert blocks.pool.block_bytes(other) == 0
    assert blocks.counted()[12:] == [0, 0]
    blocks.forget(taken)
    assert blocks.deallocate(kept) == OK
    assert blocks.pool.statistics().live_blocks == 0


def test_what_is_live_when_a_checkpoint_is_restored_is_in_both_lists(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept = blocks.allocate(1000, 9)
    taken = blocks.take(4)
    assert blocks.restored(taken) == ({kept}, {kept})
    assert blocks.live(4, kept)
    assert blocks.counted()[0] == 1000
    blocks.forget(taken)


def test_held_memory_is_handed_out_again(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept = blocks.allocate(4 * KIBIBYTE, 9)
    taken = blocks.take(4)
    blocks.deallocate(kept)
    assert blocks.allocate(2 * KIBIBYTE, 9) != kept  # more than half would be unused
    assert blocks.allocate(4 * KIBIBYTE, 8) != kept  # another stream
    assert blocks.allocate(3 * KIBIBYTE, 9) == kept
    assert blocks.requested(kept) == 3 * KIBIBYTE
    assert blocks.allocate(3 * KIBIBYTE, 9) != kept
    freed, live = blocks.restored(taken)
    assert kept in freed and live == {kept}
    assert blocks.requested(kept) == 4 * KIBIBYTE
    blocks.forget(taken)


def test_held_memory_that_other_streams_use_is_not_handed_out(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept = blocks.allocate(4 * KIBIBYTE, 9)
    assert blocks.note_use(kept, 7) == OK
    taken = blocks.take(4)
    blocks.deallocate(kept)
    assert blocks.allocate(4 * KIBIBYTE, 9) != kept
    blocks.forget(taken)


def test_two_checkpoints_hold_a_block_until_both_end(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept = blocks.allocate(1000, 9)
    first, second = blocks.take(4), blocks.take(4)
    blocks.deallocate(kept)
    blocks.forget(first)
    assert blocks.pool.block_bytes(kept) == 1024
    assert blocks.restored(second) == (set(), {kept})
    blocks.deallocate(kept)
    blocks.forget(second)
    assert blocks.pool.block_bytes(kept) == 0
    assert blocks.listed() == []
    assert blocks.counted() == [0, 1000, 2000, 2000, 0, 1024, 2048, 2048, 0, 1, 2, 2, 0, 0]


def test_a_pool_with_a_checkpoint_can_be_released(blocks: Blocks) -> None:
    blocks.begin(4, 9)
    kept = blocks.allocate(1000, 9)
    taken = blocks.take(4)
    blocks.deallocate(kept)
    blocks.end_pool(4)
    blocks.remove_use(4)
    assert blocks.collect() == 1
    blocks.forget(taken)
    assert blocks.pool.statistics().live_blocks == 0
    assert blocks.collect() == 0
