# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run --mode trace` and `warpheap trace`: what a program took and gave back, as files that others read."""

import json
import os
import re
import select
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Finished
from interposed import LIBRARY, End, Laboratory, needs_library, preloaded, split

from warpheap.errors import UsageError
from warpheap.interposer.calls import FIRST_LINE, FREES, Event, parse_events, processes, read_events
from warpheap.interposer.convert import perfetto_text, pool_log
from warpheap.interposer.run import find_library
from warpheap.project import find_checkout

Command = Callable[..., Finished]


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("trace"))


def traced(laboratory: Laboratory, out: Path, *steps: str, options: tuple[str, ...] = (), way: str = "table") -> End:
    return laboratory.run(laboratory.program, way, *steps, options=("--mode", "trace", "--out", str(out), *options))


def short(event: Event) -> str:
    """An event without time, process, thread and address."""
    parts = [event.what, event.block or "", event.bytes or "", event.kind, event.call, event.stream or "", event.error]
    return " ".join(str(part) for part in parts if part != "")


# --- The trace --------------------------------------------------------------------------------------------------------


@needs_library
@pytest.mark.parametrize("options", [(), ("--audit",)])
def test_each_block_has_its_lines(laboratory: Laboratory, tmp_path: Path, options: tuple[str, ...]) -> None:
    out = tmp_path / "trace"
    steps = split("take:10 async:20 take:0 give:0 give:0 give-async:1 create:30 retain:3 release:3 release:3 host:5")
    end = traced(laboratory, out, *steps, options=options)
    assert (end.code, end.said) == (0, "")
    events = read_events(out)
    assert [short(event) for event in events] == [
        "+ 1 10 device cuMemAlloc_v2 0",
        "+ 2 20 stream cuMemAllocAsync 16 0",
        "! device cuMemAlloc_v2 1",
        "- 1 cuMemFree_v2 0",
        "? cuMemFree_v2 1",
        "- 2 cuMemFreeAsync 16 0",
        "+ 3 30 physical cuMemCreate 0",
        "- 3 cuMemRelease 0",
        "+ 4 5 host cuMemAllocHost_v2 0",
    ]
    times = [event.nanoseconds for event in events]
    assert times == sorted(times)
    assert len({event.process for event in events}) == 1 and events[0].process == events[0].thread
    assert events[4].address != 0


@needs_library
def test_a_free_that_the_driver_refuses_leaves_the_block_live(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    end = traced(laboratory, out, "take:40", "capture", "give:0", "end-capture", "give:0", "give:0")
    assert end.printed.split() == split("take 0 capture 0 give 900 end-capture 0 give 0 give 1")
    assert [(event.what, event.block, event.bytes) for event in read_events(out)] == [
        ("+", 1, 40),
        ("-", 1, 0),
        ("+", 1, 40),
        ("-", 1, 0),
        ("?", 0, 0),
    ]


@needs_library
def test_threads_and_children_share_the_file(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    end = traced(laboratory, out, "take:10", "threads:200", "fork", "take:20", "threads:100")
    assert end.code == 0
    events = read_events(out)
    parent, child = processes(events)
    for process, rounds, size in ((parent, 200, 10), (child, 100, 20)):
        own = [event for event in events if event.process == process]
        assert len(own) == 1 + rounds * 2 * 4 * 2
        taken = [event for event in own if event.what == "+"]
        assert [event.block for event in taken] == list(range(1, len(taken) + 1))
        assert taken[0].bytes == size
        assert len({event.thread for event in own}) == 3


@needs_library
def test_what_was_written_outlives_a_kill(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    end = traced(laboratory, out, "take:10", "kill", way="opened")
    assert end.code == -9
    assert [short(event) for event in read_events(out)] == ["+ 1 10 device cuMemAlloc_v2 0"]


@needs_library
def test_a_program_that_closes_all_files_keeps_its_own_clean(laboratory: Laboratory, tmp_path: Path) -> None:
    out, own = tmp_path / "trace", tmp_path / "own"
    end = traced(laboratory, out, "take:10", f"files:{own}", "take:20", way="opened")
    assert end.code == 0
    assert own.read_text() == ""
    assert [event.bytes for event in read_events(out)] == [10, 20]


@needs_library
def test_lines_that_the_disk_does_not_take_are_told_once(laboratory: Laboratory) -> None:
    assert LIBRARY is not None
    variables = {**preloaded(LIBRARY), "WARPHEAP_RUN_MODE": "trace", "WARPHEAP_RUN_OUT": "/dev/full"}
    end = laboratory.alone(laboratory.program, "opened", "take:10", "take:20", "give:0", "_exit:4", **variables)
    assert (end.code, end.printed.split()[1::2]) == (4, ["0", "0", "0"])
    assert re.sub(r"\[\d+\]", "", end.said) == (
        "warpheap run: trace of program: 3 lines could not be written, the first and all after it: error 28, no"
        " space is left on the disk\n"
    )


@needs_library
def test_a_trace_that_reaches_the_limit_of_files_ends_there(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    command = [laboratory.program, "opened", "many:100", "exit:5"]
    script = ["sh", "-c", 'ulimit -f 8 && exec "$@"', "sh", *command]  # of 512 bytes
    end = laboratory.run(*script, options=("--mode", "trace", "--out", out), STAND_IN_LOG="")
    assert (end.code, end.printed) == (5, "many 0\n")
    events = read_events(out)
    lost = re.findall(r"(\d+) lines could not be written, .*: error 27, the file has reached", end.said)
    assert len(events) > 10 and [int(each) for each in lost] == [200 - len(events)]


@needs_library
def test_a_trace_goes_on_after_no_gap(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    steps = ("take:10", "limit:80", "take:20", "take:30", "limit:0", "take:40")
    command = [laboratory.program, "opened", *steps]
    end = laboratory.run(*command, options=("--mode", "trace", "--out", out), STAND_IN_LOG="")
    assert (end.code, end.printed.split()[1::2]) == (0, ["0"] * 6)
    assert [event.bytes for event in read_events(out)] == [10]
    assert "trace of program: 3 lines could not be written" in end.said


@needs_library
def test_a_log_replays_on_a_pool(laboratory: Laboratory, tmp_path: Path) -> None:
    checkout = find_checkout()
    driver = checkout / "build" / "host" / "bin" / "warpheap_pool_bench_host" if checkout is not None else None
    if driver is None or not driver.is_file():
        pytest.skip("warpheap_pool_bench_host is not built")
    out, log = tmp_path / "trace", tmp_path / "log"
    traced(laboratory, out, "take:1000", "async:20", "host:9", "give:0", "threads:5", "take:0")
    events = read_events(out)
    log.write_text("".join(pool_log(events, processes(events)[0])))
    command = [driver, "--case", "replay", "--log", log, "--subject", "stream_pool"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["calls"] == 3 + 5 * 2 * 4 * 2


# --- What is made of it -----------------------------------------------------------------------------------------------

TRACE = f"""{FIRST_LINE}
1000 7 7 + 1 100 device cuMemAlloc_v2 0x0
2000 7 8 + 2 50 stream cuMemAllocAsync 0x10
3000 9 9 + 1 8 host cuMemHostAlloc 0x0
3500 7 7 ! 999 device cuMemAlloc_v2 0x0 2
4000 7 8 - 1 cuMemFree_v2 0x0
4500 7 7 ? 0x1234 cuMemFree_v2 0x0 1
5000 7 8 - 2 cuMemFreeAsync 0x10
6000 7 7 + 3 60 device cuMemAlloc_v2 0x0
"""


def events_of(text: str) -> list[Event]:
    return list(parse_events(text, "t"))


def test_perfetto_gets_slices_and_counters() -> None:
    read = json.loads("".join(perfetto_text(events_of(TRACE))))
    rows: list[dict[str, Any]] = read["traceEvents"]
    begun = {row["id"]: row for row in rows if row["ph"] == "b"}
    ended = {row["id"]: row for row in rows if row["ph"] == "e"}
    assert begun.keys() == {"7.1", "7.2", "9.1", "7.3"} and ended.keys() == {"7.1", "7.2"}
    assert (begun["7.2"]["ts"], ended["7.2"]["ts"]) == (1.0, 4.0)
    assert (begun["7.2"]["cat"], begun["7.2"]["name"], begun["7.2"]["tid"]) == ("stream", "50 bytes", 8)
    assert begun["7.2"]["args"] == {"block": 2, "call": "cuMemAllocAsync", "stream": "0x10"}
    for name, end in ended.items():
        assert all(end[key] == begun[name][key] for key in ("cat", "name", "pid"))
    counters = [(row["pid"], row["name"], row["args"]["bytes"]) for row in rows if row["ph"] == "C"]
    assert counters == [
        (7, "device memory", 100),
        (7, "stream memory", 50),
        (9, "host memory", 8),
        (7, "device memory", 0),
        (7, "stream memory", 0),
        (7, "device memory", 60),
    ]
    assert [row["name"] for row in rows if row["ph"] == "i"] == [
        "cuMemAlloc_v2: 999 bytes refused",
        "cuMemFree_v2: 0x1234 is no block that is live",
    ]


def test_a_log_is_of_one_process_and_of_the_device() -> None:
    log = "".join(pool_log(events_of(TRACE), 7))
    assert log == "+ 1 100 256\n+ 2 50 256\n! 999 256\n- 1\n- 2\n+ 3 60 256\n"
    assert "".join(pool_log(events_of(TRACE), 9)) == ""


def trace_of(*parts: str) -> list[Event]:
    """The events of the lines `* BLOCK CALL` of process 7: taken with 10 bytes, or given back."""
    lines: list[str] = []
    for part in parts:
        what, block, call = part.split()
        rest = f"10 device {call}" if what == "+" else call
        lines.append(f"{1000 + len(lines)} 7 7 {what} {block} {rest} 0x0\n")
    return events_of(FIRST_LINE + "\n" + "".join(lines))


def test_a_process_that_becomes_another_program_loses_its_blocks() -> None:
    old = ("+ 1 cuMemAlloc_v2", "+ 2 cuMemAlloc_v2", "+ 3 cuMemAlloc_v2", "- 1 cuMemFree_v2", "- 2 cuMemFree_v2")
    new = ("+ 1 cuMemAlloc_v2", "+ 2 cuMemAlloc_v2", "+ 3 cuMemAlloc_v2", "- 2 cuMemFree_v2")
    log = "".join(pool_log(trace_of(*old, *new), 7)).splitlines()
    # The old program's third block ends where the new one takes its first, and that one stays.
    assert log[5:] == ["- 3", "+ 1 10 256", "+ 2 10 256", "+ 3 10 256", "- 2"]


def test_a_block_that_the_driver_refused_to_free_begins_no_other_program() -> None:
    steps = ("+ 1 cuMemAlloc_v2", "+ 2 cuMemAlloc_v2", "- 1 cuMemFree_v2", "+ 1 cuMemFree_v2", "+ 3 cuMemAlloc_v2")
    log = "".join(pool_log(trace_of(*steps), 7)).splitlines()
    assert log == ["+ 1 10 256", "+ 2 10 256", "- 1", "+ 1 10 256", "+ 3 10 256"]


def test_the_calls_that_free_are_those_of_the_library() -> None:
    sources = "".join((HERE.parents[1] / "src" / "run" / name).read_text() for name in ("memory.c", "streams.c"))
    named = re.findall(r"note_giving\(CALL_(\w+)|^FREE_ASYNC\((\w+), (?:false|true)\)$", sources, re.MULTILINE)
    assert sorted({call or form for call, form in named} - {"symbol"}) == sorted(FREES)


def test_a_line_that_was_cut_off_is_left_out() -> None:
    assert len(events_of(TRACE + "7000 7 7 + 4 6")) == 8


@pytest.mark.parametrize(
    "line",
    [
        "",
        "7000 7 7",
        "7000 7 x + 4 60 device cuMemAlloc_v2 0x0",
        "7000 7 7 * 4 60 device cuMemAlloc_v2 0x0",
        "7000 7 7 + 4 60 sea cuMemAlloc_v2 0x0",
        "7000 7 7 + 4 60 device cuMemAlloc_v2",
        "7000 7 7 - 4 cuMemFree_v2 zero",
        "7000 7 7 ! 4 device cuMemAlloc_v2 0x0 2 2",
    ],
)
def test_a_line_that_is_wrong_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="t, line 10 is not as 'warpheap run' writes it"):
        events_of(f"{TRACE}{line}\n")


def test_the_command_writes_both(warpheap: Command, tmp_path: Path) -> None:
    trace, picture, log = tmp_path / "trace", tmp_path / "p.json", tmp_path / "log"
    trace.write_text(TRACE)
    done = warpheap("trace", trace, "--perfetto", picture, "--log", log, "--process", 7)
    assert (done.code, done.err) == (0, "")
    assert json.loads(picture.read_text())["traceEvents"]
    assert log.read_text().startswith("+ 1 100 256\n")


def test_what_is_no_file_is_written_to_and_stays(warpheap: Command, tmp_path: Path) -> None:
    trace, pipe, link, log = (tmp_path / name for name in ("trace", "pipe", "link", "log"))
    trace.write_text(TRACE)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert warpheap("trace", trace, "--log", pipe, "--process", 7).code == 0
    assert os.read(reader, 1000).startswith(b"+ 1 100 256\n")
    os.close(reader)
    assert pipe.is_fifo()
    log.write_text("old")
    link.symlink_to(log)
    assert warpheap("trace", trace, "--log", link, "--process", 7).code == 0
    assert link.is_symlink() and log.read_text().startswith("+ 1 100 256\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "name what to write: --perfetto FILE, --log FILE or both"),
        (["--perfetto", "OUT", "--process", "7"], "--process chooses what --log FILE has"),
        (["--log", "OUT"], "--log has one process; choose one with --process: 7, 9"),
        (["--log", "OUT", "--process", "8"], "--process: 8 took no memory; these did: 7, 9"),
    ],
)
def test_words_that_are_wrong_are_refused(warpheap: Command, tmp_path: Path, words: list[str], error: str) -> None:
    trace, out = tmp_path / "trace", tmp_path / "out"
    trace.write_text(TRACE)
    done = warpheap("trace", trace, *(str(out) if word == "OUT" else word for word in words))
    assert done.code == 2
    assert error in done.err
    assert not out.exists()


def test_what_is_no_trace_is_refused(warpheap: Command, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    assert "cannot be read" in warpheap("trace", trace, "--log", tmp_path / "log").err
    trace.write_text("warpheap trace 1\n")
    assert f"its first line is not '{FIRST_LINE}'" in warpheap("trace", trace, "--log", tmp_path / "log").err
    trace.write_bytes(b"\xff\xfe")
    assert "it is no text" in warpheap("trace", trace, "--log", tmp_path / "log").err
    trace.write_text(f"{FIRST_LINE}\n")
    assert "no process of the trace took memory" in warpheap("trace", trace, "--log", tmp_path / "log").err


@needs_library
def test_a_reader_of_the_trace_that_has_gone_ends_nobody(laboratory: Laboratory, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    variables = laboratory.variables(
        LD_PRELOAD=str(find_library()), WARPHEAP_RUN_MODE="trace", WARPHEAP_RUN_OUT=str(pipe)
    )
    # More lines than a pipe holds, so the program waits in the midst of them until the reader has gone.
    command = [laboratory.program, "opened", "many:5000"]
    with subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL) as program:
        select.select([reader], [], [], 60)
        os.close(reader)
        assert program.wait(60) == 0
