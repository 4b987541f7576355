# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap watch`: what it reads, and what it shows."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, environment
from rich.console import Console
from watched import content, place_of_this, rows_of

from warpheap.watch import look as looking
from warpheap.watch import owners
from warpheap.watch.board import FOLDER_VARIABLE, Place, UnreadableBoard, find_places, folder, read_board
from warpheap.watch.look import Look, look
from warpheap.watch.view import as_object, show

Command = Callable[..., Finished]
ME = os.getpid()
# Kind, device, number, flags, committed and its peak, failures; given back, taken, peaks.
POOL = (6, 1, 3, 0, 4096, 8192, 2, 0, 4, 400, 10, 1000, 7, 900, 0, 0)
DEVICE = (1, 2**64 - 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 50, 1, 50, 0, 0)


@pytest.fixture
def boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of boards, which the command looks into."""
    where = tmp_path / "boards"
    where.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(where))
    yield where


def put(where: Path, *rows: tuple[int, ...], number: int = 0, **header: Any) -> Place:
    """A board of this process."""
    place = place_of_this(where, number)
    place.path.write_bytes(content(place, rows, **header))
    return place


def shown(now: Look, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(show(now))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_rows_are_what_the_file_says(boards: Path) -> None:
    put(boards, POOL, (0,) * 16, DEVICE)
    pool, device = rows_of(boards, ME)
    assert (pool.kind, pool.device, pool.number, pool.common) == ("pool", 1, 3, False)
    assert (pool.live_blocks, pool.live_bytes, pool.peak_live_blocks, pool.peak_live_bytes) == (6, 600, 7, 900)
    assert (pool.committed_bytes, pool.peak_committed_bytes, pool.failures) == (4096, 8192, 2)
    assert (device.kind, device.device, device.committed_bytes, device.live_bytes) == ("device", None, None, 50)


def test_rows_of_kinds_to_come_are_left_out(boards: Path) -> None:
    put(boards, (99, *POOL[1:]), POOL)
    assert len(rows_of(boards, ME)) == 1


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"magic": 7}, "it begins with other bytes"),
        ({"version": 2}, "publishes version 2 of the counters, and this warpheap reads version 1: watch it with"),
        ({"bytes": 8192}, "its sizes are not those of version 1"),
        ({"offset": 512}, "its sizes are not those of version 1"),
        ({"row_bytes": 64}, "its sizes are not those of version 1"),
        ({"rows": 31}, "its sizes are not those of version 1"),
        ({"process": 1}, "it is of another process than its name says"),
        ({"start": 1}, "it is of another process than its name says"),
        ({"source": 9}, "its source 9 is unknown"),
    ],
)
def test_a_file_is_not_believed(boards: Path, warpheap: Command, header: dict[str, int], reason: str) -> None:
    place = put(boards, POOL, **header)
    with pytest.raises(UnreadableBoard, match=reason):
        read_board(place)
    done = warpheap("watch", ME, "--once")
    assert done.code == 2 and reason in done.err
    done = warpheap("watch", "--once", "--interval", "0.05")
    assert done.code == 0 and reason in " ".join(done.out.split())


@pytest.mark.parametrize("size", [1, 100, 4095, 4097, 10_000])
def test_a_file_of_another_size_is_not_read(boards: Path, size: int) -> None:
    place = put(boards, POOL)
    place.path.write_bytes((place.path.read_bytes() * 3)[:size])
    with pytest.raises(UnreadableBoard):
        read_board(place)


def test_a_file_that_is_being_made_is_passed_over(boards: Path) -> None:
    place = put(boards, POOL)
    place.path.write_bytes(b"")
    assert read_board(place) is None
    assert look(boards).processes == [] and look(boards).problems == []


def test_any_bytes_are_a_board_or_are_refused(boards: Path) -> None:
    place = put(boards, POOL)
    right = place.path.read_bytes()
    chance = random.Random(1)
    for _ in range(300):
        made = bytearray(right)
        for _ in range(chance.randrange(1, 40)):
            made[chance.randrange(4096)] = chance.randrange(256)
        place.path.write_bytes(bytes(made))
        now = look(boards)
        shown(now)
        json.loads(json.dumps(as_object(now)))


def test_what_is_no_file_is_not_opened(boards: Path, tmp_path: Path) -> None:
    place = put(boards, POOL)
    place.path.rename(tmp_path / "elsewhere")
    place.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnreadableBoard, match="cannot be read"):
        read_board(place)
    place.path.unlink()
    os.mkfifo(place.path)
    with pytest.raises(UnreadableBoard, match="is no file of counters"):
        read_board(place)
    place.path.unlink()
    place.path.mkdir()
    with pytest.raises(UnreadableBoard, match="is no file of counters"):
        read_board(place)


def test_a_file_of_another_user_is_not_read(boards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = put(boards, POOL)
    monkeypatch.setattr(os, "geteuid", lambda: place.user + 1)
    with pytest.raises(UnreadableBoard, match="is a file of another user"):
        read_board(place)
    assert look(boards).processes == []


@pytest.mark.parametrize("other", [{"user": 1}, {"space": 1}, {"start": 1}, {"stack": 16}])
def test_names_of_others_are_passed_over(boards: Path, other: dict[str, int]) -> None:
    mine = place_of_this(boards)
    changed = {name: getattr(mine, name) + value for name, value in other.items()}
    place = place_of_this(boards, **changed)
    place.path.write_bytes(content(place, (POOL,)))
    assert look(boards).processes == [] and look(boards).problems == []


def test_names_that_are_no_boards_are_passed_over(boards: Path) -> None:
    for name in (
        "warpheap-1-2-3-4-5",
        "warpheap-1-2-3-4-g-0",
        "other",
        "warpheap-1-2-3-4-5-6-7",
        "warpheap-" + "9" * 99,
    ):
        (boards / name).touch()
    assert find_places(boards) == []


def test_a_kernel_that_hides_stacks_is_believed(boards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(boards, POOL)
    real = owners.find_owner(ME)
    assert real is not None
    monkeypatch.setattr(looking, "find_owner", lambda process: replace(real, stack=0))
    assert len(rows_of(boards, ME)) == 1


def test_two_libraries_of_a_process_are_one_process(boards: Path) -> None:
    put(boards, POOL)
    put(boards, DEVICE, number=1, source=1, detail=b"count")
    (found,) = look(boards).processes
    assert [(each.board.source, each.board.detail) for each in found.counters.values()] == [
        ("pools", "cuda"),
        ("run", "count"),
    ]


def test_a_folder_of_a_variable_begins_at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "here")
    assert folder() == Path("/dev/shm")


# --- Rates ------------------------------------------------------------------------------------------------------------


def test_rates_are_of_the_time_between_two_looks(boards: Path) -> None:
    put(boards, POOL)
    first = look(boards)
    put(boards, (*POOL[:8], 44, 400, 110, *POOL[11:]))
    earlier = replace(first, at=first.at - 2)
    second = look(boards, before=earlier)
    seconds = second.at - earlier.at  # two, and what passed between the looks
    (counters,) = second.processes[0].counters.values()
    assert counters.allocations_per_second == pytest.approx(100 / seconds)
    assert counters.deallocations_per_second == pytest.approx(40 / seconds)
    (before,) = first.processes[0].counters.values()
    assert before.allocations_per_second is None


def test_a_count_that_fell_is_no_rate(boards: Path) -> None:
    put(boards, POOL)
    first = look(boards)
    put(boards, (*POOL[:8], 0, 0, 0, *POOL[11:]))
    (counters,) = look(boards, before=first).processes[0].counters.values()
    assert (counters.allocations_per_second, counters.deallocations_per_second) == (0, 0)
    assert (counters.row.live_blocks, counters.row.live_bytes) == (0, 1000)


# --- Showing ----------------------------------------------------------------------------------------------------------


def test_the_table_has_each_row(boards: Path) -> None:
    put(boards, POOL, (*POOL[:3], 1, *POOL[4:]), DEVICE)
    lines = shown(look(boards)).splitlines()
    assert lines[0].startswith(f"{ME} ")
    assert [line.split() for line in lines[3:]] == [
        ["GPU", "1:", "pool", "3", "600", "B", "900", "B", "4", "KiB", "6", "2"],
        ["GPU", "1:", "common", "pool", "600", "B", "900", "B", "4", "KiB", "6", "2"],
        ["device", "50", "B", "50", "B", "1", "0"],
    ]


def test_the_table_fits_a_terminal_of_80_columns(boards: Path) -> None:
    big = (6, 7, 3, 1, 2**40 - 2**30, 2**40, 0, 0, 0, 0, 999999, 2**40 - 2**30, 1, 2**40 - 2**30, 0, 0)
    put(boards, big)
    text = shown(look(boards), 80)
    assert "GPU 7: common pool" in text and "1023 GiB" in text and "999,999" in text and "failed" in text


def test_a_peak_is_at_least_what_is_live(boards: Path) -> None:
    put(boards, (*DEVICE[:12], 0, 10, 0, 0))
    (row,) = as_object(look(boards))["processes"][0]["counters"]
    assert (row["peak_live_bytes"], row["peak_live_blocks"]) == (50, 1)


def test_pools_that_are_not_shown_are_told_of(boards: Path) -> None:
    put(boards, POOL, unshown=4)
    assert f"process {ME} has 4 pools more" in shown(look(boards))


def test_a_command_cannot_write_to_the_terminal(boards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(boards, POOL)
    monkeypatch.setattr(looking, "command_of", lambda process: ["/bin/p\x1b[31m", "-x", "a\nb[bold]"])
    assert shown(look(boards)).splitlines()[0] == f"{ME} p\\x1b[31m a b[bold]"


def test_json_is_one_object_with_all_counters(boards: Path, warpheap: Command) -> None:
    put(boards, POOL, DEVICE)
    done = warpheap("watch", "--once", "--json", "--interval", "0.05")
    assert done.code == 0 and done.out.count("\n") == 1
    (process,) = json.loads(done.out)["processes"]
    assert process["process"] == ME and process["unshown_pools"] == 0
    pool, device = process["counters"]
    assert pool == {
        "source": "pools", "detail": "cuda", "kind": "pool", "device": 1, "number": 3, "common": False,
        "live_bytes": 600, "peak_live_bytes": 900, "committed_bytes": 4096, "peak_committed_bytes": 8192,
        "live_blocks": 6, "peak_live_blocks": 7, "allocations": 10, "allocated_bytes": 1000, "deallocations": 4,
        "deallocated_bytes": 400, "failures": 2, "allocations_per_second": 0.0, "deallocations_per_second": 0.0,
    }  # fmt: skip
    assert device["device"] is None and device["committed_bytes"] is None


# --- The command ------------------------------------------------------------------------------------------------------


def test_nothing_to_see_is_said(boards: Path, warpheap: Command) -> None:
    done = warpheap("watch", "--once", "--interval", "0.05")
    assert done.code == 0 and "no process of yours publishes counters" in done.out
    assert json.loads(warpheap("watch", "--once", "--json", "--interval", "0.05").out)["processes"] == []


def test_why_a_process_is_not_shown_is_said(boards: Path, warpheap: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"process {ME} publishes no counters" in warpheap("watch", ME).err
    assert "there is no process 4000000000" in warpheap("watch", "4000000000").err
    place_of_this(boards, process=3_999_999_999).path.touch()
    assert "process 3999999999 has ended" in warpheap("watch", "3999999999").err
    monkeypatch.setattr(looking, "user_of", lambda process: 0 if os.geteuid() else 65534)
    done = warpheap("watch", ME)
    assert done.code == 2 and "is watched by its own user alone: sudo -u" in done.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["0"], "0 is the number of no process"),
        (["--", "-3"], "-3 is the number of no process"),
        (["--interval", "0"], "--interval 0: give seconds from 0.05 to 3600"),
        (["--interval", "nan"], "--interval nan: give seconds from 0.05 to 3600"),
        (["some"], "Invalid value for 'PID'"),
    ],
)
def test_words_that_are_wrong_are_refused(warpheap: Command, words: list[str], error: str) -> None:
    for first in ((), ("--check",)):
        done = warpheap(*first, "watch", *words)
        assert done.code == 2 and error in done.err


def test_the_words_alone_can_be_checked(warpheap: Command) -> None:
    done = warpheap("--check", "watch", ME)
    assert (done.code, done.out) == (0, "")


def sleeper(where: Path) -> "tuple[subprocess.Popen[str], Place]":
    """A process that sleeps, and a board of it that the test writes."""
    process = subprocess.Popen(["sleep", "100"], text=True)
    owner = owners.find_owner(process.pid)
    while owner is None or owners.command_of(process.pid)[:1] != ["sleep"]:
        time.sleep(0.01)
        owner = owners.find_owner(process.pid)
    owner = owners.find_owner(process.pid)
    assert owner is not None
    place = place_of_this(where, process=owner.process, start=owner.start, stack=owner.stack)
    place.path.write_bytes(content(place, (POOL,)))
    return process, place


def watching(where: Path, *words: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "warpheap", "watch", "--interval", "0.05", *map(str, words)]
    variables = {**environment(), FOLDER_VARIABLE: str(where)}
    return subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_view_of_a_process_ends_with_it(boards: Path) -> None:
    process, _ = sleeper(boards)
    try:
        watcher = watching(boards, process.pid)
        assert watcher.stdout is not None
        assert watcher.stdout.readline().split() == [str(process.pid), "sleep", "100"]
    finally:
        process.kill()
        process.wait()
    out, err = watcher.communicate(timeout=60)
    assert (watcher.returncode, err) == (0, "")
    assert out.splitlines()[-1] == f"process {process.pid} has ended"
    assert "GPU 1: pool 3" in out.splitlines()[-2]


def test_json_goes_on_line_by_line_until_its_reader_leaves(boards: Path) -> None:
    put(boards, POOL)
    watcher = watching(boards, "--json")
    assert watcher.stdout is not None and watcher.stderr is not None
    times = [json.loads(watcher.stdout.readline())["time"] for _ in range(3)]
    assert times == sorted(set(times))
    watcher.stdout.close()
    assert watcher.wait(60) == 0 and watcher.stderr.read() == ""
    watcher.stderr.close()


def test_ctrl_c_ends_the_view(boards: Path) -> None:
    put(boards, POOL)
    watcher = watching(boards)
    assert watcher.stdout is not None
    watcher.stdout.readline()
    watcher.send_signal(signal.SIGINT)
    _, err = watcher.communicate(timeout=60)
    assert (watcher.returncode, err) == (0, "")


def test_a_process_that_comes_later_is_seen(boards: Path) -> None:
    watcher = watching(boards, "--json")
    assert watcher.stdout is not None
    assert json.loads(watcher.stdout.readline())["processes"] == []
    put(boards, POOL)
    try:
        for _ in range(100):
            if json.loads(watcher.stdout.readline())["processes"]:
                return
        pytest.fail("the process was not seen")
    finally:
        watcher.kill()
        watcher.communicate()
