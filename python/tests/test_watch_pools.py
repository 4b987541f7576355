# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What pools of the library of the host publish, as another process sees it."""

import json
import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from watched import Process, content, place_of_this, rows, rows_of, script, started

from warpheap.stream_pools.library import find_library
from warpheap.watch.board import Row, find_places, read_board
from warpheap.watch.look import look
from warpheap.watch.owners import find_owner

MEBIBYTE = 1 << 20
COMPILER = shutil.which("cc") or shutil.which("gcc")

pytestmark = pytest.mark.skipif(
    find_library("host") is None,
    reason="libwarpheap_pool_host.so is not built; the target warpheap_pool_host makes it",
)

ONE_POOL = "pool = make(); block = pool.allocate(1000); pause(os.getpid()); pool.deallocate(block); pause()"


def files(where: Path) -> list[str]:
    return sorted(path.name for path in where.iterdir())


def only(found: list[Row]) -> Row:
    assert len(found) == 1
    return found[0]


def test_a_row_has_the_figures_of_its_pool(tmp_path: Path) -> None:
    steps = """
    import dataclasses
    pool = make(piece_bytes=MEBIBYTE, span_bytes=MEBIBYTE)
    def tell():
        pause(dataclasses.asdict(pool.statistics()))
    tell()
    blocks = [pool.allocate(size) for size in (1000, 3 * MEBIBYTE, 70_000)]
    tell()
    pool.deallocate(blocks[1])
    try:
        pool.allocate(1 << 30)
    except MemoryError:
        tell()
    pool.trim()
    tell()
    pool.reset_peaks()
    tell()
    """
    with started(script(steps), tmp_path) as process:
        seen = []
        for _ in range(5):
            figures = json.loads(process.said())[0]
            row = only(rows_of(tmp_path, process.popen.pid))
            for name, value in figures.items():
                assert getattr(row, name, value) == value, name
            assert {"live_bytes", "committed_bytes", "failures"} <= figures.keys()
            assert (row.kind, row.device, row.common) == ("pool", 0, False)
            seen.append(row)
            process.go_on()
        assert process.end()[0] == 0
    assert [row.failures for row in seen] == [0, 0, 1, 1, 1]
    assert seen[1].committed_bytes > seen[0].committed_bytes and seen[2].committed_bytes > seen[3].committed_bytes > 0
    assert seen[3].peak_live_bytes > 3 * MEBIBYTE > seen[4].peak_live_bytes
    assert seen[3].peak_committed_bytes > seen[4].peak_committed_bytes == seen[4].committed_bytes


def test_the_file_is_for_reading_and_goes_with_the_process(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        (made,) = tmp_path.iterdir()
        assert stat.S_IMODE(made.stat().st_mode) == 0o400 and made.stat().st_size == 4096
        opened = [file.readlink() for file in Path(f"/proc/{process.popen.pid}/fd").iterdir()]
        assert opened and made not in opened
        assert process.end()[0] == 0
    assert files(tmp_path) == []


def test_each_pool_has_a_row_while_it_lives(tmp_path: Path) -> None:
    steps = """
    first, second = make(), make()
    common = warpheap.Pool.of_device(0, backend="host")
    keep = second.allocate(5000)
    pause()
    first.close()
    pause()
    third = make()
    pause()
    """
    with started(script(steps), tmp_path) as process:

        def seen() -> set[tuple[int, bool, int]]:
            process.said()
            found = {(row.number, row.common, row.live_blocks) for row in rows_of(tmp_path, process.popen.pid)}
            process.go_on()
            return found

        assert seen() == {(1, False, 0), (2, False, 1), (3, True, 0)}
        assert seen() == {(2, False, 1), (3, True, 0)}
        assert seen() == {(2, False, 1), (3, True, 0), (4, False, 0)}


def test_another_pool_in_the_same_row_begins_without_rates(tmp_path: Path) -> None:
    steps = """
    pool = make(); pool.allocate(10); pause()
    pool.close(); pool = make(); pool.allocate(10); pause()
    pool.allocate(10); pause()
    """
    with started(script(steps), tmp_path) as process:
        now, rates = None, []
        for _ in range(3):
            process.said()
            now = look(tmp_path, process.popen.pid, now)
            rates += [each.allocations_per_second for found in now.processes for each in found.counters.values()]
            process.go_on()
    assert rates[:2] == [None, None] and rates[2] is not None and rates[2] > 0


def test_pools_beyond_the_page_are_counted(tmp_path: Path) -> None:
    steps = """
    pools = [make(reserve_bytes=MEBIBYTE, piece_bytes=65536, span_bytes=65536) for _ in range(33)]
    block = pools[-1].allocate(10); pause()
    pools.pop().close(); pause()
    """
    with started(script(steps), tmp_path) as process:
        for unshown in (3, 2):
            process.said()
            (found,) = look(tmp_path, process.popen.pid).processes
            assert (len(found.counters), found.unshown) == (30, unshown)
            process.go_on()
        assert process.end()[0] == 0


def test_threads_lose_no_count(tmp_path: Path) -> None:
    steps = """
    pool = make()
    def hammer(stream):
        for _ in range(3000):
            pool.deallocate(pool.allocate(100, stream), stream)
    threads = [threading.Thread(target=hammer, args=(0x100 * each,)) for each in range(1, 5)]
    for each in threads: each.start()
    for each in threads: each.join()
    pause()
    """
    with started(script(steps), tmp_path) as process:
        process.said()
        row = only(rows_of(tmp_path, process.popen.pid))
    assert (row.allocations, row.deallocations, row.live_bytes) == (12000, 12000, 0)


# --- What must not break the program ----------------------------------------------------------------------------------


def ends_well(process: Process, where: Path) -> None:
    assert json.loads(process.said()) == [process.popen.pid]
    assert rows_of(where, process.popen.pid) == []
    assert process.end()[0] == 0


def test_publishing_can_be_turned_off(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path, WARPHEAP_WATCH="0") as process:
        ends_well(process, tmp_path)
    assert files(tmp_path) == []


def test_without_a_folder_there_is_nothing_to_see(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for where in (tmp_path / "none", tmp_path / "file"):
        with started(script(ONE_POOL), where) as process:
            ends_well(process, where)


@pytest.mark.parametrize("limit", [0, 1000])
def test_a_limit_of_file_sizes_ends_nobody(tmp_path: Path, limit: int) -> None:
    # Python ignores the signal that a process at its limit gets.
    begin = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
    )
    with started(script(begin + ONE_POOL), tmp_path) as process:
        ends_well(process, tmp_path)
    assert files(tmp_path) == []


@pytest.mark.skipif(COMPILER is None, reason="there is no compiler")
@pytest.mark.parametrize("call", ["pwrite", "mmap"])
def test_a_full_folder_ends_nobody(tmp_path: Path, call: str) -> None:
    source, library, where = tmp_path / "full.c", tmp_path / "full.so", tmp_path / "boards"
    where.mkdir()
    source.write_text(
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <sys/mman.h>
        #include <unistd.h>
        #ifdef FAIL_pwrite
        ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
          (void)file; (void)bytes; (void)count; (void)at;
          errno = ENOSPC;
          return -1;
        }
        #else
        void* mmap(void* at, size_t bytes, int may, int flags, int file, off_t offset) {
          void* (*real)(void*, size_t, int, int, int, off_t) =
              (void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
          if (file >= 0 && bytes == 4096 && (flags & MAP_SHARED) != 0) {
            errno = ENOMEM;
            return MAP_FAILED;
          }
          return real(at, bytes, may, flags, file, offset);
        }
        #endif
        """
    )
    command = [COMPILER or "cc", "-shared", "-fPIC", f"-DFAIL_{call}", "-o", library, source, "-ldl"]
    subprocess.run([*map(str, command)], check=True, timeout=100)
    with started(script(ONE_POOL), where, LD_PRELOAD=str(library)) as process:
        ends_well(process, where)
    assert files(where) == []


def test_a_removed_file_ends_nobody(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        next(tmp_path.iterdir()).unlink()
        assert rows_of(tmp_path, process.popen.pid) == []
        assert process.end()[0] == 0


# --- Processes that end, fork, or become another program --------------------------------------------------------------


def test_a_killed_process_is_not_shown_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        process.popen.send_signal(signal.SIGKILL)
        process.popen.wait()
        assert len(files(tmp_path)) == 1
        assert look(tmp_path).processes == [] and look(tmp_path).problems == []
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        assert [place.process for place in find_places(tmp_path)] == [process.popen.pid]


def test_a_process_that_waits_for_its_parent_is_not_shown(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        process.popen.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.popen.pid, os.WEXITED | os.WNOWAIT)
        assert Path(f"/proc/{process.popen.pid}/stat").exists()
        assert look(tmp_path).processes == []


def test_only_boards_of_processes_that_ended_are_cleaned(tmp_path: Path) -> None:
    mine = place_of_this(tmp_path)
    kept = [
        mine,
        place_of_this(tmp_path, user=mine.user + 1, start=7),
        place_of_this(tmp_path, space=mine.space + 1, start=7),
    ]
    gone = [
        place_of_this(tmp_path, start=mine.start + 1),  # the number is another process's by now
        place_of_this(tmp_path, stack=mine.stack + 16),  # the process has become another program
        place_of_this(tmp_path, process=4_000_000_000),
    ]
    for place in kept + gone:
        place.path.write_bytes(b"")
    (tmp_path / "warpheap-of-others").touch()
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        found = files(tmp_path)
    for place in gone:
        assert place.path.name not in found
    for place in kept:
        assert place.path.name in found
    assert "warpheap-of-others" in found and len(found) == 5


def test_a_forked_child_has_a_board_of_its_own(tmp_path: Path) -> None:
    steps = """
    pool = make()
    block = pool.allocate(1000)
    child = os.fork()
    if child == 0:
        pause(os.getpid())
        pool.allocate(2000)
        pause()
        os._exit(0)
    os.waitpid(child, 0)
    pause()
    """
    with started(script(steps), tmp_path) as process:
        (child,) = json.loads(process.said())
        parent = process.popen.pid
        before = only(rows_of(tmp_path, parent))
        assert rows_of(tmp_path, child) == []
        process.go_on()
        process.said()
        assert only(rows_of(tmp_path, parent)) == before and before.allocations == 1
        childs = only(rows_of(tmp_path, child))
        assert (childs.allocations, childs.live_bytes) == (2, 1024 + 2048)
        process.go_on()
        process.said()
        assert only(rows_of(tmp_path, parent)) == before
        assert rows_of(tmp_path, child) == []  # it ended without removing its file
        assert process.end()[0] == 0
    assert [place.process for place in find_places(tmp_path)] == [child]


def test_a_child_that_ends_leaves_the_board_of_its_parent(tmp_path: Path) -> None:
    steps = """
    pool = make()
    block = pool.allocate(1000)
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    pause()
    """
    with started(script(steps), tmp_path) as process:
        process.said()
        assert only(rows_of(tmp_path, process.popen.pid)).allocations == 1


def test_a_process_that_became_another_program_is_not_shown(tmp_path: Path) -> None:
    steps = """
    pool = make()
    block = pool.allocate(1000)
    pause()
    os.execv("/bin/sh", ["sh", "-c", "echo became; read line"])
    """
    with started(script(steps), tmp_path) as process:
        process.said()
        owner = find_owner(process.popen.pid)
        assert owner is not None
        if owner.stack == 0:
            pytest.skip("the kernel does not tell where a stack begins")
        assert len(rows_of(tmp_path, process.popen.pid)) == 1
        process.go_on()
        assert process.said() == "became\n"
        assert len(files(tmp_path)) == 1 and rows_of(tmp_path, process.popen.pid) == []


def test_the_format_of_the_tests_is_that_of_the_library(tmp_path: Path) -> None:
    with started(script(ONE_POOL), tmp_path) as process:
        process.said()
        (place,) = find_places(tmp_path)
        made = place.path.read_bytes()
        board = read_board(place)
        assert board is not None and rows(look(tmp_path), place.process) == list(board.rows.values())
    assert made[:256] == content(place, detail=b"host")[:256]
