# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The exhaustion case: its heaps go with its sizes, and its chapter compares with the toolkit's heap."""

import pytest
from records import measure, record, single

from warpheap.cases import CASES
from warpheap.record import Record
from warpheap.report.chapters.exhaustion import sections
from warpheap.report.record_set import RecordSet


def ran(allocator: str, size: int, rate: float, refused: float = 0.0, requests: int = 1024) -> Record:
    measures = {"rate": measure(rate, unit="ops/s", better="higher"), "refused": single(refused)}
    heap = {"threads": requests, "size": size, "heap_bytes": requests * size}
    return record(case="exhaustion", mode="thread", allocator=allocator, measures=measures, **heap)


def test_every_heap_holds_its_requests_exactly() -> None:
    for preset in CASES["exhaustion"].presets.values():
        for grids in preset.values():
            for axes in grids:
                assert [axes.threads[0] * axes.sizes[0]] == list(axes.heaps)


def test_panels_go_over_all_sizes_though_each_has_a_heap_of_its_own() -> None:
    charts = sections(RecordSet([ran("good", 16, 200.0), ran("good", 64, 100.0)]))[0].charts
    assert [chart.name for chart in charts] == ["exhaustion-rate-served", "exhaustion-refused"]
    assert [point.x for point in charts[0].panels[0].lines[0].points] == [16, 64]


def test_presets_cover_the_papers_sizes_in_a_bounded_number_of_requests() -> None:
    for name, preset in CASES["exhaustion"].presets.items():
        points = [(axes.sizes[0], axes.threads[0], axes.heaps[0]) for axes in preset["cuda"]]
        sizes = [size for size, _, _ in points]
        assert sizes == sorted(set(sizes))
        assert all(requests <= 1 << 20 and heap <= 512 << 20 for _, requests, heap in points)
        if name == "quick":
            assert sizes == [64], "what a quick survey has time for"
        else:
            assert sizes == [8 << power for power in range(17)]


def test_refused_requests_are_told_in_per_cent_on_an_axis_of_their_own() -> None:
    chart = sections(RecordSet([ran("good", 16, 200.0, 0.03), ran("good", 64, 100.0)]))[0].charts[1]
    panel = chart.panels[0]
    assert panel.unit == "%"
    assert [point.y for point in panel.lines[0].points] == pytest.approx([3, 0])


def test_the_rate_over_the_toolkit_s_heap_is_drawn_and_summed_up() -> None:
    records = [ran("cuda_malloc", 16, 10.0, 0.5), ran("cuda_malloc", 64, 10.0), ran("good", 16, 40.0, 0.04),
               ran("good", 64, 10.0), ran("good", 4096, 10.0)]  # fmt: skip
    section = sections(RecordSet(records))[0]
    panel = section.charts[-1].panels[0]
    assert [line.allocator for line in panel.lines] == ["good"]
    assert [point.y for point in panel.lines[0].points] == pytest.approx([4.0, 1.0])
    assert [(point.x, point.y) for point in panel.reference] == [(16, 1), (64, 1)]
    rows = [[f"{cell.text} {cell.aside}".strip() for cell in row] for row in section.grids[0].rows]
    assert ["good", "2 2 sizes", "1 at 64 B", "4 % at 16 B", "0 %", "3 of 3"] in rows
    assert ["cuda_malloc", "", "", "50 % at 16 B", "", "2 of 3"] in rows


def test_without_the_toolkit_s_heap_the_table_has_what_was_refused() -> None:
    section = sections(RecordSet([ran("good", 16, 40.0, 0.04)]))[0]
    assert [chart.name for chart in section.charts] == ["exhaustion-rate-served", "exhaustion-refused"]
    assert section.grids[0].rows[0][1].text == ""


def test_rates_are_compared_in_heaps_that_are_alike() -> None:
    records = [ran("cuda_malloc", 16, 10.0, requests=512), ran("good", 16, 20.0, 0.01, requests=512),
               ran("good", 16, 80.0, 0.03, requests=1024)]  # fmt: skip
    section = sections(RecordSet(records))[0]
    assert [point.y for point in section.charts[-1].panels[0].lines[0].points] == pytest.approx([2.0])
    rows = [[f"{cell.text} {cell.aside}".strip() for cell in row] for row in section.grids[0].rows]
    assert ["good", "2 1 size", "2 at 16 B", "3 % at 16 B", "", "1 of 1"] in rows
