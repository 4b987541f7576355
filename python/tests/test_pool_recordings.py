# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs: how they are made, what they are replayed on, and what the report says of them."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished
from interposed import LIBRARY, Laboratory, needs_library, split

from warpheap.errors import UsageError
from warpheap.experiments.driver import Driver
from warpheap.interposer.calls import FIRST_LINE, GIVEN, TAKEN, parse_events, read_events
from warpheap.interposer.convert import pool_log, recording_text
from warpheap.pool import figures, measure, recorded, recordings
from warpheap.pool.peers import Effort
from warpheap.report.scale import shared_scales

Record = dict[str, Any]
Command = Callable[..., Finished]

_MIB = 1 << 20
# Live at most: the second and the third block. They are so large that a budget's rounding to pieces of 2 MiB makes no
# difference.
_UNIT = 16 * _MIB
_LINES = (
    f"1 7 7 + 1 {4 * _UNIT} device cuMemAlloc_v2 0x0",
    f"2 7 8 + 2 {8 * _UNIT} stream cuMemAllocAsync 0x10",
    "3 7 7 - 1 cuMemFree_v2 0x0",
    f"4 7 7 + 3 {4 * _UNIT} managed cuMemAllocManaged 0x0",
    "5 7 8 - 2 cuMemFreeAsync 0x10",
)
_PEAK = 12 * _UNIT


def _built() -> Path | None:
    try:
        return Driver("warpheap_pool_bench", ()).find(None, "host")
    except UsageError:
        return None


DRIVER = _built()
needs_driver = pytest.mark.skipif(
    DRIVER is None, reason="warpheap_pool_bench_host is not built; the target of that name makes it"
)


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """A recording."""
    return written(tmp_path / "program.calls", *_LINES)


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in (FIRST_LINE, *lines)), encoding="utf-8")
    return path


def replayed(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The driver's replay of a file."""
    return subprocess.run(
        [str(DRIVER), "--case", "recording", "--log", str(path), "--bytes", str(1 << 31), *words],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def records_of(text: str) -> list[Record]:
    return [json.loads(line) for line in text.splitlines()]


# --- Making a recording of a trace ------------------------------------------------------------------------------------


def test_a_recording_has_the_process_with_the_most_blocks_and_no_handles(tmp_path: Path) -> None:
    trace = written(
        tmp_path / "one.trace",
        "1 5 5 + 1 10 device cuMemAlloc_v2 0x0", "2 7 7 + 1 20 device cuMemAlloc_v2 0x0",
        "3 7 7 + 2 30 physical cuMemCreate 0x0", "4 7 7 + 3 40 host cuMemAllocHost_v2 0x0",
        "5 7 7 ! 50 device cuMemAlloc_v2 0x0 2", "6 7 7 + 4 60 stream cuMemAllocAsync 0x1c",
        "7 7 7 - 2 cuMemRelease 0x0", "8 5 5 - 1 cuMemFree_v2 0x0", "9 7 7 - 4 cuMemFreeAsync 0x1c",
    )  # fmt: skip
    [made] = recordings.prepare([trace], tmp_path)
    assert made == tmp_path / "one.calls"
    assert made.read_text(encoding="utf-8").splitlines() == [
        FIRST_LINE, "2 7 7 + 1 20 device cuMemAlloc_v2 0x0", "6 7 7 + 4 60 stream cuMemAllocAsync 0x1c",
        "9 7 7 - 4 cuMemFreeAsync 0x1c",
    ]  # fmt: skip


def test_what_becomes_another_program_gives_all_back(tmp_path: Path) -> None:
    text = "".join(
        f"{line}\n"
        for line in (FIRST_LINE, "1 7 7 + 1 10 device a 0x0", "2 7 7 + 2 20 device a 0x8", "3 7 7 + 1 30 device a 0x0")
    )
    lines = [line.strip() for line in recording_text(list(parse_events(text, "text")), 7)]
    assert lines[3:] == ["3 7 7 - 1 exec 0x0", "3 7 7 - 2 exec 0x8", "3 7 7 + 1 30 device a 0x0"]
    recording = recorded.read_recording(written(tmp_path / "exec.calls", *lines[1:]))
    assert (recording.peak, recording.streams, len(recording.calls)) == (30, 2, 5)


def test_a_program_that_begins_with_memory_of_another_kind_is_another_program(tmp_path: Path) -> None:
    trace = (
        "1 7 7 + 1 10 device a 0x0", "2 7 7 + 2 20 device a 0x8", "3 7 7 + 1 99 host h 0x0", "4 7 7 + 2 99 host h 0x0",
        "5 7 7 + 3 30 device a 0x0", "6 7 7 - 1 h 0x0", "7 7 7 - 3 f 0x0",
    )  # fmt: skip
    events = list(parse_events("".join(f"{line}\n" for line in (FIRST_LINE, *trace)), "text"))
    lines = [line.strip() for line in recording_text(events, 7)]
    assert lines[3:] == [
        "3 7 7 - 1 exec 0x0", "3 7 7 - 2 exec 0x8", "5 7 7 + 3 30 device a 0x0", "7 7 7 - 3 f 0x0",
    ]  # fmt: skip
    recording = recorded.read_recording(written(tmp_path / "exec.calls", *lines[1:]))
    assert recording.peak == 30
    assert "".join(pool_log(events, 7)).splitlines() == ["+ 1 10 256", "+ 2 20 256", "- 1", "- 2", "+ 3 30 256", "- 3"]


def test_nothing_is_written_if_one_trace_has_nothing_to_replay(calls: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    none = written(tmp_path / "none.trace", "1 7 7 + 1 10 host cuMemAllocHost_v2 0x0")
    with pytest.raises(UsageError, match=r"no process of .*none\.trace took memory"):
        recordings.prepare([calls, none], folder)
    with pytest.raises(UsageError, match="two files are named program"):
        recordings.prepare([calls, calls], folder)
    assert not list(folder.iterdir())


def test_a_generated_recording_says_so_and_can_be_replayed(tmp_path: Path) -> None:
    made = recordings.generate(tmp_path)
    assert made.name == "generated-training.calls"
    recording = recorded.read_recording(made)
    assert recording.streams == 1
    assert {TAKEN, GIVEN} == {event.what for event in read_events(made)}
    # Eight at once fit into the 32 GiB that pools hand out unless told otherwise.
    assert 1 << 30 < recording.peak < 7 << 29


# --- The driver -------------------------------------------------------------------------------------------------------


@needs_driver
def test_the_driver_replays_on_streams_and_tells_reserved_memory_and_failures(calls: Path) -> None:
    done = replayed(calls, "--subject", "stream_pool", "--seconds", "0.5")
    assert (done.returncode, done.stderr) == (0, "")
    alone, together = records_of(done.stdout)
    wanted = {"case": "recording", "subject": "stream_pool", "calls": 5, "streams": 2}
    assert alone.items() >= {**wanted, "threads": 1, "peak_live_bytes": _PEAK, "budget_failures": 0}.items()
    assert together.items() >= {**wanted, "threads": 8}.items()
    assert alone["budget_bytes"] == _PEAK + _PEAK // 10
    assert _PEAK <= alone["peak_reserved_bytes"] <= 1 << 31
    for each in (alone, together):
        assert 0 < each["call_least_ns"] <= each["call_ns"] <= each["call_greatest_ns"]


@needs_driver
def test_memory_in_whole_pieces_moves_before_a_request_fails_in_the_budget(tmp_path: Path) -> None:
    # Two of 41 MiB leave a hole on each side of a small block, and 80 MiB fit into neither, but into both together.
    half, both = 41 * _MIB, 80 * _MIB
    lines = [
        f"1 7 7 + 1 {half} device a 0x0", f"2 7 7 + 2 {_MIB} device a 0x0", f"3 7 7 + 3 {half} device a 0x0",
        "4 7 7 - 1 a 0x0", "5 7 7 - 3 a 0x0", f"6 7 7 + 4 {both} device a 0x0", "7 7 7 - 4 a 0x0", "8 7 7 - 2 a 0x0",
    ]  # fmt: skip
    done = replayed(written(tmp_path / "holes.calls", *lines), "--subject", "stream_pool", "--quick")
    [record] = records_of(done.stdout)
    assert record["peak_live_bytes"] == 2 * half + _MIB
    assert record["budget_failures"] == 0
    # Without a budget it grows instead.
    assert record["peak_reserved_bytes"] > record["budget_bytes"]


@needs_driver
def test_a_request_that_no_pool_can_hold_in_the_budget_is_a_failure(tmp_path: Path) -> None:
    # Every other block of 1 MiB is freed, so that each piece of 2 MiB has a block that keeps it in its place.
    count = 80
    large = count // 2 * _MIB
    lines = [
        *(f"1 7 7 + {number} {_MIB} device a 0x0" for number in range(count)),
        *(f"2 7 7 - {number} a 0x0" for number in range(0, count, 2)),
        f"3 7 7 + {count} {large} device a 0x0", f"4 7 7 - {count} a 0x0",
        *(f"5 7 7 - {number} a 0x0" for number in range(1, count, 2)),
    ]  # fmt: skip
    done = replayed(written(tmp_path / "holes.calls", *lines), "--subject", "stream_pool", "--quick")
    [record] = records_of(done.stdout)
    assert record["peak_live_bytes"] == count * _MIB
    assert record["budget_failures"] == 1
    # Without a budget it grows instead.
    assert record["peak_reserved_bytes"] > record["budget_bytes"]


@needs_driver
def test_what_does_not_fit_into_the_memory_is_an_error(calls: Path) -> None:
    done = replayed(calls, "--subject", "stream_pool", "--bytes", str(4 * _UNIT))
    assert done.returncode == 1
    assert "give it more memory with --bytes" in done.stderr
    # Eight at once need more than one.
    done = replayed(calls, "--subject", "stream_pool", "--bytes", str(64 * _UNIT), "--seconds", "0.2")
    assert "8 replays at once need more than --bytes" in done.stderr
    assert [each["threads"] for each in records_of(done.stdout)] == [1]


@needs_driver
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), "has no calls"),
        (("1 7 7 + 1 10 device a",), "line 2 "),
        (("1 7 7 + 1 10 device a 0x0 more",), "line 2 "),
        (("1 7 7 + 1 10 device a 0x0", "1 7 7 + 1 10 device a 0x0"), "line 3 "),
        (("1 7 7 + 1 10 device a 0x0", "1 7 7 - 2 a 0x0"), "takes back a block that is not live"),
        (("1 7 7 + 1 10 device a 0x0", "1 8 8 + 2 10 device a 0x0"), "of another process"),
        (("1 7 7 * 1 10 device a 0x0",), "line 2 "),
    ],
)
def test_the_driver_and_python_refuse_what_is_no_recording(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    path = written(tmp_path / "bad.calls", *lines)
    done = replayed(path)
    assert done.returncode == 1
    assert said in done.stderr
    with pytest.raises(UsageError):
        recorded.read_recording(path)


@needs_driver
def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("+ 1 100 256\n", encoding="utf-8")
    assert "is no trace of 'warpheap run'" in replayed(path).stderr
    assert "cannot read the recording" in replayed(tmp_path / "none").stderr


# --- Pools that are called from Python --------------------------------------------------------------------------------


class Shelf:
    """A pool that has so many bytes, and never closes a gap."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.used = 0
        self.asked: list[tuple[str, int, int]] = []

    def allocate(self, size: int, stream: int) -> int:
        if self.most is not None and self.used + size > self.most:
            raise MemoryError
        self.used += size
        self.asked.append(("+", size, stream))
        return size

    def free(self, block: int, stream: int) -> None:
        self.asked.append(("-", block, stream))


def test_a_pool_from_python_is_timed_then_made_anew_for_its_peak_and_its_budget(calls: Path) -> None:
    made: list[Shelf] = []

    def make(budget: int | None) -> recorded.Pool:
        shelf = Shelf(budget)
        made.append(shelf)
        return recorded.Pool(shelf.allocate, shelf.free, MemoryError, lambda: shelf.used)

    record = recorded.measure(make, recorded.read_recording(calls), Effort(3, 10))
    budget = _PEAK + _PEAK // 10
    assert [shelf.most for shelf in made] == [None, None, budget]
    assert made[1].asked == [
        ("+", 4 * _UNIT, 0), ("+", 8 * _UNIT, 1), ("-", 4 * _UNIT, 0), ("+", 4 * _UNIT, 0), ("-", 8 * _UNIT, 1),
        ("-", 4 * _UNIT, 0),
    ]  # fmt: skip
    # One that warms up and three that are timed went to the first.
    assert len(made[0].asked) == 4 * 6
    assert record["peak_reserved_bytes"] == 16 * _UNIT
    assert (record["budget_bytes"], record["budget_failures"]) == (budget, 1)
    assert record["call_ns"] > 0


def test_a_refused_request_is_counted_once_and_its_block_never_taken_back(calls: Path) -> None:
    shelf = Shelf(4 * _UNIT)
    pool = recorded.Pool(shelf.allocate, shelf.free, MemoryError)
    assert recorded.replay(pool, recorded.read_recording(calls).calls)[1] == 2
    assert shelf.asked == [("+", 4 * _UNIT, 0), ("-", 4 * _UNIT, 0)]


@pytest.mark.parametrize("library", ["torch", "cupy", "rmm"])
def test_a_library_that_is_missing_says_what_to_install(calls: Path, library: str, tmp_path: Path) -> None:
    # Modules that refuse to be imported, so that it makes no difference what this Python has.
    (tmp_path / f"{library}.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    words = [*recorded.command(sys.executable), "--library", library, "--case", "recording", "--log", str(calls)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(tmp_path), "PATH": ""}
    )
    assert done.returncode == 4
    assert f"{library} cannot be measured: not here; install it" in done.stderr


def test_it_runs_in_a_python_that_has_not_the_package(calls: Path) -> None:
    words = recorded.command(sys.executable)
    words[1:1] = ["-I", "-S"]
    more = ["--library", "python", "--case", "recording", "--log", str(calls), "--repetitions", "1"]
    done = subprocess.run([*words, *more], capture_output=True, text=True, check=True)
    [record] = records_of(done.stdout)
    assert record.items() >= {"log": "program.calls", "calls": 5, "streams": 2, "peak_live_bytes": _PEAK}.items()


# --- The command ------------------------------------------------------------------------------------------------------


@needs_driver
@needs_library
def test_a_program_is_traced_and_replayed(
    warpheap: Command, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    laboratory = Laboratory(tmp_path_factory.mktemp("recording"))
    trace = tmp_path / "stand-in.trace"
    steps = split("take:1000 async:2000 take:3000 give:0 give-async:1 threads:20")
    end = laboratory.run(laboratory.program, "table", *steps, options=("--mode", "trace", "--out", str(trace)))
    assert end.code == 0
    out = tmp_path / "out"
    words = ["--backend", "host", "--cases", "recording", "--peers", "python", "--repetitions", "1", "--budget", "20"]
    done = warpheap("pool", "--out", str(out), *words, "--recording", str(trace))
    assert done.code == 0, done.err
    records = records_of((out / "pool.jsonl").read_text(encoding="utf-8"))
    assert {(each["subject"], each["threads"]) for each in records} == {
        ("stream_pool", 1), ("stream_pool", 8), ("malloc", 1), ("malloc", 8), ("python", 1),
    }  # fmt: skip
    taken = [event for event in read_events(trace) if event.what in (TAKEN, GIVEN)]
    assert {each["calls"] for each in records} == {len(taken)}
    assert {each["streams"] for each in records} == {2}
    assert "stand-in, stream_pool, reserved over live" in (out / "pool.html").read_text(encoding="utf-8")


def test_words_that_do_not_fit_together_are_refused(warpheap: Command, calls: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = warpheap("pool", "--out", str(out), "--cases", "churn", "--recording", str(calls))
    assert (done.code, "need the case 'recording'" in done.err) == (2, True)
    bad = tmp_path / "log"
    bad.write_text("+ 1 2 3\n", encoding="utf-8")
    done = warpheap("pool", "--out", str(out), "--recording", str(bad))
    assert (done.code, "is no trace of 'warpheap run'" in done.err) == (2, True)
    assert not out.exists()


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A Python whose programs find neither PyTorch nor CuPy."""
    for library in ("torch", "cupy"):
        (tmp_path / f"{library}.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield tmp_path


@needs_library
def test_a_program_whose_library_is_missing_is_left_out(without_library: Path) -> None:
    told: list[str] = []
    with pytest.raises(UsageError, match="nothing was recorded; install PyTorch or CuPy"):
        recordings.record(sys.executable, without_library, told.append)
    assert sum("is not recorded" in line and "not here" in line for line in told) == 2
    assert not list(without_library.glob("*.trace"))


@needs_library
def test_our_programs_are_run_under_the_library_with_their_settings(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c \"import os, sys; print(os.environ.get('LD_PRELOAD'), "
        "os.environ.get('PYTORCH_NO_CUDA_MEMORY_CACHING'), os.environ['WARPHEAP_RUN_MODE'], "
        f"file=open('{tmp_path}/said.' + os.path.basename(sys.argv[1]), 'w'))\" \"$@\"\n",
        encoding="utf-8",
    )
    python.chmod(0o755)
    traces = recordings.record(str(python), tmp_path, lambda _: None)
    assert [path.name for path in traces] == ["training.trace", "fft.trace"]
    assert all(path.read_text(encoding="utf-8") == f"{FIRST_LINE}\n" for path in traces)
    said = {name: (tmp_path / f"said.{name}.py").read_text(encoding="utf-8").split() for name in ("training", "fft")}
    assert said == {"training": [str(LIBRARY), "1", "trace"], "fft": [str(LIBRARY), "None", "trace"]}


# --- The report -------------------------------------------------------------------------------------------------------


def _record(subject: str, log: str = "/x/fft.calls", **more: Any) -> Record:
    known = {"case": "recording", "subject": subject, "status": "ok", "device": "Fake", "log": log, "threads": 1}
    return {**known, "call_ns": 50.0, "peak_live_bytes": 100, **more}


def test_the_bars_of_each_recording_are_judged() -> None:
    records = [
        _record("stream_pool", peak_reserved_bytes=104, budget_failures=0),
        _record("stream_pool", threads=8),
        _record("torch", "fft.calls", peak_reserved_bytes=103, budget_failures=2),
        _record("stream_pool", "/x/training.calls", peak_reserved_bytes=110, budget_failures=1),
    ]
    limits = {each.title: each for each in figures.limits_of(records)}
    assert [each.verdict for title, each in limits.items() if title.startswith("fft")] == ["met", "missed", "met"]
    assert [each.verdict for title, each in limits.items() if title.startswith("training")] == ["missed", "", "missed"]
    assert limits["fft, reserved by stream_pool to reserved by torch"].value == pytest.approx(104 / 103)


def test_each_recording_has_its_panels_and_what_failed_stands_there() -> None:
    records = [
        _record("stream_pool", peak_reserved_bytes=104, budget_failures=3),
        _record("stream_pool", threads=8, call_ns=70.0),
        {"case": "recording", "subject": "torch", "status": "failed", "reason": "it broke"},
    ]
    [chart] = [chart for chart in figures.charts_of(records) if chart.name == "pool-recording"]
    panels = {panel.title: panel for panel in chart.panels}
    assert list(panels) == [
        "fft: a call, both kinds", "fft: 8 threads at once, a call", "fft: reserved over live, at their peaks",
        "fft: failures within 1.1 of the peak live",
    ]  # fmt: skip
    values = {title: [bar.point and bar.point.y for bar in panel.bars] for title, panel in panels.items()}
    assert values["fft: reserved over live, at their peaks"] == [1.04]
    assert values["fft: failures within 1.1 of the peak live"] == [3]
    assert values["fft: 8 threads at once, a call"] == [pytest.approx(0.07)]
    assert [bar.allocator for bar in panels["fft: a call, both kinds"].bars] == ["stream_pool", "torch"]


def test_ratios_and_failures_of_a_recording_have_axes_of_their_own() -> None:
    records = [_record("stream_pool", peak_reserved_bytes=120, budget_failures=38)]
    [chart] = [chart for chart in figures.charts_of(records) if chart.name == "pool-recording"]
    scales = {panel.title: scale for panel, scale in zip(chart.panels, shared_scales(chart.panels), strict=True)}
    assert scales["fft: reserved over live, at their peaks"].high < 2
    assert scales["fft: failures within 1.1 of the peak live"].high > 38


def test_a_record_of_a_recording_needs_its_log_and_threads() -> None:
    from warpheap.experiments.check import validate
    from warpheap.record import RecordError

    record = _record("stream_pool", peak_reserved_bytes=104, budget_failures=0)
    assert validate(dict(record), measure.NEEDS) == record
    for field in ("log", "threads"):
        with pytest.raises(RecordError, match=field):
            validate({name: value for name, value in record.items() if name != field}, measure.NEEDS)
    with pytest.raises(RecordError, match="budget_failures"):
        validate({**record, "budget_failures": -1}, measure.NEEDS)
