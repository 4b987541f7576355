# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that measure a record again name the preset that its points are of."""

from dataclasses import asdict
from typing import Any

import pytest
from records import record

from warpheap import project
from warpheap.again import commands_for
from warpheap.cases import CASES
from warpheap.plan import Catalogue, Wishes, each_point
from warpheap.record import Record


@pytest.fixture(autouse=True)
def designs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "registered_designs", lambda backend: ["one", "two"])
    monkeypatch.setattr(project, "find_installed", lambda: None)


def of_preset(
    preset: str, cases: str | None = None, names: tuple[str, ...] = ("one", "two"), **wishes: Any
) -> list[Record]:
    modes = {name: list(case.modes) or ["a_trace"] for name, case in CASES.items()}
    points = each_point(Wishes(preset=preset, cases=cases, **wishes), Catalogue("cuda", [], modes))
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


@pytest.mark.parametrize(
    ("preset", "cases", "wishes", "options"),
    [
        ("quick", "throughput", {"sizes": "16"}, "--cases throughput --sizes 16"),
        ("quick", "throughput,latency", {"sizes": "16"}, "--cases throughput,latency --sizes 16"),
        ("quick", None, {"iterations": 5}, "--iterations 5"),
        ("default", None, {"modes": "mixed"}, "--modes mixed"),
        ("default", None, {"threads": "1k"}, "--threads 1000"),
    ],
)
def test_what_was_asked_for_by_options_is_asked_for_by_the_same(
    preset: str, cases: str | None, wishes: dict[str, Any], options: str
) -> None:
    """Other presets have some of these points as well, and axes that are named in full make points between them."""
    assert (
        commands_for(of_preset(preset, cases, **wishes)) == f"./run survey --backend cuda --preset {preset} {options}"
    )


def test_rounds_that_differ_are_two_commands() -> None:
    records = [each for rounds in (5, 50) for each in of_preset("quick", "throughput", iterations=rounds)]
    start = "./run survey --backend cuda --preset quick --cases throughput --iterations"
    assert commands_for(records).splitlines() == [f"{start} 5", f"{start} 50"]


def test_warm_ups_that_differ_are_of_presets_that_differ() -> None:
    """No option names warm-ups."""
    records = [each for preset in ("quick", "default") for each in of_preset(preset, "initialisation", iterations=7)]
    assert {each["warmup"] for each in records} == {1, 2}
    assert commands_for(records).splitlines() == [
        f"./run survey --backend cuda --preset {preset} --cases initialisation --iterations 7"
        for preset in ("quick", "default")
    ]


def test_where_no_options_make_the_points_alone_they_make_them_among_others() -> None:
    own = of_preset("default", "throughput", sizes="24", threads="1k", modes="thread", iterations=7)
    made = commands_for([*own, *(each | {"size": 40, "threads": 77} for each in own)])
    assert made == (
        "./run survey --backend cuda --preset default --cases throughput --modes thread --threads 1000,77 "
        "--sizes 24,40 --heap 8589934592 --iterations 7"
    )


def test_of_two_presets_the_one_that_has_all_points_is_enough() -> None:
    """On the host `full` has all points of `paper`."""
    modes = {name: list(case.modes) or ["a_trace"] for name, case in CASES.items()}
    points = each_point(Wishes(preset="full"), Catalogue("host", [], modes))
    records = [record(**(asdict(each) | {"allocator": "one", "backend": "host"})) for each in points]
    assert commands_for(records) == "./run survey --backend host --preset full --allocators one"


@pytest.mark.parametrize("facts", [{"device": ["a"]}, {"memory_bytes": "80 GiB"}, {"memory_bytes": None}, {}])
def test_a_machine_that_tells_no_memory_changes_nothing(facts: dict[str, Any]) -> None:
    known = {"device": "Fake GPU"} | facts
    assert commands_for(of_preset("quick"), [known]) == "./run survey --backend cuda --preset quick"
