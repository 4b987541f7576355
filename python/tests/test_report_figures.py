# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as files, the paper's figures, and the axes that all figures stand on."""

import re
from pathlib import Path
from typing import Any

import pytest
from records import measure, record
from synthetic import DESIGNS, survey

from warpheap.cases import CASES
from warpheap.record import Record
from warpheap.report import generic, numbers, paper, plots, render, svg
from warpheap.report.chapters import sections_of, throughput
from warpheap.report.chart import Bar, Bars, Chart, Line, Lost, Panel, Point
from warpheap.report.chart_tables import grids_of
from warpheap.report.files import write_figures
from warpheap.report.lines import panel_of
from warpheap.report.looks import Looks, looks_of_names
from warpheap.report.record_set import RecordSet
from warpheap.report.rounds import thinned
from warpheap.report.scale import beyond, scale_of, shared_scales, shared_x_scales
from warpheap.report.svg import stretches
from warpheap.report.verdict import heat_map


def test_each_figure_is_written_twice(tmp_path: Path) -> None:
    wanted = ("registers", "memory_access")
    records = [each for each in survey(designs=DESIGNS[:3]) if each["case"] in wanted]
    files = write_figures(tmp_path / "figures", records)
    names = {path.stem for path in files}
    assert {"heat-map", "paper-11", "registers-all", "memory_access-write-read"} <= names
    assert len(files) == 2 * len(names)
    for path in files:
        start = path.read_bytes()[:400]
        assert start.startswith(b"\x89PNG") if path.suffix == ".png" else b"<svg" in start


def test_no_name_in_a_record_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "figures"
    written = write_figures(folder, [record(case="../../x", mode="a/b")])
    assert written
    assert {each.resolve().parent for each in written} == {folder}
    assert [each for each in tmp_path.rglob("*") if each.is_file() and each.parent != folder] == []


def test_all_figures_of_the_paper_are_there() -> None:
    records = survey(designs=DESIGNS[:3])
    charts, missing = paper.charts(RecordSet(records), RecordSet(survey("Other GPU", designs=DESIGNS[:3])))
    assert missing == []
    titles = " ".join(panel.title for chart in charts for panel in chart.panels)
    drawn = set(re.findall(r"as Figure (\d+[a-h])", titles))
    assert drawn == {f"9{letter}" for letter in "abcdefgh"} | {f"10{letter}" for letter in "abcdefgh"} | {
        f"11{letter}" for letter in "abcdefg"
    }
    assert "as Figure 9a: thread-based allocation, 10,000 threads" in titles
    assert "as Figure 10c: allocation scaling, 512 B" in titles


def test_the_baseline_is_in_the_panels_that_need_it() -> None:
    charts, _ = paper.charts(RecordSet(survey(designs=DESIGNS[:3])))
    panels = {panel.title[:13]: panel for chart in charts for panel in chart.panels if chart.name == "paper-11"}
    for number in ("as Figure 11c", "as Figure 11d", "as Figure 11e"):
        assert panels[number].reference_name
    assert panels["as Figure 11e"].reference or isinstance(panels["as Figure 11e"], Bars)


def test_the_batches_of_a_graph_are_a_table_and_no_figure() -> None:
    records = [each for each in survey(designs=DESIGNS[:3]) if each["case"] == "graph_update"]
    (section,) = sections_of("graph_update")(RecordSet(records))
    titles = " ".join(panel.title for chart in section.charts for panel in chart.panels)
    assert "insert" in titles and "delete" in titles
    assert "applied" not in titles and "moved" not in titles
    (table,) = section.grids
    assert [cell.text for cell in table.rows[0]] == [
        "coauthors uniform", "227,320", "1,363,920", "10,000", "9,990", "2,500"
    ]  # fmt: skip
    assert len(table.rows) == 4
    # A record without the graph's figures is shown without the table.
    (bare,) = sections_of("graph_update")(RecordSet([_without_graph(each) for each in records]))
    assert bare.charts and not bare.grids


def _without_graph(of: Record) -> Record:
    return {name: value for name, value in of.items() if name != "graph"}


def panels_of(case: str, records: list[Record]) -> list[Panel | Bars]:
    charts = [chart for section in sections_of(case)(RecordSet(records)) for chart in section.charts]
    return [panel for chart in charts if chart.name != "throughput-memory" for panel in chart.panels]


@pytest.mark.parametrize("case", ["throughput", "scaling"])
def test_the_floor_is_a_baseline_of_malloc_and_free_and_no_panel_of_its_own(case: str) -> None:
    def with_floor(floor: float, **changes: Any) -> Record:
        return record(case=case, measures={"malloc": measure(), "free": measure(), "floor": measure(floor)}, **changes)

    slow, fast = 5.0, 3.0
    grid = [
        with_floor(floor, allocator=name, threads=threads, size=size)
        for name, floor in (("bump", slow), ("warp_slab", fast), ("halloc", fast))
        for threads in (1024, 65_536)
        for size in (16, 64, 256)
    ]
    panels = panels_of(case, grid)
    assert {panel.title.split(",")[0] for panel in panels} == {"malloc", "free"}
    for panel in panels:
        assert isinstance(panel, Panel)
        assert len(panel.reference) == len(panel.lines[0].points) > 1
        assert all((point.y, point.least, point.most) == (fast, fast, slow) for point in panel.reference)
        assert "floor" in panel.reference_name
    one = panels_of(case, [with_floor(fast, allocator="bump")])
    assert [(panel.title, panel.reference) for panel in one] == [("malloc", fast), ("free", fast)]


@pytest.mark.parametrize("case", ["throughput", "scaling"])
def test_a_record_without_a_floor_is_shown_as_before(case: str) -> None:
    old = [record(case=case, threads=threads, size=size) for threads in (1024, 65_536) for size in (16, 64)]
    for records in (old, old[:1]):
        panels = panels_of(case, records)
        assert panels
        assert not any(panel.reference or panel.reference_name for panel in panels)


def test_a_floor_is_nowhere_in_the_verdict() -> None:
    records = [each for each in survey(designs=DESIGNS[:3]) if each["case"] in ("throughput", "scaling")]
    heat = heat_map(RecordSet(records), list(CASES))
    assert heat is not None
    assert [(column.case, column.measure) for column in heat.columns] == [
        (case, measure) for case in ("throughput", "scaling") for measure in ("malloc", "free")
    ]


def test_a_figure_without_points_says_why() -> None:
    _, missing = paper.charts(RecordSet([record(threads=20_000, size=size) for size in (16, 64)]))
    why = {each.number: each.why for each in missing}
    assert "second GPU" in why["9e"]
    assert why["10a"] == "case scaling, mode thread is not in the record"
    _, missing = paper.charts(RecordSet([record(backend="host", size=size) for size in (16, 64)]))
    assert "host backend" in {each.number: each.why for each in missing}["9a"]


def test_a_figure_has_its_own_points_or_is_missing() -> None:
    records = [record(threads=threads, size=size) for threads in (8192, 100_000) for size in (16, 64)]
    records += [record(case="scaling", threads=threads, size=64) for threads in (32, 1024)]
    charts, missing = paper.charts(RecordSet(records))
    titles = {panel.title for chart in charts for panel in chart.panels}
    assert titles == {
        "as Figure 9c: thread-based allocation, 100,000 threads",
        "as Figure 9d: thread-based deallocation, 100,000 threads",
        "as Figure 10b: allocation scaling, 64 B", "as Figure 10f: deallocation scaling, 64 B",
    }  # fmt: skip
    why = {each.number: each.why for each in missing}
    assert why["9a"] == "case throughput, mode thread was not run at 10,000 threads"
    assert why["10d"] == "case scaling, mode thread was not run at 8 KiB"


def test_no_stroke_crosses_a_lost_case() -> None:
    points = [Point(x, 1, 1, 1, 1, 1) for x in (16, 64, 256, 1024)]
    line = Line("one", points, [Lost(128, "timeout", "")])
    assert [[point.x for point in run] for run in stretches(line)] == [[16, 64], [256, 1024]]


def test_a_case_lost_everywhere_still_has_its_panel() -> None:
    records = [record(allocator="good", size=size) for size in (16, 64)]
    records += [record(allocator="bad", size=size, status="crashed") for size in (16, 64)]
    charts, _ = paper.charts(RecordSet(records))
    panel = charts[0].panels[0]
    assert isinstance(panel, Panel)
    assert [(line.allocator, len(line.points), len(line.lost)) for line in panel.lines] == [
        ("bad", 0, 2),
        ("good", 2, 0),
    ]


def test_long_series_are_thinned_to_medians_of_equal_stretches() -> None:
    points = thinned([float(value) for value in range(1000)])
    assert len(points) <= 120
    assert points[0].y == pytest.approx(4)
    assert (points[0].least, points[0].most) == (0, 8)
    assert len(thinned([1.0, 2.0])) == 2


def test_axes_are_logarithmic_where_values_differ_widely_and_hold_all_of_them() -> None:
    wide, narrow, share = scale_of([1, 1000]), scale_of([2.0, 3.0]), scale_of([0.1, 0.9], "ratio", True)
    assert wide.log
    assert not narrow.log
    assert (share.log, share.low) == (False, 0)
    for scale, values in ((wide, (1, 1000)), (narrow, (2.0, 3.0)), (share, (0.1, 0.9))):
        assert all(0 <= scale.share(value) <= 1 for value in values)
        assert 2 <= len(scale.ticks()) <= 8
        assert all(0 <= scale.share(tick) <= 1 for tick in scale.ticks())


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [0.0, 1e9], [1e-3, 1e12]])
def test_axes_can_take_anything(values: list[float]) -> None:
    scale = scale_of(values)
    assert scale.high > scale.low
    assert scale.ticks()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(7.136, "us", "7.14 µs"), (1500, "us", "1.5 ms"), (2.5e6, "us", "2.5 s"), (4096, "bytes", "4 KiB"),
     (1.23e9, "ops/s", "1.23 G/s"), (168, "count", "168"), (45_000, "cycles", "45 k"), (0, "bytes", "0 B"),
     (999.9, "us", "1 ms"), (0.25, "us", "250 ns")],
)  # fmt: skip
def test_numbers_are_short(value: float, unit: str, text: str) -> None:
    assert numbers.show(value, unit) == text


def test_a_share_is_per_cent_and_another_ratio_a_multiple() -> None:
    assert numbers.show(0.982, "ratio", share=True) == "98.2 %"
    assert numbers.show(1.3, "ratio") == f"1.3{numbers.TIMES}"


def test_a_measure_without_a_value_leaves_a_gap_and_no_failure() -> None:
    from warpheap.report.lines import lines_of

    records = [record(allocator="bump", measures={"malloc": measure(), "free": None})]
    assert lines_of(RecordSet(records), "size", "free") == []
    assert len(lines_of(RecordSet(records), "size", "malloc")) == 1


def _crowd(slow: float) -> list[Panel]:
    def line(name: str, y: float) -> Line:
        return Line(name, [Point(x, y * x, y * x, y * x, y * x, y * x) for x in (16, 64)])

    return [Panel("", [line("a", 1), line("b", 2), line("c", 3), line("slow", slow)], "us")]


def test_one_allocator_far_above_does_not_squash_the_others() -> None:
    scale = shared_scales(_crowd(1e5))[0]
    assert scale.share(3 * 64) > 0.8
    assert beyond(_crowd(1e5)) == {"slow": "6.4 s"}
    page = svg.draw(_crowd(1e5)[0], shared_x_scales(_crowd(1e5))[0], scale, looks_of_names(["a", "b", "c", "slow"]))
    assert page.count('class="beyond"') == 2
    assert 'data-y="6.4e+06"' in page


@pytest.mark.parametrize(("panels", "rows", "columns"), [(1, 1, 1), (3, 1, 3), (4, 2, 2), (5, 2, 3), (7, 3, 3)])
def test_the_panels_of_a_picture_fill_its_rows(panels: int, rows: int, columns: int) -> None:
    line = Line("a", [Point(x, 1.0, 1.0, 1.0, 1.0, 1.0) for x in (1, 2)])
    chart = Chart("many", "many", [Panel(str(number), [line], "us") for number in range(panels)])
    figure = plots.draw(chart, looks_of_names(["a"]))
    specification = figure.axes[0].get_gridspec()
    assert (specification.nrows, specification.ncols) == (rows, columns)
    plots.pyplot.close(figure)


@pytest.mark.parametrize("longest", ["a", "cuda_malloc_async", "cuda_malloc_async_releasing", "W" * 20])
def test_the_names_of_bars_stay_within_the_picture_and_off_their_neighbours(longest: str) -> None:
    bars = [Bar(name, Point(0, 1.0, 1.0, 1.0, 1.0, 1.0)) for name in ("short", longest)]
    chart = Chart("names", "names", [Bars(str(number), bars, "us") for number in range(6)])
    figure = plots.draw(chart, looks_of_names(["short", longest]))
    figure.canvas.draw()
    frames = [axes.get_window_extent() for axes in figure.axes]
    names = [label.get_window_extent() for axes in figure.axes for label in axes.get_yticklabels()]
    plots.pyplot.close(figure)
    assert min(name.x0 for name in names) >= 0
    assert not any(name.overlaps(frame) for name in names for frame in frames)


def test_crosses_stay_nearer_to_their_place_than_to_the_next() -> None:
    names = [f"design_{number}" for number in range(8)]
    places = [2**power for power in range(21)]
    point = Point(1, 1.0, 1.0, 1.0, 1.0, 1.0)
    lines = [Line(name, [point], [Lost(place, "timeout", "") for place in places]) for name in names]
    figure = plots.draw(Chart("lost", "lost", [Panel("", lines, "us")] * 3), looks_of_names(names))
    axes = figure.axes[0]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    found = [float(line.get_transform().transform((1.0, 1.0))[0]) for line in crosses]
    apart = axes.get_window_extent().width / len(places)
    plots.pyplot.close(figure)
    assert len(found) == len(names) and found == sorted(found)
    assert max(found) - min(found) < apart


def test_a_unit_stays_with_its_number() -> None:
    line = Line("a", [Point(x, 1.0, 1.0, 1.0, 1.0, 1.0) for x in (1, 2)])
    title = "as Figure 10a: allocation scaling, 16 B"
    figure = plots.draw(Chart("one", "one", [Panel(title, [line], "us")]), looks_of_names(["a"]))
    shown = figure.axes[0].get_title(loc="left") or figure.axes[0].get_title()
    plots.pyplot.close(figure)
    assert shown.splitlines()[-1].endswith("16\N{NO-BREAK SPACE}B")


def test_warps_are_called_warps() -> None:
    records = [record(case="scaling", mode="warp", threads=threads, size=64) for threads in (32, 1024)]
    panel = panel_of(RecordSet(records), "threads", "malloc", measure(), "")
    assert panel.x_label == "warps"


def test_an_allocator_that_is_a_little_above_stays_within_the_axis() -> None:
    assert beyond(_crowd(6)) == {}
    assert shared_scales(_crowd(6))[0].share(6 * 64) <= 1


def test_what_runs_out_is_told_in_the_unit_of_its_panel() -> None:
    ratios = [Panel("", _crowd(3)[0].lines, "ratio", scale="other")]
    assert beyond([*ratios, *_crowd(1e5)]) == {"slow": "6.4 s"}


def test_of_few_allocators_none_runs_out() -> None:
    panel = _crowd(1e5)[0]
    assert beyond([Panel("", panel.lines[2:], "us")]) == {}


def test_of_each_family_the_fastest_design_is_shown() -> None:
    times = {
        "warp_slab": 9.0,
        "ouroboros_s_p": 20.0,
        "ouroboros_va_c": 15.0,
        "ouroboros_vl_c": 30.0,
        "unheard": 50.0,
    }
    records = [
        record(case="throughput", allocator=name, size=size, measures={"malloc": measure(time), "free": measure(time)})
        for name, time in times.items()
        for size in (16, 64)
    ]
    records.append(record(case="throughput", allocator="bulk", status="crashed", measures={}))
    shown = throughput.fastest_of_families(records)
    assert shown.allocators == ["bulk", "ouroboros_va_c", "unheard", "warp_slab"]
    assert len(shown) == 7, "all records of those that are shown"


def test_a_design_with_no_result_is_not_the_fastest_of_its_family() -> None:
    lost = record(case="throughput", allocator="scatter", status="crashed", measures={})
    slow = record(case="throughput", allocator="flatter_scatter", measures={"malloc": measure(900.0)})
    assert throughput.fastest_of_families([lost, slow]).allocators == ["flatter_scatter"]


def test_a_design_that_lost_its_slow_points_is_not_the_fastest_of_its_family() -> None:
    def of(name: str, size: int, time: float) -> Record:
        return record(case="throughput", allocator=name, size=size, measures={"malloc": measure(time)})

    late = record(case="throughput", allocator="scatter", size=4096, status="timeout", measures={})
    records = [of("scatter", 16, 5.0), late, of("flatter_scatter", 16, 6.0), of("flatter_scatter", 4096, 900.0)]
    assert throughput.fastest_of_families(records).allocators == ["flatter_scatter"]


def test_the_papers_figures_leave_out_what_another_preset_added() -> None:
    def share(heap: int, size: int, value: float) -> Record:
        found = measure(value, unit="ratio", better="higher", timing=False)
        return record(case="out_of_memory", threads=100_000, size=size, heap_bytes=heap, measures={"share": found})

    def made(vertices: int) -> Record:
        return record(case="graph_init", mode="delaunay", threads=vertices, measures={"init": measure(5.0)})

    heaps = [share(heap, size, value) for heap, value in ((1 << 28, 0.5), (1 << 31, 0.9)) for size in (16, 64)]
    drawn, _ = paper.charts(RecordSet([*heaps, made(1 << 16), made(1 << 20)]))
    panels = {panel.title[:13]: panel for chart in drawn for panel in chart.panels}
    assert [point.y for line in panels["as Figure 11b"].lines for point in line.points] == [0.9, 0.9]
    assert isinstance(panels["as Figure 11f"], Bars), "one size of graph: no axis"
    _, missing = paper.charts(RecordSet([made(1 << 16)]))
    assert "case graph_init, mode delaunay was not run at 1,048,576 vertices" in [each.why for each in missing]


def test_of_many_designs_the_papers_figures_show_one_of_each_family() -> None:
    times = {
        **{"warp_slab": 9.0, "ouroboros_s_p": 20.0, "ouroboros_vl_p": 18.0, "reg_eff_c": 70.0, "reg_eff_cm": 50.0},
        **{"scatter": 15.0, "halloc": 14.0, "cuda_malloc": 900.0},
        **{f"unheard_{number}": 30.0 for number in range(8)},
    }
    records = [
        record(allocator=name, threads=100_000, size=size, measures={"malloc": measure(time), "free": measure(time)})
        for name, time in times.items()
        for size in (16, 64)
    ]
    wanted = {"warp_slab", "ouroboros_vl_p", "reg_eff_cm", "scatter", "halloc", "cuda_malloc"}
    (chart,), _ = paper.charts(RecordSet(records))
    assert all({line.allocator for line in panel.lines} == wanted for panel in chart.panels)
    few = [each for each in records if "unheard" not in each["allocator"]]
    (chart,), _ = paper.charts(RecordSet(few))
    assert all(len(panel.lines) == 8 for panel in chart.panels), "of few designs all"


def test_a_picture_of_some_allocators_has_the_looks_of_the_page_and_its_order() -> None:
    names = ("bump", "warp_slab", "ouroboros_s_p", "ouroboros_va_c", "halloc", "atomic_wrap")
    records = [
        record(case="throughput", allocator=name, position=position, size=size)
        for position, name in enumerate(names)
        for size in (16, 64)
    ]
    looks = Looks(records)
    shown = ("warp_slab", "ouroboros_va_c", "atomic_wrap")
    figure = throughput.against_size([each for each in records if each["allocator"] in shown], looks)
    handles = figure.legends[0].get_lines()
    # The page's legend has families in the order of their first design: bump and atomic_wrap are one.
    assert [handle.get_label() for handle in handles] == ["atomic_wrap", "warp_slab", "ouroboros_va_c"]
    for handle in handles:
        look = looks[str(handle.get_label())]
        assert (handle.get_color(), handle.get_marker()) == (look.light, plots._MARKERS[look.marker])
    plots.pyplot.close(figure)


def test_an_axis_whose_numbers_show_no_unit_has_it_in_its_heading() -> None:
    cycles = {"malloc": measure(1234.0, unit="cycles")}
    records = RecordSet([record(case="latency", size=size, measures=cycles) for size in (16, 64)])
    (chart,) = generic.charts(records)
    (panel,) = chart.panels
    assert panel.heading == "malloc, in cycles"
    looks = Looks(records)
    assert "<h5>malloc, in cycles</h5>" in render.panels_of(chart, looks)
    assert 'aria-label="malloc, in cycles: bump' in render.panels_of(chart, looks)
    assert [grid.title for grid in grids_of(chart)] == ["malloc, in cycles"]
    figure = plots.draw(chart, looks)
    assert figure.axes[0].get_title(loc="left") == "malloc, in cycles"
    plots.pyplot.close(figure)
    times = RecordSet([record(size=size) for size in (16, 64)])
    assert all("in " not in each.heading for each in generic.charts(times)[0].panels), "times show their unit"
