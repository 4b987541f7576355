# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that measure a record again name the preset that its points are of."""

from dataclasses import asdict

import pytest
from records import record

from warpheap import project
from warpheap.again import commands_for
from warpheap.cases import CASES
from warpheap.plan import Catalogue, Wishes, points_of
from warpheap.record import Record


@pytest.fixture(autouse=True)
def designs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "registered_designs", lambda backend: ["one", "two"])
    monkeypatch.setattr(project, "find_installed", lambda: None)


def of_preset(preset: str, cases: str | None = None, names: tuple[str, ...] = ("one", "two")) -> list[Record]:
    modes = {name: list(case.modes) or ["a_trace"] for name, case in CASES.items()}
    points = points_of(Wishes(preset=preset, cases=cases), Catalogue("cuda", [], modes))
    return [record(**(asdict(point) | {"allocator": name})) for point in points for name in names]


@pytest.mark.parametrize("preset", ["quick", "default", "paper", "full"])
def test_a_whole_preset_is_its_name(preset: str) -> None:
    assert commands_for(of_preset(preset)) == f"./run survey --backend cuda --preset {preset}"


def test_two_presets_in_one_record_are_two_commands() -> None:
    quick, some = of_preset("quick"), of_preset("paper", "throughput,latency")
    assert commands_for([*quick, *some]).splitlines() == [
        "./run survey --backend cuda --preset quick",
        "./run survey --backend cuda --preset paper --cases throughput,latency",
    ]
    whole = commands_for([*quick, *of_preset("paper", names=("one",))]).splitlines()
    assert whole[-1] == "./run survey --backend cuda --preset paper --allocators one"


def test_a_survey_that_was_cut_short_is_gone_on_with_by_its_preset() -> None:
    cut = of_preset("paper", "throughput,latency")[:-10]
    assert commands_for(cut) == "./run survey --backend cuda --preset paper --cases throughput,latency"


def test_points_of_no_preset_are_named_by_their_axes() -> None:
    own = [record(allocator="one", threads=77, size=size, heap_bytes=1 << 20, iterations=5) for size in (16, 48)]
    assert commands_for(own) == (
        "./run survey --backend cuda --preset default --allocators one --cases throughput --modes thread --threads 77 "
        "--sizes 16,48 --heap 1048576 --iterations 5"
    )


def test_a_heap_that_the_machine_made_smaller_is_of_its_preset() -> None:
    memory = 1 << 30
    clamped = [each | {"heap_bytes": min(each["heap_bytes"], memory // 2)} for each in of_preset("quick", "churn")]
    facts = [{"device": "Fake GPU", "memory_bytes": memory}]
    assert commands_for(clamped, facts) == "./run survey --backend cuda --preset quick --cases churn"
