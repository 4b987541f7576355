# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The case compaction: its points, and its chapter of the report."""

from typing import Any

import pytest
from records import measure, record, single
from synthetic import DESIGNS, survey

from warpheap.cases import CASES
from warpheap.record import Record
from warpheap.report.chapters import sections_of
from warpheap.report.chapters.compaction import bound
from warpheap.report.record_set import RecordSet


def compacted(allocator: str, mode: str, size: int, regained: float, given_back: float, **more: Any) -> Record:
    measures = {
        "regained": single(regained, better="higher"),
        "given_back": single(given_back, better="higher"),
        "trim": measure(100.0),
    }
    return record(case="compaction", mode=mode, allocator=allocator, size=size, measures=measures, **more)


def rows_of(records: list[Record]) -> list[list[str]]:
    (section,) = sections_of("compaction")(RecordSet(records))
    (grid,) = section.grids
    return [list(grid.columns), *([f"{cell.text} {cell.aside}".strip() for cell in row] for row in grid.rows)]


def test_what_comes_back_is_told_beside_what_could() -> None:
    records = [
        compacted("good", "all_freed", 16, 1.0, 0.953),
        compacted("good", "few_kept", 256, 0.723, 0.0),
        compacted("keeps", "all_freed", 16, 0.0, 0.0),
    ]
    assert rows_of(records) == [
        ["", "all of 16 B freed", "99 % of 256 B freed"],
        ["good", "100 % 95.3 % given back", "72.3 % 0 % given back"],
        ["keeps", "0 % 0 % given back", ""],
        ["blocks stay in place", "100 %", "72.5 %"],
    ]


def test_the_bound_is_that_of_spans_without_survivors() -> None:
    assert bound("all_freed", 16) == 1
    assert bound("few_kept", 16) == pytest.approx(0.0058, rel=0.01)
    assert bound("few_kept", 256) == pytest.approx(0.725, rel=0.01)
    assert bound("few_kept", 8192) == pytest.approx(0.99)


def test_of_several_heaps_the_largest_counts() -> None:
    records = [
        compacted("good", "all_freed", 16, 0.5, 0.1, heap_bytes=2 << 30),
        compacted("good", "all_freed", 16, 1.0, 0.9, heap_bytes=1 << 30),
    ]
    assert rows_of(records)[1] == ["good", "50 % 10 % given back"]


def test_without_a_result_there_is_no_chapter() -> None:
    lost = record(case="compaction", allocator="good", status="timeout")
    assert sections_of("compaction")(RecordSet([lost])) == []


def test_the_case_has_figures_and_a_text() -> None:
    records = [each for each in survey(designs=DESIGNS[:4]) if each["case"] == "compaction"]
    assert {each["mode"] for each in records} == set(CASES["compaction"].modes)
    (section,) = sections_of("compaction")(RecordSet(records))
    assert section.text
    assert len({chart.name for chart in section.charts}) == len(section.charts) > 0


def test_the_default_preset_asks_what_the_experiment_asks() -> None:
    (axes,) = CASES["compaction"].presets["default"]["cuda"]
    assert set(axes.modes) == {"all_freed", "few_kept"}
    assert set(axes.sizes) == {16, 256}
