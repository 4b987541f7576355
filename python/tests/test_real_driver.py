# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The survey with the real host driver, where it was built."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished

from warpheap import __version__, project
from warpheap.cases import CASES
from warpheap.driver import Driver
from warpheap.record import read_records, validate

Command = Callable[..., Finished]
# Another build than the preset's can be named.
NAMED = os.environ.get("WARPHEAP_BENCH_HOST")
BUILT = Path(NAMED) if NAMED else project.find_built_driver("host")
needs_driver = pytest.mark.skipif(BUILT is None, reason="the host driver is not built")


@needs_driver
def test_the_quick_survey_verifies_every_allocator(warpheap: Command, tmp_path: Path) -> None:
    assert BUILT is not None
    done = warpheap("survey", "--driver", BUILT, "--out", tmp_path, "--preset", "quick", "--cases", "throughput")
    assert done.code == 0, done.err
    records = read_records(tmp_path / "survey.jsonl")
    assert {each["allocator"] for each in records} == set(Driver.start(BUILT).names)
    assert {each["mode"] for each in records} == {"thread", "warp", "mixed"}
    assert all(each["status"] == "ok" and each["verified"] for each in records), records
    assert not any(each["timing_comparable"] for each in records)


@needs_driver
@pytest.mark.parametrize("preset", ["quick", "default"])
def test_every_case_of_a_preset_serves_a_design_that_frees(warpheap: Command, tmp_path: Path, preset: str) -> None:
    assert BUILT is not None
    design = next(each["name"] for each in Driver.start(BUILT).allocators if each["individual_free"])
    words = ("--allocators", design, "--preset", preset)
    done = warpheap("survey", "--driver", BUILT, "--out", tmp_path, *words)
    assert done.code == 0, done.err
    lost = [each for each in read_records(tmp_path / "survey.jsonl") if each["status"] != "ok"]
    assert not lost


@needs_driver
def test_no_design_fails_the_exhaustion_of_the_default_survey(warpheap: Command, tmp_path: Path) -> None:
    assert BUILT is not None
    # The designs that keep most state in the heap.
    wanted = ("--cases", "exhaustion", "--allocators", "bulk,warp_slab,bump")
    done = warpheap("survey", "--driver", BUILT, "--out", tmp_path, *wanted)
    assert done.code == 0, done.err
    lost = [each for each in read_records(tmp_path / "survey.jsonl") if each["status"] != "ok"]
    assert not lost


@needs_driver
def test_a_heap_that_is_too_small_is_counted_not_hidden(warpheap: Command, tmp_path: Path) -> None:
    assert BUILT is not None
    point = ("--allocators", "bump", "--modes", "thread", "--threads", "1000", "--sizes", "4096", "--heap", "1MiB")
    warpheap("survey", "--driver", BUILT, "--out", tmp_path, "--cases", "throughput", *point)
    (record,) = read_records(tmp_path / "survey.jsonl")
    assert record["status"] == "failed"
    # A bump heap of 1 MiB holds exactly 256 blocks of 4 KiB.
    assert record["failures"] == 1000 - 256
    assert record["verified"]
    assert record["measures"] == {}
    assert "744 of 1000 requests" in record["reason"]


@needs_driver
@pytest.mark.parametrize("mode", ["thread", "warp", "mixed"])
def test_sizes_that_are_no_words_are_served_and_checked(mode: str) -> None:
    assert BUILT is not None
    command = [BUILT, "--allocator", "bump", "--mode", mode, "--threads", "333", "--size", "37"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    record = validate(json.loads(done.stdout))
    assert record["verified"]
    assert record["rounds_judged"] == record["rounds"] == 8
    expected = 333 * 37 if mode != "mixed" else None
    if expected is not None:
        assert record["memory"]["requested_bytes"] == expected


@needs_driver
@pytest.mark.parametrize("case", ["throughput", "scaling"])
def test_the_floor_is_measured_in_each_timed_round_for_a_design_without_free_too(case: str) -> None:
    assert BUILT is not None
    command = [BUILT, "--case", case, "--allocator", "bump", "--mode", "warp", "--threads", "100", "--iterations", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measures = validate(json.loads(done.stdout))["measures"]
    assert list(measures) == ["malloc", "free", "floor"]
    assert measures["free"] is None
    floor = measures["floor"]
    assert (floor["unit"], floor["better"], floor["timing"]) == ("us", "lower", True)
    assert floor["count"] == measures["malloc"]["count"] == 4
    assert floor["min"] > 0


@needs_driver
def test_random_sizes_depend_on_the_seed_alone() -> None:
    assert BUILT is not None

    def asked(seed: int) -> int:
        command = [BUILT, "--allocator", "bump", "--mode", "mixed", "--size", "512", "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(json.loads(done.stdout)["memory"]["requested_bytes"])

    assert asked(1) == asked(1)
    assert asked(1) != asked(2)


@needs_driver
@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["--allocator", "bmp"], "bump"),
        (["--allocator", "bump", "--case", "x"], "throughput"),
        (["--allocator", "bump", "--mode", "x"], "thread, warp, mixed"),
        (["--allocator", "bump", "--size", "-1"], "whole number"),
        (["--allocator", "bump", "--frobnicate"], "--help"),
        (["--allocator", "bump", "stray"], "not expected"),
        (["--mode", "mixed", "--size", "3"], "at least 4"),
    ],
    ids=str,
)
def test_the_driver_answers_wrong_words_with_right_ones(words: list[str], right: str) -> None:
    assert BUILT is not None
    done = subprocess.run([BUILT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert right in done.stderr
    assert done.stdout == ""


@needs_driver
def test_driver_and_package_are_of_one_version_and_know_the_same_cases() -> None:
    assert BUILT is not None
    driver = Driver.start(BUILT)
    assert driver.machine["version"] == __version__
    ours = {name: case for name, case in CASES.items() if case.runner is None}
    assert list(driver.cases) == list(ours)
    text = subprocess.run([BUILT, "--cases"], capture_output=True, text=True, check=True).stdout
    axes = {each["name"]: set(each["axes"]) for each in map(json.loads, text.splitlines())}
    for name, case in ours.items():
        assert driver.cases[name] == list(case.modes) or not case.modes, name
        assert axes[name] == set(case.axes) - {"heap"}, name
