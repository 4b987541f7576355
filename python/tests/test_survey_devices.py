# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A survey on several GPUs: who measures what, what is recorded, and how it ends early."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, hear_prints
from records import record

from warpheap import process, survey, terminal
from warpheap.driver import Driver
from warpheap.errors import INTERRUPTED
from warpheap.forecast import Forecast
from warpheap.plan import Wishes, make_plan
from warpheap.record import RecordFile, read_records, write_records
from warpheap.record import file as file_module
from warpheap.workers import _Queue, points_of

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]
POINTS = ("--cases", "throughput", "--modes", "thread", "--threads", "1000", "--sizes", "16,32,64,128,256,512")


def records(folder: Path) -> list[dict[str, Any]]:
    return read_records(folder / "survey.jsonl")


def told(driver: Path) -> list[list[str]]:
    """Begins and ends of all runs: what, GPU, case, mode, size, allocator."""
    return [line.split() for line in Path(f"{driver}.gpus").read_text().splitlines()]


def test_every_gpu_works_on_one_case_at_a_time(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(gpus="3", allocators="one two three", seconds="0.1", meet="3")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "all", *POINTS)
    assert done.code == 0, done.err
    found = {(each["allocator"], each["size"]) for each in records(tmp_path / "out")}
    assert len(found) == len(records(tmp_path / "out")) == 18
    running: set[str] = set()
    most = 0
    for what, gpu, *_ in told(driver):
        if what == "begin":
            assert gpu not in running, "two cases ran on one GPU at a time"
            running.add(gpu)
        else:
            running.remove(gpu)
        most = max(most, len(running))
    assert most == 3, "they took turns"
    assert {gpu for _, gpu, *_ in told(driver)} == {"0", "1", "2"}
    assert "18 runs on 3 GPUs" in done.out
    assert "GPUs 0, 1, 2" in done.out
    assert (tmp_path / "out" / "report.html").is_file()


def test_all_allocators_of_a_point_run_on_one_gpu_in_turns(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(gpus="2", allocators="one two three", seconds="0.02", meet="2")
    warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "0,1", *POINTS)
    begun = [(gpu, size, name) for what, gpu, _, _, size, name in told(driver) if what == "begin"]
    for size in {size for _, size, _ in begun}:
        own = [(gpu, name) for gpu, other, name in begun if other == size]
        assert len({gpu for gpu, _ in own}) == 1
        assert len(own) == 3
    assert len({tuple(name for _, other, name in begun if other == size) for size in ("16", "32", "64")}) == 3
    # The record tells which GPU it was.
    told_gpus = {(size, gpu) for gpu, size, _ in begun}
    assert {(str(each["size"]), each["gpu"]) for each in records(tmp_path / "out")} == told_gpus


def test_the_records_of_workers_are_merged_and_gone(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(gpus="2")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", *POINTS)
    assert warpheap(*words, "--devices", "0,1").code == 0
    assert not list((tmp_path / "out").glob(survey.WORKER_RECORDS))
    assert json.loads((tmp_path / "out" / "machine.json").read_text())["device"] == "Fake <GPU>"
    runs = len(told(driver))
    again = warpheap(*words, "--devices", "1")
    assert "12 of 12 cases are in" in again.out
    assert len(told(driver)) == runs, "nothing was measured again, on whichever GPU"


def test_what_a_crashed_survey_left_is_not_lost(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(gpus="2")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", *POINTS)
    warpheap(*words)
    known = records(tmp_path / "out")
    # As if it had been killed: each worker's record is still there, and the survey's has the rest.
    write_records(tmp_path / "out" / "survey.jsonl", known[:5])
    write_records(tmp_path / "out" / "survey.gpu-0.jsonl", known[5:9])
    write_records(tmp_path / "out" / "survey.gpu-1.jsonl", known[9:])
    runs = len(told(driver))
    assert "12 of 12 cases are in" in warpheap(*words, "--devices", "all").out
    assert len(told(driver)) == runs
    assert len(records(tmp_path / "out")) == 12
    write_records(tmp_path / "out" / "survey.gpu-1.jsonl", known)
    warpheap(*words, "--devices", "all", "--fresh")
    assert len(told(driver)) == 2 * runs, "begun anew, whatever lay there"


def test_of_two_records_of_a_case_the_newest_is_kept(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    warpheap("survey", "--driver", fake_driver(), "--out", tmp_path, *POINTS[:-1], "16")
    one, other = records(tmp_path)
    file = RecordFile.open(tmp_path / "survey.jsonl")
    write_records(
        tmp_path / "survey.gpu-0.jsonl",
        [one | {"time": "2020-01-01T00:00:00Z", "seconds": 1}, other | {"time": "2030-01-01T00:00:00Z", "seconds": 2}],
    )
    survey.adopt(file)
    assert {each["allocator"]: each["seconds"] for each in records(tmp_path)} == {
        one["allocator"]: one["seconds"],
        other["allocator"]: 2,
    }


def test_an_interruption_loses_the_cases_in_hand_alone(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    # From 256 bytes on the driver interrupts the survey, while the other GPU is busy.
    driver = fake_driver(gpus="2", allocators="good interrupts", seconds="0.05")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", *POINTS)
    done = warpheap(*words, "--devices", "0,1")
    assert done.code == INTERRUPTED
    assert "Interrupted" in done.out
    assert "--devices 0,1" in done.out
    kept = records(tmp_path / "out")
    assert {each["status"] for each in kept} == {"ok"}, "a killed process is no result"
    assert 2 <= len(kept) < 12
    assert f"{len(kept)} of 12 cases are in" in done.out.split("Interrupted")[1]
    assert not list((tmp_path / "out").glob(survey.WORKER_RECORDS))
    assert not process._running
    # It goes on from there, with other allocators' points done once.
    ended = [line[1:] for line in told(driver) if line[0] == "end"]
    assert len(ended) >= len(kept)
    fake_driver(gpus="2", allocators="good interrupts", seconds="0")
    again = warpheap(*words, "--devices", "0,1", "--allocators", "good")
    assert again.code == 0, again.err
    assert len({each["size"] for each in records(tmp_path / "out") if each["allocator"] == "good"}) == 6


def test_a_worker_that_cannot_go_on_ends_the_survey(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = fake_driver(gpus="2")

    def full(file: RecordFile, record: dict[str, Any]) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RecordFile, "append", full)
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "0,1", *POINTS)
    assert done.code == 2
    assert "No space left on device" in done.err


def test_what_cannot_be_merged_stays_with_the_workers(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("survey", "--driver", fake_driver(gpus="2"), "--out", tmp_path / "out", "--devices", "0,1", *POINTS)
    extend = RecordFile.extend

    def full(file: RecordFile, found: Iterable[dict[str, Any]]) -> None:
        if any(True for _ in found):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(RecordFile, "extend", full)
    done = warpheap(*words)
    assert done.code == 2
    assert f"{tmp_path / 'out' / 'survey.jsonl'} cannot be written: No space left on device" in done.err
    monkeypatch.setattr(RecordFile, "extend", extend)
    assert "12 of 12 cases are in" in warpheap(*words).out


def test_workers_leave_what_is_known_already_and_it_is_merged_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [record(size=size, time_limit_s=10.0) for size in range(16, 316)]
    write_records(tmp_path / survey.RECORD_NAME, known)
    slower = record(size=16, status="timeout", reason="still running", measures={}, time_limit_s=1.0)
    write_records(tmp_path / "survey.gpu-0.jsonl", [*known[:200], record(size=4096)])
    write_records(tmp_path / "survey.gpu-1.jsonl", [*known[100:], {**known[0], "seconds": 9.0}, slower])
    file = RecordFile.open(tmp_path / survey.RECORD_NAME)
    writes: list[Path] = []
    real = file_module.write_records
    monkeypatch.setattr(file_module, "write_records", lambda path, each: (writes.append(path), real(path, each)))
    survey.adopt(file)
    assert len(writes) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == [survey.RECORD_NAME]
    assert len(file) == 301
    assert read_records(tmp_path / survey.RECORD_NAME) == list(file)
    assert all(each["status"] == "ok" for each in file)


def test_hangs_and_crashes_are_results_on_each_gpu(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(gpus="2", allocators="crashes good")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "0,1", *POINTS)
    assert done.code == 0, done.err
    by_name = {each["allocator"]: each["status"] for each in records(tmp_path / "out")}
    assert by_name == {"crashes": "crashed", "good": "ok"}
    assert "crashed" in done.out


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        ("0,7", "--devices: there is no GPU '7' here"),
        ("9", "--devices: there is no GPU '9' here"),
        ("0,0", "--devices: 0 is there twice"),
        ("0,", "--devices: use a number such as 0"),
        ("first", "--devices: use a number such as 0"),
        ("", "--devices: use a number such as 0"),
        ("-1", "--devices: use a number such as 0"),
    ],
)
def test_wrong_devices_are_told_before_anything_is_measured(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, devices: str, words: str
) -> None:
    driver = fake_driver(gpus="2")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", f"--devices={devices}", *POINTS)
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "out").exists()


def test_gpus_of_several_kinds_are_refused(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(gpus="3", device="Fast|Fast|Slow")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", *POINTS)
    done = warpheap(*words, "--devices", "all")
    assert done.code == 2
    assert "0 is Fast, 1 is Fast, 2 is Slow; a survey compares on one kind of GPU" in " ".join(done.err.split())
    assert warpheap(*words, "--devices", "0,1").code == 0


@pytest.mark.parametrize(
    ("visible", "used", "error"), [("2,1", {"1", "2"}, ""), ("", set(), "CUDA_VISIBLE_DEVICES names no GPU")]
)
def test_all_devices_are_those_that_the_environment_leaves(
    warpheap: Command,
    fake_driver: MakeDriver,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    visible: str,
    used: set[str],
    error: str,
) -> None:
    driver = fake_driver(gpus="3", allocators="one two", meet=str(len(used)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "all", *POINTS)
    assert (done.code, error in done.err) == (2 if error else 0, True)
    assert {gpu for _, gpu, *_ in (told(driver) if used else [])} == used


def test_devices_are_for_gpus_and_instead_of_a_device(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    words = ("survey", "--out", tmp_path / "out", *POINTS)
    done = warpheap(*words, "--driver", fake_driver(gpus="2"), "--devices", "all", "--device", "0")
    assert (done.code, "leave --device away" in done.err) == (2, True)
    done = warpheap(*words, "--driver", fake_driver(backend="host"), "--devices", "all")
    assert (done.code, "only the cuda backend" in done.err) == (2, True)
    done = warpheap(*words, "--backend", "host", "--devices", "all")
    assert (done.code, "only the cuda backend" in done.err) == (2, True)


def test_points_are_the_steps_that_differ_in_the_allocator(fake_driver: MakeDriver) -> None:
    driver = Driver.start(fake_driver(allocators="a b c"))
    steps = make_plan(Wishes(cases="temperature", preset="quick"), driver).steps
    points = points_of(steps)
    assert [len(point) for point in points] == [3, 3]
    assert [step for point in points for step in point] == steps


def test_the_forecast_shares_the_time_among_the_gpus(fake_driver: MakeDriver) -> None:
    driver = Driver.start(fake_driver(allocators="a b"))
    steps = make_plan(Wishes(cases="temperature", preset="quick"), driver).steps
    assert Forecast(steps, side_by_side=2).seconds_left() == Forecast(steps).seconds_left() / 2


def test_a_long_point_is_not_the_last_one_to_begin(fake_driver: MakeDriver) -> None:
    steps = make_plan(Wishes(cases="temperature,scaling", preset="quick"), Driver.start(fake_driver())).steps
    points = points_of(steps)
    assert len(points) == 7

    def taken(seconds: list[float]) -> list[int]:
        """The order of points that take that long each."""
        own = {id(step): each / len(point) for each, point in zip(seconds, points, strict=True) for step in point}
        waiting = _Queue(list(points), 2, lambda step: own[id(step)])
        return [points.index(waiting.take()) for _ in points]

    assert taken([1, 1, 1, 1, 1, 1, 1]) == [0, 1, 2, 3, 4, 5, 6], "the order of the plan"
    assert taken([1, 1, 1, 1, 1, 1, 9]) == [6, 0, 1, 2, 3, 4, 5]
    assert taken([1, 1, 9, 1, 1, 1, 3]) == [2, 0, 1, 6, 3, 4, 5], "once the others are few"


def test_an_interruption_ends_a_run_that_hangs_on_another_gpu(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(gpus="2", allocators="hangs interrupts")
    start = time.monotonic()
    words = ("--cases", "throughput", "--modes", "thread", "--threads", "1000", "--sizes", "256,512")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path, "--devices", "0,1", *words, "--time-limit", "60")
    assert done.code == INTERRUPTED
    assert time.monotonic() - start < 45
    assert records(tmp_path) == []


def test_a_line_tells_of_all_gpus(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.02)
    both = tmp_path / "both"
    # The first run of each GPU goes on once a line has told of both.
    hear_prints(monkeypatch, lambda text: both.touch() if text.endswith(" and 1 more") else None)
    driver = fake_driver(gpus="2", allocators="one two", seconds="0.05", until=str(both))
    done = warpheap("survey", "--driver", driver, "--out", tmp_path, "--devices", "all", *POINTS)
    assert done.code == 0, done.err
    lines = [line for line in done.out.splitlines() if " runs, about " in line]
    assert any(line.endswith(" and 1 more") for line in lines)
    assert not any("and 2 more" in line or "and 3 more" in line for line in lines)
