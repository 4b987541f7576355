# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of programs that change or want too much: their points, and their chapters of the report."""

from typing import Any

import pytest
from records import measure, record, single
from synthetic import DESIGNS, survey

from warpheap.cases import CASES
from warpheap.cases.scarce import threads_of
from warpheap.record import Record
from warpheap.report.chapters import sections_of
from warpheap.report.chart import Bars, Panel
from warpheap.report.record_set import RecordSet


def shifted(allocator: str, mode: str, size: int, share: float, slowdown: float | None, **more: Any) -> Record:
    measures = {"share": single(share, better="higher"), "fresh": measure(100.0)}
    measures["slowdown"] = None if slowdown is None else measure(slowdown, unit="ratio")
    return record(case="shift", mode=mode, allocator=allocator, size=size, measures=measures, **more)


def rows_of(records: list[Record]) -> list[list[str]]:
    (section,) = sections_of("shift")(RecordSet(records))
    (grid,) = section.grids
    return [list(grid.columns), *([f"{cell.text} {cell.aside}".strip() for cell in row] for row in grid.rows)]


def test_a_change_of_size_is_told_by_its_share_and_its_slowdown() -> None:
    records = [
        shifted("good", "after_16", 8192, 1.0, 1.5),
        shifted("good", "after_64", 1024, 0.953, 20.0),
        shifted("keeps", "after_16", 8192, 0.0, None),
    ]
    assert rows_of(records) == [
        ["", "16 B to 8 KiB", "64 B to 1 KiB"],
        ["good", "100 % 1.5 times the time", "95.3 % 20 times the time"],
        ["keeps", "0 %", ""],
    ]


def test_each_change_has_a_panel_of_its_own_and_many_have_an_axis() -> None:
    records = [each for each in survey(designs=DESIGNS[:4]) if each["case"] == "shift"]
    (section,) = sections_of("shift")(RecordSet(records))
    titles = {chart.title: [panel.title for panel in chart.panels] for chart in section.charts}
    changes = ["16 B to 8 KiB", "64 B to 1 KiB", "8 KiB to 16 B"]
    assert titles["Share of a new heap that the second fill gets"] == changes
    assert titles["Time of the second fill"] == changes
    many = [shifted("good", mode, size, 1.0, 2.0) for mode in ("after_16", "after_64") for size in (16, 32, 64, 1024)]
    (section,) = sections_of("shift")(RecordSet(many))
    assert all(isinstance(panel, Panel) for chart in section.charts for panel in chart.panels)


def test_of_several_heaps_the_largest_counts() -> None:
    records = [
        shifted("good", "after_16", 8192, 0.5, 3.0, heap_bytes=2 << 30),
        shifted("good", "after_16", 8192, 1.0, 1.0, heap_bytes=1 << 30),
    ]
    assert rows_of(records)[1] == ["good", "50 % 3 times the time"]


def test_a_mode_that_tells_no_size_breaks_nothing() -> None:
    assert rows_of([shifted("good", "sideways", 64, 1.0, None)])[0] == ["", "0 B to 64 B"]


def test_without_a_result_there_is_no_chapter() -> None:
    lost = [record(case=case, allocator="good", status="timeout") for case in ("shift", "phases")]
    for each in lost:
        assert sections_of(each["case"])(RecordSet([each])) == []


def test_phases_are_drawn_one_by_one() -> None:
    records = [each for each in survey(designs=DESIGNS[:4]) if each["case"] == "phases"]
    (section,) = sections_of("phases")(RecordSet(records))
    titles = [chart.title for chart in section.charts]
    assert titles[-2:] == ["Time of each phase", "Share of its requests that each phase was refused"]
    for chart in section.charts[-2:]:
        for panel in chart.panels:
            assert isinstance(panel, Panel)
            assert panel.x_label == "phase"
            assert all(len(line.points) == 10 for line in panel.lines)
    refused = next(chart for chart in section.charts if chart.title == "Refused")
    (bars, _) = refused.panels
    assert isinstance(bars, Bars)
    assert bars.unit == "%"
    values = {bar.allocator: bar.point.y for bar in bars.bars if bar.point is not None}
    measured = [each for each in records if each["mode"] == "thread" and each["status"] == "ok"]
    given = {each["allocator"]: each["measures"]["refused"] for each in measured}
    assert values == {name: pytest.approx(100 * given[name]["median"]) for name in values}
    assert values


@pytest.mark.parametrize("case", ["arena", "huge", "phases", "scarce", "shift"])
def test_every_new_case_has_figures(case: str) -> None:
    records = [each for each in survey(designs=DESIGNS[:4]) if each["case"] == case]
    assert {each["mode"] for each in records} == set(CASES[case].modes)
    (section,) = sections_of(case)(RecordSet(records))
    assert section.text
    assert section.charts
    assert len({chart.name for chart in section.charts}) == len(section.charts)


def test_threads_of_a_scarce_heap_want_as_much_as_the_mode_says() -> None:
    for preset in CASES["scarce"].presets.values():
        for grids in preset.values():
            for axes in grids:
                mode, threads, size, heap = axes.modes[0], axes.threads[0], axes.sizes[0], axes.heaps[0]
                assert threads == threads_of(mode, size, heap)
                mean = size / 2 + 2 if mode.endswith("_mixed") else size
                wanted = 4 * mean * threads / heap
                assert wanted == pytest.approx(2 if mode.startswith("twice") else 1.1, rel=0.01)
    for preset in CASES["scarce"].presets.values():
        assert all(axes.threads[0] <= 1 << 16 for axes in preset.get("cuda", ())), "more would not run at once"


def test_huge_blocks_are_no_powers_of_two_either() -> None:
    single_sizes = {
        size for axes in CASES["huge"].presets["default"]["cuda"] if "single" in axes.modes for size in axes.sizes
    }
    assert any(size & (size - 1) for size in single_sizes)
    assert min(single_sizes) == 1 << 20
    assert max(single_sizes) >= 1 << 32


def test_a_shift_of_the_default_preset_goes_up_and_down() -> None:
    pairs = {(axes.modes[0], axes.sizes[0]) for axes in CASES["shift"].presets["default"]["cuda"]}
    assert pairs == {("after_16", 8192), ("after_64", 1024), ("after_8192", 16)}
