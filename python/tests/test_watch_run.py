# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What programs under `warpheap run` publish, with a stand-in for the driver."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from interposed import Laboratory, needs_library, needs_pools, split
from watched import Process, rows_of, started

from warpheap.watch.look import look

pytestmark = needs_library
WAYS_IN = [(), ("--audit",)]
MODES = ["count", "check", "trace", "pool"]

Figures = tuple[int, int, int, int]


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("watch"))


@contextmanager
def running(
    laboratory: Laboratory, where: Path, steps: str, mode: str = "count", options: tuple[str, ...] = (), **more: str
) -> Iterator[Process]:
    """The test program under `warpheap run`. What it says can be read up to each `pause`."""
    where.mkdir(exist_ok=True)
    own = [sys.executable, "-m", "warpheap", "run", "--mode", mode, "--out", where.parent / "out", *options, "--"]
    command = [*own, laboratory.program, "opened", *split(steps)]
    variables = {name: value for name, value in laboratory.variables(**more).items() if name != "PYTHONPATH"}
    with started(command, where, **variables) as process:
        yield process


def figures(where: Path, process: Process) -> dict[tuple[str, int | None], Figures]:
    """By kind and device: allocations, deallocations, live bytes, failures. Rows of pools are left out."""
    return {
        (row.kind, row.device): (row.allocations, row.deallocations, row.live_bytes, row.failures)
        for row in rows_of(where, process.popen.pid)
        if row.kind != "pool"
    }


def says(process: Process, *lines: str) -> None:
    for line in lines:
        assert process.said() == f"{line}\n"


@needs_pools
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_each_kind_of_memory_has_a_row(
    laboratory: Laboratory, tmp_path: Path, way_in: tuple[str, ...], mode: str
) -> None:
    where = tmp_path / "boards"
    steps = "take:1000 take:24 give:1 managed:40 async:70 host:50 create:60 pitch:100:3 pause give:0 pause"
    with running(laboratory, where, steps, mode, way_in) as process:
        says(
            process, *(f"{step} 0" for step in ("take", "take", "give", "managed", "async", "host", "create", "pitch"))
        )
        device = figures(where, process).pop(("device", 0))
        assert device[:2] == (3, 1) and device[2] > 1000 + 100 * 3 and device[3] == 0
        found = figures(where, process)
        del found["device", 0]
        assert found == {
            ("managed", 0): (1, 0, 40, 0),
            ("stream", 0): (1, 0, 70, 0),
            ("host", None): (1, 0, 50, 0),
            ("physical", 0): (1, 0, 60, 0),
        }
        (shown,) = look(where, process.popen.pid).processes
        assert {each.board.detail for each in shown.counters.values() if each.board.source == "run"} == {mode}
        pools = [each.row for each in shown.counters.values() if each.board.source == "pools"]
        assert [row.live_blocks for row in pools] == ([2] if mode == "pool" else [])
        process.go_on()
        says(process, "pause 0", "give 0")
        assert figures(where, process)["device", 0] == (3, 2, device[2] - 1000, 0)
        assert process.end() == (0, "pause 0\n")
    assert list(where.iterdir()) == []


@needs_pools
@pytest.mark.parametrize("end", ["exit:5", "_exit:5"])
@pytest.mark.parametrize("mode", ["count", "pool"])
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_the_files_go_with_the_process(
    laboratory: Laboratory, tmp_path: Path, way_in: tuple[str, ...], mode: str, end: str
) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, f"take:10 pause {end}", mode, way_in) as process:
        says(process, "take 0")
        # The library of pools has a file of its own.
        assert len(list(where.iterdir())) == (2 if mode == "pool" else 1)
        assert process.end()[0] == 5
    assert list(where.iterdir()) == []


def test_each_gpu_has_a_row(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    steps = f"take:10 context:{0x2000} take:20 take:30 context:{0x1000} give:1 take:40 context:0 take:50 pause"
    with running(laboratory, where, steps) as process:
        says(process, "take 0", "context 0", "take 0", "take 0", "context 0", "give 0", "take 0", "context 0", "take 0")
        assert figures(where, process) == {
            ("device", 0): (2, 0, 50, 0),
            ("device", 1): (2, 1, 30, 0),
            ("device", None): (1, 0, 50, 0),
        }


def test_requests_that_the_driver_refuses_are_failures(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:5000 take:10 take:5000 pause", STAND_IN_BYTES="1000") as process:
        says(process, "take 2", "take 0", "take 2")
        assert figures(where, process) == {("device", 0): (1, 0, 10, 2)}


def test_a_block_that_the_driver_does_not_take_back_stays_live(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:10 take:20 break give:0 pause") as process:
        says(process, "take 0", "take 0", "break 0", "give 700")
        (row,) = rows_of(where, process.popen.pid)
        assert (row.allocations, row.deallocations, row.live_bytes) == (2, 0, 30)
        assert (row.peak_live_bytes, row.peak_live_blocks) == (30, 2)


def test_a_block_whose_end_was_not_seen_ends_with_its_address(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:64 lose:0 take:64 pause") as process:
        says(process, "take 0", "lose 0", "take 0")
        (row,) = rows_of(where, process.popen.pid)
        assert (row.allocations, row.deallocations, row.live_bytes, row.peak_live_bytes) == (2, 1, 64, 64)


@needs_pools
def test_a_device_that_was_reset_has_no_live_blocks(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:64 take:32 reset:0 pause", "pool") as process:
        says(process, "take 0", "take 0", "reset 0")
        assert figures(where, process) == {("device", 0): (2, 2, 0, 0)}


def test_a_forked_child_has_a_board_of_its_own(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:10 pause fork take:20 pause") as process:
        says(process, "take 0")
        before = figures(where, process)
        process.go_on()
        says(process, "pause 0", "fork 0", "take 0")
        shown = {each.process: each for each in look(where).processes}
        assert figures(where, process) == before == {("device", 0): (1, 0, 10, 0)}
        (child,) = set(shown) - {process.popen.pid}
        assert [each.row.live_bytes for each in shown[child].counters.values()] == [20]
        assert process.end()[0] == 0
    assert list(where.iterdir()) == []


def test_a_child_that_asks_for_nothing_makes_no_file(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:10 vfork fork pause") as process:
        says(process, "take 0", "vfork 3", "fork 0")
        assert len(list(where.iterdir())) == 1
        assert figures(where, process) == {("device", 0): (1, 0, 10, 0)}


def test_a_program_that_asks_for_nothing_makes_no_file(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "info pause") as process:
        assert "info 0" in process.said()
        assert list(where.iterdir()) == []


def test_threads_lose_no_count(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "threads:500 pause", STAND_IN_LOG="") as process:
        says(process, "threads 0")
        assert figures(where, process) == {("device", 0): (4000, 4000, 0, 0)}


def test_publishing_can_be_turned_off(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "take:10 pause", WARPHEAP_WATCH="0") as process:
        says(process, "take 0")
        assert list(where.iterdir()) == []
        assert process.end() == (0, "pause 0\n")


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_without_a_folder_the_program_goes_on(laboratory: Laboratory, tmp_path: Path, way_in: tuple[str, ...]) -> None:
    where = tmp_path / "boards"
    none = str(tmp_path / "none")
    with running(laboratory, where, "take:10 pause give:0", options=way_in, WARPHEAP_WATCH_FOLDER=none) as process:
        says(process, "take 0")
        assert process.end() == (0, "pause 0\ngive 0\n")


def test_a_limit_of_file_sizes_ends_nobody(laboratory: Laboratory, tmp_path: Path) -> None:
    where = tmp_path / "boards"
    with running(laboratory, where, "limit:1000 take:10 pause") as process:
        says(process, "limit 0", "take 0")
        assert list(where.iterdir()) == []
        assert process.end() == (0, "pause 0\n")
