# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""From cases, presets and the command line to what the driver is asked."""

import io
import itertools
import re
import threading
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Finished, hear_prints, wait_until
from rich.console import Console

from warpheap import terminal
from warpheap.cases import CASES
from warpheap.cases.base import PRESETS
from warpheap.driver import Driver
from warpheap.errors import UsageError
from warpheap.forecast import Forecast
from warpheap.plan import Step, Wishes, catalogue_of, check_wishes, make_plan
from warpheap.record import read_records
from warpheap.units import parse_bytes, parse_count, parse_list

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]

ORDER = [
    "throughput",
    "latency",
    "scaling",
    "orders",
    "temperature",
    "fragmentation",
    "exhaustion",
    "out_of_memory",
    "compaction",
    "growth",
    "huge",
    "phases",
    "shift",
    "registers",
    "initialisation",
    "work_generation",
    "memory_access",
    "graph_init",
    "graph_update",
    "arena",
    "churn",
    "scarce",
    "trace",
]
TWELVE = " ".join(f"design_{number}" for number in range(12))


def steps_of(driver: Path, **wishes: Any) -> list[Step]:
    return make_plan(Wishes(**wishes), Driver.start(driver)).steps


def values(steps: list[Step], field: str) -> list[Any]:
    return list(dict.fromkeys(getattr(step.point, field) for step in steps))


def test_the_cases_come_in_the_order_of_the_survey() -> None:
    assert list(CASES) == ORDER


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_case_has_its_place_in_every_preset(case: Any) -> None:
    assert set(case.presets) == set(PRESETS)
    assert case.presets["quick"].get("cuda") and case.presets["default"].get("cuda") and case.presets["full"]["cuda"]
    for preset in case.presets.values():
        for grids in preset.values():
            for axes in grids:
                assert set(axes.modes) <= set(case.modes)
                assert axes.most_iterations >= axes.iterations
                assert all(size >= 4 for size in axes.sizes)


def test_quick_asks_few_enough_for_ten_minutes_of_a_large_registry(fake_driver: MakeDriver) -> None:
    # A point of a design took 0.85 s on an H200: 294 s for 43 points of eight designs.
    assert len(steps_of(fake_driver(allocators=TWELVE), preset="quick")) <= 600 / 0.85


def test_on_the_host_quick_has_what_needs_no_clock(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(backend="host", allocators="good"), preset="quick")
    cases = ["throughput", "fragmentation", "out_of_memory", "growth", "huge", "phases", "shift", "scarce"]
    assert values(steps, "case") == cases
    assert all(step.effort.most_iterations == step.point.iterations for step in steps)


def test_an_axis_that_does_not_matter_keeps_its_value(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="good"), cases="initialisation", threads="5", sizes="7", heap="1GiB")
    assert values(steps, "threads") == [32]
    assert values(steps, "size") == [16]
    assert values(steps, "heap_bytes") == [1 << 30]


def test_heaps_are_an_axis(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="good"), cases="initialisation", heap="64MiB,1GiB..4GiB")
    assert values(steps, "heap_bytes") == [64 << 20, 1 << 30, 2 << 30, 4 << 30]


def test_no_heap_of_a_preset_takes_more_than_half_of_the_device(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="good"), cases="initialisation", preset="full")  # the device has 16 GiB
    assert values(steps, "heap_bytes") == [256 << 20, 1 << 30, 8 << 30]


def test_traces_are_the_modes_that_the_driver_knows(fake_driver: MakeDriver) -> None:
    driver = fake_driver(allocators="good")
    assert values(steps_of(driver, cases="trace"), "mode") == ["graph", "solver"]
    assert values(steps_of(driver, cases="trace", modes="solver"), "mode") == ["solver"]


def test_modes_choose_cases_too(fake_driver: MakeDriver) -> None:
    driver = fake_driver(allocators="good")
    assert values(steps_of(driver, modes="shuffled,cold"), "case") == ["orders", "temperature"]
    # A mode that the preset leaves out is run when it is named.
    assert values(steps_of(driver, preset="quick", cases="orders", modes="reversed"), "mode") == ["reversed"]


def test_a_mode_among_the_cases_is_told(fake_driver: MakeDriver) -> None:
    driver = fake_driver(allocators="good")
    with pytest.raises(UsageError, match="--cases: cold is a mode of temperature; use --modes cold"):
        steps_of(driver, cases="throughput,cold")
    with pytest.raises(UsageError, match=r"warm.+temperature"):
        steps_of(driver, cases="warm")
    with pytest.raises(UsageError, match=r"--cases.+icy"):
        steps_of(driver, cases="icy")
    # The first kernel of a new heap, by threads and size.
    steps = steps_of(driver, modes="cold", threads="10k,100k", sizes="16,256")
    assert len(steps) == 4
    assert values(steps, "case") == ["temperature"]


def test_other_allocators_go_first_in_turn_over_all_cases(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="a b c"), cases="initialisation,temperature", preset="quick")
    assert [step.point.allocator for step in steps] == ["a", "b", "c", "b", "c", "a", "c", "a", "b"]


def test_rounds_and_precision_reach_the_driver(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="good")
    words = ("survey", "--driver", driver, "--out", tmp_path, "--cases", "scaling", "--threads", "64", "--sizes", "16")
    words = (*words, "--modes", "thread", "--iterations", "7")
    warpheap(*words, "--most-iterations", "70", "--precision", "0.01", "--time-limit", "9")
    (line,) = Path(f"{driver}.log").read_text().splitlines()
    for part in ("--iterations 7", "--most-iterations 70", "--precision 0.01", "--soft-limit 4.5"):
        assert part in line
    # Its medians are known to 1.3 %: enough for 2 %, and for 1 % only more rounds would help.
    for more in (("0.02", "700"), ("0.01", "70")):
        warpheap(*words, "--precision", more[0], "--most-iterations", more[1])
    assert len(Path(f"{driver}.log").read_text().splitlines()) == 1
    warpheap(*words, "--precision", "0.01", "--most-iterations", "700")
    assert len(Path(f"{driver}.log").read_text().splitlines()) == 2
    (record,) = read_records(tmp_path / "survey.jsonl")
    assert record["most_iterations"] == 700


def test_a_floor_that_is_not_known_well_is_not_measured_again(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    words = ("--cases", "scaling", "--threads", "64", "--sizes", "16", "--modes", "thread", "--iterations", "7")
    for noisy, runs in (("floor", 1), ("malloc", 2)):
        driver = fake_driver(allocators="good", noisy=noisy)
        log = Path(f"{driver}.log")
        log.unlink(missing_ok=True)
        for most in ("70", "700"):
            warpheap("survey", "--driver", driver, "--out", tmp_path / noisy, *words, "--most-iterations", most)
        assert len(log.read_text().splitlines()) == runs, noisy


def test_a_case_that_the_driver_lacks_is_told(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="good", cases="throughput fragmentation", backend="host")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path, "--preset", "quick")
    assert done.code == 0, done.err
    assert "growth is left out: driver does not know it; build it anew" in done.out
    done = warpheap("survey", "--driver", driver, "--out", tmp_path, "--preset", "quick", "--cases", "growth")
    assert done.code == 2
    assert "growth cannot run here" in done.err


def test_the_device_reaches_the_driver(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    small = ("--cases", "orders", "--preset", "quick", "--out", tmp_path)
    assert warpheap("survey", "--driver", fake_driver(), "--device", "0", *small).code == 0
    done = warpheap("survey", "--driver", fake_driver(backend="host"), "--device", "0", *small)
    assert done.code == 2
    assert "only the cuda backend" in done.err


@pytest.mark.parametrize("preset", PRESETS)
def test_no_heap_of_the_host_is_too_small_for_a_designs_own_state(preset: str) -> None:
    # The least heap that the docs promise blocks from: smaller ones may hold a design's state and nothing else.
    heaps = [
        heap
        for name, case in CASES.items()
        if name != "registers"
        for grid in case.presets[preset].get("host", ())
        for heap in grid.heaps
    ]
    assert min(heaps, default=1 << 19) >= 1 << 19


def test_a_plan_of_too_many_runs_is_refused_with_its_number(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(allocators=TWELVE)
    tracemalloc.start()
    done = warpheap(
        "survey", "--driver", driver, "--out", tmp_path / "out", "--threads", "1..1M", "--sizes", "4..8KiB+4"
    )
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.code == 2
    assert re.search(r"these are [\d,]{9,} runs, [\d,]{9,} points of 12 allocators", done.err)
    assert not (tmp_path / "out").exists()
    assert most < 64 << 20, "it made a list of them"
    # The exact step of the paper is no slip.
    paper = Wishes(cases="throughput", preset="paper", sizes="4..8KiB+4")
    check_wishes(paper, catalogue_of(Driver.start(driver)))


def test_what_the_driver_would_refuse_is_told_before_anything_is_measured(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    words = ("--cases", "throughput", "--sizes", "2,64")
    done = warpheap("survey", "--driver", fake_driver(), "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert "mode mixed" in done.err
    assert not (tmp_path / "driver.log").exists()


def test_a_line_at_intervals_tells_of_a_long_run_without_a_terminal(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.02)
    enough = tmp_path / "enough"
    lines: list[str] = []

    def hear(text: str) -> None:
        # A line that comes just before the run, or at its end, names no run.
        if text.startswith("0 of 1 runs") and text.endswith("now throughput good thread 32 x 16 B"):
            lines.append(text)
        if len(lines) == 2:
            enough.touch()

    hear_prints(monkeypatch, hear)
    point = ("--cases", "throughput", "--modes", "thread", "--threads", "32", "--sizes", "16")
    driver = fake_driver(allocators="good", until=str(enough))
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", *point)
    assert done.code == 0, done.err
    assert len(lines) >= 2
    assert set(lines) <= set(done.out.splitlines())


def test_a_run_that_ends_while_a_line_is_made_ends_no_lines(
    fake_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = steps_of(fake_driver(allocators="a"), cases="initialisation", preset="quick")
    counting, ended = threading.Event(), threading.Event()

    def count_slowly(what: Sequence[Any]) -> int:
        if threading.current_thread() is not threading.main_thread() and not ended.is_set():
            counting.set()
            ended.wait(10)
        return len(what)

    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.02)
    monkeypatch.setattr(terminal, "len", count_slowly, raising=False)
    text = io.StringIO()
    record = asdict(steps[0].point) | {"status": "ok"}
    with terminal.watch(Console(file=text), steps[:1], Forecast(steps[:1])) as progress:
        progress.started(steps[0])
        assert counting.wait(10)
        progress.finished(steps[0], record)
        ended.set()
        limit = time.monotonic() + 10
        while text.getvalue().count("1 of 1 runs") < 2 and time.monotonic() < limit:
            time.sleep(0.02)
    assert text.getvalue().count("1 of 1 runs") >= 2


def test_ranges_double_or_step() -> None:
    assert parse_list("4..64", "--sizes", parse_bytes) == (4, 8, 16, 32, 64)
    assert parse_list("1..1000", "--threads", parse_count)[-1] == 512
    assert parse_list("4..16+4,8,1KiB", "--sizes", parse_bytes) == (4, 8, 12, 16, 1024)
    for wrong in ("4..", "..4", "16..4", "4..8+0", ""):
        with pytest.raises(UsageError, match="--sizes"):
            parse_list(wrong, "--sizes", parse_bytes)


def test_the_forecast_takes_the_seconds_of_the_same_case(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="a b"), cases="initialisation,temperature", preset="quick")
    forecast = Forecast(steps)
    assert forecast.seconds_left() == len(steps) == 6
    forecast.learn({"case": "temperature", "allocator": "a", "seconds": 3.0})
    assert forecast.seconds_left() == 18  # nothing else is known
    forecast.learn({"case": "initialisation", "allocator": "b", "seconds": 10.0})
    assert forecast.seconds_left() == 2 * 10 + 4 * 3
    forecast.learn({"case": "temperature", "allocator": "b", "seconds": 5.0})
    assert forecast.seconds_left() == 2 * 10 + 2 * 3 + 2 * 5
    forecast.done(steps[-1])
    assert forecast.seconds_left() < 36


def test_the_forecast_takes_an_allocator_to_use_its_limit_as_in_other_cases(fake_driver: MakeDriver) -> None:
    steps = steps_of(fake_driver(allocators="a b"), cases="initialisation,temperature", preset="quick")
    limits = {step.point.case: step.effort.time_limit for step in steps}
    assert limits == {"initialisation": 15, "temperature": 10}
    forecast = Forecast(steps)
    for allocator, seconds in (("a", 15.0), ("b", 1.5)):
        forecast.learn({"case": "initialisation", "allocator": allocator, "seconds": seconds, "time_limit_s": 15})
    assert forecast.seconds_left() == pytest.approx(15 + 1.5 + 2 * 10 + 2 * 1)
    # What is known of the case itself says more, and nothing takes longer than its limit.
    forecast.learn({"case": "temperature", "allocator": "b", "seconds": 3.0, "time_limit_s": 10})
    forecast.learn({"case": "temperature", "allocator": "a", "seconds": 60.0, "time_limit_s": 60})
    assert forecast.seconds_left() == pytest.approx(15 + 1.5 + 2 * 10 + 2 * 3)


def test_a_line_at_intervals_counts_down_while_a_run_takes_long(
    fake_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = steps_of(fake_driver(allocators="a"), cases="initialisation", preset="quick")[:1]
    forecast = Forecast(steps, [{"case": "initialisation", "allocator": "a", "seconds": 4.0}])
    # Each line reads the clock once, so the figures do not depend on when it comes.
    clock = itertools.count()
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.02)
    text = io.StringIO()
    with terminal.watch(Console(file=text), steps, forecast) as progress:
        progress.started(steps[0])
        wait_until(lambda: text.getvalue().count("left;") >= 6)
    left = [int(seconds) for seconds in re.findall(r"about (\d+) s left;", text.getvalue())]
    assert left[:6] == [3, 2, 1, 0, 0, 0]
