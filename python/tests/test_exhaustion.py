# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The exhaustion case: its heaps go with its sizes, and its chapter compares with the toolkit's heap."""

import pytest
from records import measure, record, single

from warpheap.cases import CASES
from warpheap.cases.exhaustion.show import sections
from warpheap.record import Record


def ran(allocator: str, size: int, rate: float, refused: float = 0.0) -> Record:
    measures = {"rate": measure(rate, unit="ops/s", better="higher"), "refused": single(refused)}
    heap = {"threads": 1024, "size": size, "heap_bytes": 1024 * size}
    return record(case="exhaustion", mode="thread", allocator=allocator, measures=measures, **heap)


def test_every_heap_holds_its_requests_exactly() -> None:
    for preset in CASES["exhaustion"].presets.values():
        for grids in preset.values():
            for axes in grids:
                assert [axes.threads[0] * axes.sizes[0]] == list(axes.heaps)


def test_panels_go_over_all_sizes_though_each_has_a_heap_of_its_own() -> None:
    charts = sections([ran("good", 16, 200.0), ran("good", 64, 100.0)])[0].charts
    assert [chart.name for chart in charts] == ["exhaustion-rate-served", "exhaustion-refused"]
    assert [point.x for point in charts[0].panels[0].lines[0].points] == [16, 64]


def test_the_geometric_mean_over_the_toolkit_s_heap_is_told() -> None:
    records = [ran("cuda_malloc", 16, 10.0), ran("cuda_malloc", 64, 10.0), ran("good", 16, 40.0), ran("good", 64, 10.0)]
    chart = sections(records)[0].charts[-1]
    assert [point.y for point in chart.panels[0].lines[0].points] == pytest.approx([4.0, 1.0])
    assert "good 2 over 2 sizes" in chart.note
