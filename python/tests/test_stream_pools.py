# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap.Pool` on the library of the host."""

import ctypes
import gc
import itertools
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import environment

import warpheap
from warpheap.errors import UsageError
from warpheap.native.arguments import stream_number
from warpheap.stream_pools import NotSupported, Pool, PoolError, library
from warpheap.stream_pools.library import Library, find_library

REPOSITORY = Path(__file__).parents[2]
MEBIBYTE = 1 << 20
BUILT = find_library("host")

pytestmark = pytest.mark.skipif(
    BUILT is None,
    reason="libwarpheap_pool_host.so is not built; the target warpheap_pool_host makes it",
)


def made(**options: Any) -> Pool:
    return Pool(**{"backend": "host", "reserve_bytes": 256 * MEBIBYTE, **options})


@pytest.fixture
def pool() -> Iterator[Pool]:
    with made() as own:
        yield own


# --- Blocks -----------------------------------------------------------------------------------------------------------


def test_the_class_is_of_the_package() -> None:
    assert warpheap.Pool is Pool


def test_blocks_lie_apart_and_come_back(pool: Pool) -> None:
    sizes = [1, 100, 256, 257, 5000, MEBIBYTE] * 20
    blocks = [pool.allocate(size, number % 3) for number, size in enumerate(sizes)]
    assert all(block % 256 == 0 and pool.owns(block) for block in blocks)
    for block, size in zip(blocks, sizes, strict=True):
        ctypes.memset(block, size % 251, size)
    order = sorted(zip(blocks, sizes, strict=True))
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(order))
    rounded = [(size + 255) // 256 * 256 for size in sizes]
    assert [pool.block_bytes(block) for block in blocks] == rounded
    figures = pool.statistics()
    assert (figures.live_blocks, figures.live_bytes) == (len(sizes), sum(rounded))
    assert figures.streams == 3
    for number, block in enumerate(blocks):
        pool.deallocate(block, number % 3)
    figures = pool.statistics()
    assert (figures.live_blocks, figures.live_bytes) == (0, 0)
    assert figures.allocations == figures.deallocations == len(sizes)
    assert figures.allocated_bytes == figures.deallocated_bytes == sum(rounded)
    assert pool.block_bytes(blocks[0]) == 0


def test_a_block_lies_at_its_alignment(pool: Pool) -> None:
    pool.allocate(256)
    assert pool.allocate(256, None, 1 << 16) % (1 << 16) == 0


def test_no_bytes_are_a_block(pool: Pool) -> None:
    assert pool.block_bytes(pool.allocate(0)) == 256


def test_a_stream_finds_its_memory_again(pool: Pool) -> None:
    block = pool.allocate(5000, 1)
    pool.deallocate(block, 1)
    assert pool.allocate(5000, 1) == block


def test_a_pool_without_memory_says_so_and_serves_on() -> None:
    with made(reserve_bytes=64 * MEBIBYTE) as small:
        block = small.allocate(40 * MEBIBYTE)
        with pytest.raises(MemoryError, match="no memory for a block of"):
            small.allocate(40 * MEBIBYTE)
        assert small.statistics().failures == 1
        small.deallocate(block)
        assert small.allocate(40 * MEBIBYTE)


def test_peaks_are_kept_and_reset(pool: Pool) -> None:
    block = pool.allocate(MEBIBYTE)
    pool.deallocate(block)
    assert (pool.statistics().peak_live_bytes, pool.statistics().peak_live_blocks) == (MEBIBYTE, 1)
    pool.reset_peaks()
    assert (pool.statistics().peak_live_bytes, pool.statistics().peak_live_blocks) == (0, 0)


def test_memory_goes_back_but_for_what_is_kept() -> None:
    with made(piece_bytes=2 * MEBIBYTE, span_bytes=2 * MEBIBYTE) as pool:
        pool.deallocate(pool.allocate(64 * MEBIBYTE))
        committed = pool.statistics().committed_bytes
        assert committed >= 64 * MEBIBYTE
        given_back = pool.trim(16 * MEBIBYTE)
        assert committed - given_back == pool.statistics().committed_bytes >= 16 * MEBIBYTE
        assert pool.trim() > 0
        assert pool.statistics().committed_bytes == 0


def test_a_limit_holds_and_moves_free_memory() -> None:
    with made(piece_bytes=2 * MEBIBYTE, span_bytes=2 * MEBIBYTE) as pool:
        pool.limit(16 * MEBIBYTE)
        blocks = [pool.allocate(2 * MEBIBYTE) for _ in range(8)]
        with pytest.raises(MemoryError, match="most_bytes"):
            pool.allocate(1)
        for block in blocks[::2]:
            pool.deallocate(block)
        pool.deallocate(pool.allocate(6 * MEBIBYTE))
        assert pool.statistics().peak_committed_bytes <= 16 * MEBIBYTE
        pool.limit(None)
        pool.deallocate(pool.allocate(20 * MEBIBYTE))
        with pytest.raises(ValueError):
            pool.limit(-1)


def test_a_snapshot_has_all_addresses(pool: Pool) -> None:
    blocks = {pool.allocate(1000, 5): 1024, pool.allocate(MEBIBYTE, 6): MEBIBYTE}
    taken = pool.snapshot()
    assert taken.granule_bytes == 256
    at = taken.address
    for each in taken.segments:
        assert each.address == at
        at += each.bytes
    assert at == taken.address + taken.reserved_bytes
    live = {each.address: each for each in taken.segments if each.state == "live"}
    assert {address: each.bytes for address, each in live.items()} == blocks
    assert [each.stream for each in live.values()] == [5, 6]
    assert {each.state for each in taken.segments} == {"live", "free", "absent"}


def test_a_snapshot_that_grows_meanwhile_is_asked_for_again(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [pool.allocate(1000, stream) for stream in range(300)]
    real, calls = pool._library.snapshot, []

    def grows(own: int, buffer: Any, room: int, needed: Any) -> None:
        calls.append(room)
        real(own, buffer, room, needed)
        if buffer is None:
            needed._obj.value = 10  # what was needed before the others allocated

    monkeypatch.setattr(pool._library, "snapshot", grows, raising=False)
    assert sum(each.state == "live" for each in pool.snapshot().segments) == len(kept)
    assert len(calls) == 3


# --- Streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "number"),
    [
        (None, 0),
        (7, 7),
        (SimpleNamespace(ptr=7), 7),
        (SimpleNamespace(cuda_stream=7), 7),
        (SimpleNamespace(handle=ctypes.c_void_p(7)), 7),
        (SimpleNamespace(handle=ctypes.c_void_p(0)), 0),
        (SimpleNamespace(handle=SimpleNamespace(value=7)), 7),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 7), handle=8), 7),
    ],
)
def test_streams_of_each_library_are_taken(stream: Any, number: int) -> None:
    assert stream_number(stream) == number


@pytest.mark.parametrize(
    ("stream", "error", "text"),
    [
        ("s", TypeError, "a stream of CUDA or its number"),
        (object(), TypeError, "a stream of CUDA"),
        (-1, ValueError, "stream is -1"),
        (2**64, ValueError, "not negative"),
    ],
)
def test_what_is_no_stream_is_refused(stream: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        stream_number(stream)


def test_a_noted_use_reaches_the_library(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    real, noted = pool._library.note_use, []

    def note(*words: int) -> None:
        real(*words)
        noted.append(words)

    monkeypatch.setattr(pool._library, "note_use", note, raising=False)
    block = pool.allocate(5000, 1)
    pool.note_use(block, 2)
    assert noted == [(pool._address, block, 2)]
    pool.deallocate(block, 1)
    assert pool.statistics().live_blocks == 0
    with pytest.raises(ValueError, match="no live block"):
        pool.note_use(block, 2)


def test_a_stream_is_forgotten(pool: Pool) -> None:
    block = pool.allocate(100, 5)
    pool.forget(5)
    assert pool.statistics().streams == 0
    pool.deallocate(block)
    assert pool.statistics().live_blocks == 0


def test_a_capture_keeps_its_memory(pool: Pool) -> None:
    name = (2**64 - 1, 3)
    pool.begin_capture(name, 9)
    block = pool.allocate(5000, 9)
    pool.deallocate(block, 9)
    pool.end_capture(name)
    assert pool.statistics().captures == 1
    assert pool.statistics().private_bytes > 0
    assert pool.allocate(5000, 9) != block
    assert name in {each.capture for each in pool.snapshot().segments}
    pool.release_capture(name)
    assert (pool.statistics().captures, pool.statistics().private_bytes) == (0, 0)


@pytest.mark.parametrize("name", [1, (1,), (1, 2, 3), "ab", (1, None)])
def test_a_capture_has_two_numbers(pool: Pool, name: Any) -> None:
    with pytest.raises(TypeError, match="two numbers, such as"):
        pool.begin_capture(name, 1)
    with pytest.raises(ValueError, match="64 bits"):
        pool.begin_capture((0, -1), 1)


# --- The life of a pool -----------------------------------------------------------------------------------------------


def test_a_closed_pool_says_so() -> None:
    pool = made()
    block = pool.allocate(1)
    assert repr(pool) == "Pool(host 0)"
    pool.close()
    pool.close()
    assert pool.closed
    assert repr(pool) == "Pool(closed)"
    uses = [pool.statistics, pool.reset_peaks, pool.snapshot, pool.trim, pool.__enter__, lambda: pool.allocate(1)]
    uses += [lambda: pool.deallocate(block), lambda: pool.note_use(block, 1), lambda: pool.forget(1)]
    uses += [lambda: pool.block_bytes(block), lambda: pool.owns(block), lambda: pool.end_capture((1, 1))]
    uses += [lambda: pool.begin_capture((1, 1), 1), lambda: pool.release_capture((1, 1))]
    for use in uses:
        with pytest.raises(ValueError, match="the pool is closed"):
            use()


def test_a_forgotten_pool_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BUILT is not None
    own = Library(BUILT)
    ended: list[int] = []
    monkeypatch.setattr(own, "end", ended.append, raising=False)
    monkeypatch.setattr(library, "load_library", lambda backend=None: own)
    pool = made()
    number = pool._address
    del pool
    gc.collect()
    assert ended == [number]


def test_the_pool_of_a_device_is_one() -> None:
    first, second = Pool.of_device(backend="host"), Pool.of_device(0, backend="host")
    block = first.allocate(100)
    assert second.block_bytes(block) == 256
    first.close()
    assert first.closed
    assert second.block_bytes(block) == 256
    assert repr(second) == "Pool(host 0, of the process)"
    second.deallocate(block)


def test_threads_share_a_pool(pool: Pool) -> None:
    got: list[int] = []

    def take(stream: int) -> None:
        mine = [pool.allocate(1000, stream) for _ in range(500)]
        for block in mine[::2]:
            pool.deallocate(block, stream)
        got.extend(mine[1::2])

    threads = [threading.Thread(target=take, args=(stream,)) for stream in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got)) == 1000 == pool.statistics().live_blocks


# --- What cannot be right ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"reserve_bytes": -5}, ValueError, "reserve_bytes is -5"),
        ({"reserve_bytes": 1.5}, TypeError, "a whole number of bytes"),
        ({"initial_bytes": 2**64}, ValueError, "initial_bytes"),
        ({"span_bytes": "1M"}, TypeError, "span_bytes"),
        ({"piece_bytes": -1}, ValueError, "piece_bytes"),
        ({"reserve_bytes": 2**64 - 1}, OverflowError, "bytes"),
        ({"device": 7}, PoolError, "7"),
        ({"device": "cuda:0"}, TypeError, "the number of a GPU"),
        ({"backend": "hip"}, UsageError, "'cuda', 'host' or None"),
    ],
)
def test_arguments_that_cannot_be_right_are_refused(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        made(**options)


def test_what_is_no_block_is_refused(pool: Pool) -> None:
    block = pool.allocate(1000)
    pool.deallocate(0)
    for wrong in (block + 16, block + (1 << 40)):
        with pytest.raises(ValueError):
            pool.deallocate(wrong)
    with pytest.raises(TypeError, match="an address, as allocate returns it"):
        pool.deallocate(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the block is -1"):
        pool.block_bytes(-1)
    with pytest.raises(ValueError):
        pool.allocate(10, None, 48)
    assert pool.statistics().live_blocks == 1
    assert not pool.owns(block + (1 << 40))


def test_what_to_build_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(library.VARIABLE, raising=False)
    monkeypatch.setattr(library.LIBRARIES, "find", lambda backend: None)
    with pytest.raises(UsageError, match="--target warpheap_pool_host") as raised:
        Pool()
    assert library.VARIABLE in str(raised.value)


def test_statuses_have_their_exceptions() -> None:
    header = (REPOSITORY / "include/warpheap/pool/pool.h").read_text(encoding="utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"WH_POOL_(\w+) = (\d+),? */\*\*<", header)}
    errors = library.INTERFACE.errors
    assert errors[numbers["INVALID_ARGUMENT"]] is ValueError
    assert errors[numbers["TOO_LARGE"]] is OverflowError
    assert errors[numbers["OUT_OF_MEMORY"]] is MemoryError
    assert errors[numbers["NOT_SUPPORTED"]] is NotSupported
    assert issubclass(NotSupported, PoolError)


def test_the_library_exports_what_its_header_declares() -> None:
    assert BUILT is not None
    header = (REPOSITORY / "include/warpheap/pool/pool.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^[a-z].*?[ *](wh_pool_\w+)\(", header, re.MULTILINE))
    shown = subprocess.run(["nm", "-D", "--defined-only", BUILT], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in shown.splitlines()} == declared
    own = {"abi", "backend", "error"}
    assert {f"wh_pool_{name}" for name in {*library._CALLS, *library._ANSWERS, *own}} == declared


def test_structures_are_those_of_the_header(tmp_path: Path) -> None:
    names = {"options": library.PoolOptions, "statistics": library.RawStatistics}
    prints = "".join(
        f'printf("%zu\\n", sizeof(wh_pool_{name}));\n'
        + "".join(f'printf("%zu\\n", offsetof(wh_pool_{name}, {field[0]}));\n' for field in kind._fields_)
        for name, kind in names.items()
    )
    source = tmp_path / "sizes.c"
    text = f"#include <stdio.h>\n#include <warpheap/pool/pool.h>\nint main(void) {{ {prints} return 0; }}\n"
    source.write_text(text, encoding="utf-8")
    include = REPOSITORY / "include"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"-I{include}", source, "-o", tmp_path / "sizes"], check=True)
    shown = subprocess.run([tmp_path / "sizes"], check=True, capture_output=True, text=True).stdout
    own = [
        number
        for kind in names.values()
        for number in (ctypes.sizeof(kind), *(getattr(kind, field[0]).offset for field in kind._fields_))
    ]
    assert [int(line) for line in shown.split()] == own


# --- The page ---------------------------------------------------------------------------------------------------------

PAGE = (REPOSITORY / "docs/pool_python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, str(BUILT))
    exec(compile(EXAMPLES[0], "docs/pool_python.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["1024 1024", "True"]


def test_the_example_of_a_map_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(library.VARIABLE, str(BUILT))
    monkeypatch.chdir(tmp_path)
    (text,) = (each for each in EXAMPLES if "memory_map" in each)
    exec(compile(text, "docs/pool_python.md", "exec"), {})
    assert "2 blocks" in (tmp_path / "pool.html").read_text(encoding="utf-8")


def test_the_examples_for_a_gpu_are_of_the_language() -> None:
    assert len(EXAMPLES) == 9
    for text in EXAMPLES:
        compile(text, "docs/pool_python.md", "exec")


def test_the_page_names_all_calls_of_a_pool() -> None:
    calls = {name for name in vars(Pool) if not name.startswith("_") and callable(getattr(Pool, name))}
    assert {name for name in calls if f"{name}(" not in PAGE} == {"device_count"}


def test_programs_for_a_gpu_say_what_is_wrong() -> None:
    folder = REPOSITORY / "examples/python"
    command = [sys.executable, folder / "pool_torch.py", "fully"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment())
    assert done.returncode == 1
    assert "unknown: fully" in done.stderr
    text = (
        "from checks import Checks; c = Checks('t'); c.served('good', lambda: 1); "
        "c.refused('no', lambda: 1 / 0, 'zero'); {} c.end()"
    )
    wrong = {
        "": 0,
        "c.served('bad', lambda: 1 / 0);": 1,
        "c.refused('bad', lambda: 1, 'zero');": 1,
        "c.refused('bad', lambda: 1 / 0, 'memory');": 1,
        "c.served('late', lambda: __import__('time').sleep(60), 0.1);": 1,
    }
    for more, status in wrong.items():
        command = [sys.executable, "-c", text.format(more)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
        assert done.returncode == status, done.stdout + done.stderr
