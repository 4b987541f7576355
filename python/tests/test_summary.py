# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in the terminal at a survey's end."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Finished
from records import measure, record, single
from rich.console import Console

from warpheap.record import Record
from warpheap.summary import print_summary

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]


def shown(records: Sequence[Record], capsys: pytest.CaptureFixture[str]) -> str:
    print_summary(Console(width=160), records)
    return capsys.readouterr().out


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if re.match(rf"\W*{start}\b", line))


def test_noise_is_told_and_warned_of(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    words = ("--cases", "temperature", "--preset", "quick")
    done = warpheap("survey", "--driver", fake_driver(), "--out", tmp_path / "calm", *words)
    assert "Noise" in done.out
    assert "1.3%" in line_of(done.out.split("Noise")[1], "temperature")
    assert "warning" not in done.out
    done = warpheap("survey", "--driver", fake_driver(noisy="free"), "--out", tmp_path / "noisy", *words)
    (warning,) = [line for line in done.out.splitlines() if line.startswith("warning:")]
    assert "4 of 8 medians are uncertain by more than 5%, worst free of temperature" in warning
    assert "by 7%" in warning


def test_samples_too_few_for_an_interval_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    none = {"median_low": None, "median_high": None, "count": 5}
    text = shown([record(), record(size=64, measures={"malloc": measure(**none), "free": measure(**none)})], capsys)
    row = line_of(text.split("Noise")[1], "throughput")
    assert [cell.strip() for cell in row.split("│")[2:6]] == ["2", "1.0%", "1.0%", "2"]


def test_who_is_how_far_from_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    rate = {"unit": "ops/s", "better": "higher"}
    records = [
        record(allocator=name, position=place, case=case, measures={"x": measure(median, **kind)})
        for place, (name, time, speed) in enumerate((("one", 10, 400), ("two", 40, 400), ("three", 20, 100)))
        for case, median, kind in (("throughput", time, {}), ("churn", speed, rate))
    ]
    text = shown(records, capsys).split("Allocators")[1]
    assert [line_of(text, name).split("│")[3].strip() for name in ("one", "two", "three")] == ["1.00", "2.00", "2.83"]


def test_nobody_is_the_best_where_the_others_were_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    def run(name: str, place: int, time: float, size: int) -> Record:
        return record(allocator=name, position=place, size=size, measures={"malloc": measure(time)})

    records = [run("one", 0, 10, 16), run("two", 1, 40, 16), run("two", 1, 1, 64)]
    text = shown(records, capsys).split("Allocators")[1]
    assert [line_of(text, name).split("│")[3].strip() for name in ("one", "two")] == ["1.00", "4.00"]
    assert "1 is the best" not in shown([run("one", 0, 10, 16)], capsys)


def test_what_the_machine_does_is_no_designs_merit(capsys: pytest.CaptureFixture[str]) -> None:
    wide = {"median_low": 1, "median_high": 9}
    records = [
        record(allocator=name, position=place, measures={"malloc": measure(malloc), "floor": measure(floor, **wide)})
        for place, (name, malloc, floor) in enumerate((("one", 10, 4), ("two", 40, 2)))
    ]
    text = shown(records, capsys)
    assert "throughput: malloc / floor" in text
    assert [line_of(text.split("Allocators")[1], name).split("│")[3].strip() for name in ("one", "two")] == [
        "1.00",
        "4.00",
    ]
    row = line_of(text.split("Noise")[1], "throughput")
    assert [cell.strip() for cell in row.split("│")[2:6]] == ["2", "1.0%", "1.0%", ""]
    assert "warning" not in text


def test_what_a_design_cannot_do_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown([record(), record(case="churn", status="failed", reason="the design has no individual free")], capsys)
    assert "1 ok, 1 cannot" in text
    assert "failed" not in text


def test_host_times_are_not_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    host = {"backend": "host", "device": "CPU"}
    measures = {"share": single(0.625, better="higher"), "total": measure(123.456)}
    text = shown([record(**host, case="out_of_memory", measures=measures)], capsys)
    assert "0.625" in text
    assert "123" not in text
    assert "Noise" not in text
