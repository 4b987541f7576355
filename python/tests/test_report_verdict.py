# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict and the advice: ratios to the best, and the rules that the page states."""

import pytest
from records import measure, record, single

from warpheap.record import Record
from warpheap.report.chart import Chart
from warpheap.report.chart_tables import grids_of
from warpheap.report.contest import NOTHING
from warpheap.report.guide import Advice, advise
from warpheap.report.lines import panel_of
from warpheap.report.numbers import TIMES
from warpheap.report.record_set import RecordSet
from warpheap.report.verdict import heat_map, winners

ORDER = ["throughput", "out_of_memory", "churn"]


def throughput(name: str, malloc: float, free: float | None = 1.0, **changes: object) -> Record:
    measures = {"malloc": measure(malloc), "free": None if free is None else measure(free)}
    return record(allocator=name, measures=measures, **changes)


def lost(name: str, **changes: object) -> Record:
    return record(allocator=name, status="crashed", reason="illegal access", **changes)


def advice_for(records: list[Record], need: str) -> Advice:
    return next(advice for advice in advise(RecordSet(records))[0] if advice.need == need)


def test_a_cell_is_the_geometric_mean_of_ratios_to_the_best() -> None:
    heat = heat_map(
        RecordSet([
            throughput("one", 2, size=16), throughput("two", 4, size=16),
            throughput("one", 80, size=64), throughput("two", 10, size=64),
        ]),
        ORDER,
    )  # fmt: skip
    assert heat is not None
    means = {row.allocator: row.cells[0].mean for row in heat.rows}
    assert means["one"] == pytest.approx((1 * 8) ** 0.5)
    assert means["two"] == pytest.approx((2 * 1) ** 0.5)
    assert [row.allocator for row in heat.rows] == ["two", "one"]


def test_where_more_is_better_the_ratio_is_turned() -> None:
    def share(name: str, value: float) -> Record:
        return record(case="out_of_memory", allocator=name, measures={"share": single(value, better="higher")})

    heat = heat_map(RecordSet([share("full", 1.0), share("half", 0.5), share("nothing", 0.0)]), ORDER)
    assert heat is not None
    assert [row.allocator for row in heat.rows] == ["full", "half", "nothing"]
    assert [row.cells[0].mean for row in heat.rows] == pytest.approx([1.0, 2.0, NOTHING])


def test_failures_are_counted_and_in_no_mean() -> None:
    heat = heat_map(
        RecordSet([throughput("one", 2), lost("two"), throughput("two", 2, size=64), lost("one", size=64)]), ORDER
    )
    assert heat is not None
    assert all((row.lost, row.cells[0].lost, row.cells[0].mean) == (1, 1, 1.0) for row in heat.rows)


def test_a_design_without_individual_free_wins_nothing() -> None:
    records = [throughput("bump", 1, None), throughput("one", 2), throughput("two", 4)]
    heat = heat_map(RecordSet(records), ORDER)
    assert heat is not None
    last = heat.rows[-1]
    assert (last.allocator, last.baseline, last.cells[0].mean) == ("bump", True, 0.5)
    assert winners(RecordSet(records), ORDER)[0].wins[0].names == ["one"]  # type: ignore[union-attr]


def test_who_failed_at_a_point_does_not_win_it() -> None:
    records = [throughput("fast", 1, size=16), lost("fast", size=32), throughput("slow", 5, size=16),
               throughput("slow", 5, size=32)]  # fmt: skip
    small = winners(RecordSet(records), ORDER)[0].wins[0]
    assert small is not None
    assert small.names == ["slow"]
    advice = advice_for(records, "Blocks up to 64 B")
    assert advice.names == ["slow"]
    assert advice.out == [("fast", f"no result at 1 of 2 points (crashed at 10,000 {TIMES} 32 B)")]


def test_who_was_not_measured_where_most_were_is_out() -> None:
    records = [throughput("fast", 1, size=16)]
    records += [throughput(name, cost, size=size) for name, cost in (("slow", 5), ("other", 6)) for size in (16, 32)]
    advice = advice_for(records, "Blocks up to 64 B")
    assert advice.out == [("fast", f"no result at 1 of 2 points (not measured at 10,000 {TIMES} 32 B)")]
    assert advice.names == ["slow"]


def test_one_lost_run_of_many_does_not_take_a_design_out_and_does_not_help_it() -> None:
    sizes = (4, 8, 16, 32, 64)
    records = [throughput(name, cost, size=size) for name, cost in (("slow", 3), ("slower", 5)) for size in sizes]
    records += [throughput("fast", 1, size=size) for size in sizes[:-1]] + [lost("fast", size=64)]
    advice = advice_for(records, "Blocks up to 64 B")
    where = f"no result at 1 of 5 points (crashed at 10,000 {TIMES} 64 B)"
    assert (advice.names, advice.out, advice.lacking) == (["fast"], [], [("fast", where)])
    assert (advice.first_at, advice.without) == ("First at 4 of 5 points.", f"fast: {where}.")
    # Where it has no result it counts as twice the slowest: of malloc 10 instead of 3, and of free 2 instead of 1.
    assert advice.next_ratio == pytest.approx((3**5 / (1**4 * 10) / 2) ** (1 / 10))
    # What it lacks costs it the first place where it is hardly ahead.
    hardly = [each | {"measures": {"malloc": measure(2.8), "free": measure(1)}} if each["allocator"] == "fast"
              and each["status"] == "ok" else each for each in records]  # fmt: skip
    assert advice_for(hardly, "Blocks up to 64 B").names == ["slow"]


def test_a_point_is_one_whatever_a_card_measures_and_equals_are_first_together() -> None:
    records = [throughput(name, cost, size=size) for name, cost in (("one", 1), ("two", 1)) for size in (16, 64)]
    advice = advice_for(records, "Blocks up to 64 B")
    assert (advice.points, advice.first_at) == (2, "First at 2 (one) and 2 (two) of 2 points.")
    assert advice.scope == "By throughput, mode thread, sizes up to 64 B: malloc and free; 2 points."


def test_a_design_that_lacks_one_of_the_measures_lacks_the_point() -> None:
    records = [
        throughput("one", 1),
        throughput("two", 2),
        throughput("half", 0.5, None),
        throughput("half", 1, size=2048),
    ]
    assert dict(advice_for(records, "Blocks up to 64 B").out) == {
        "half": f"no result at 1 of 1 point (no free at 10,000 {TIMES} 16 B)"
    }


def test_nobody_wins_where_the_others_were_not_run() -> None:
    # One design was run at one size more than the others, where it had no rival.
    records = [throughput(name, cost, size=16) for name, cost in (("fast", 1), ("middle", 3), ("slow", 6))]
    records += [throughput("slow", 1, size=size) for size in (32, 64)]
    advice = advice_for(records, "Blocks up to 64 B")
    assert (advice.names, advice.next_name, advice.out) == (["fast"], "middle", [])
    assert (advice.points, advice.of_points) == (1, 3)
    small = winners(RecordSet(records), ORDER)[0].wins[0]
    assert small is not None
    assert (small.names, small.points) == (["fast"], 1)
    heat = heat_map(RecordSet(records), ORDER)
    assert heat is not None
    assert {row.allocator: row.cells[0].mean for row in heat.rows} == pytest.approx({"fast": 1, "middle": 3, "slow": 6})


def test_a_design_that_was_run_alone_has_no_contest() -> None:
    advice = advice_for([throughput("one", 1)], "No special need")
    assert (advice.names, advice.note) == ([], "no contest: only one was run")
    win = winners(RecordSet([throughput("one", 1)]), ORDER)[0].wins[0]
    assert win is not None
    assert (win.names, win.note) == ([], "no contest: only one was run")
    apart = [throughput("one", 1, size=16), throughput("two", 1, size=32)]
    assert advice_for(apart, "No special need").note == "no contest: no point at which most of them were run"


def test_designs_without_free_win_where_nothing_is_freed_whatever_else_one_design_was_run_at() -> None:
    records = [throughput("bump", 1, None), throughput("one", 2), throughput("two", 3), throughput("two", 1, size=64)]
    assert advice_for(records, "No block is freed alone: the heap is reset as a whole").names == ["bump"]


def test_what_a_design_cannot_do_is_told_by_its_own_reason() -> None:
    cold = "the design's memory is the toolkit's, which a process cannot make new"
    large = "the design serves requests of up to 64 bytes"
    records = [record(allocator="toolkit", case="temperature", mode="cold", status="failed", reason=cold)]
    records += [record(allocator=name, case="temperature", mode="cold") for name in ("one", "two")]
    assert RecordSet(records).frees_individually("toolkit") is None
    records += [throughput("toolkit", 1), throughput("one", 2), throughput("two", 3)]
    records += [record(allocator="two", size=128, status="failed", reason=large), throughput("one", 2, size=128),
                throughput("toolkit", 1, size=128)]  # fmt: skip
    advice = advice_for(records, "No special need")
    assert advice.names == ["toolkit"]
    assert advice.out == [("two", f"{large} (1 of 2 points)")]


def exhaustion(name: str, refused: float, size: int = 16) -> Record:
    measures = {"refused": single(refused)}
    return record(case="exhaustion", allocator=name, size=size, measures=measures)


def test_a_best_value_of_0_is_measured_and_wins() -> None:
    records = [exhaustion("none", 0), exhaustion("none", 0, 64), exhaustion("some", 0), exhaustion("some", 0.1, 64)]
    row = next(each for each in winners(RecordSet(records), ORDER) if each.measure == "refused")
    small = row.wins[0]
    assert small is not None
    assert (small.names, small.next_name, small.next_ratio) == (["none"], "some", 0.0)
    heat = heat_map(RecordSet(records), ORDER)
    assert heat is not None
    cells = {row.allocator: row.cells[0].standing for row in heat.rows}
    assert (cells["none"].zeros, cells["none"].above, cells["some"].zeros, cells["some"].above) == (2, 0, 1, 1)


def test_what_nobody_can_tell_of_the_toolkits_heap_is_no_best_value() -> None:
    kept = {"toolkit": 0, "one": 4096, "two": 8192}
    records = [record(case="initialisation", allocator=name, measures={"metadata": single(value, unit="bytes")})
               for name, value in kept.items()]  # fmt: skip
    advice = advice_for(records, "The heap's own memory must be small")
    assert advice.names == ["one"]


def test_what_was_run_without_any_result_is_not_called_unmeasured() -> None:
    records = [throughput("one", 1, size=2048), throughput("two", 2, size=2048), lost("one"), lost("two")]
    small = winners(RecordSet(records), ORDER)[0].wins[0]
    assert small is not None
    assert (small.names, small.note) == ([], "no result")
    advice = advice_for(records, "Blocks up to 64 B")
    assert advice.names == []
    assert advice.out == [
        (name, f"no result at 1 of 1 point (crashed at 10,000 {TIMES} 16 B)") for name in ("one", "two")
    ]


def test_who_lacks_a_result_at_a_point_is_not_first_there() -> None:
    """Its missing time of `free` counts as 2, and the mean of 1 and 2 is before the mean of 10 and 1."""
    sizes = (16, 32, 64)
    records = [throughput("whole", 10, size=size) for size in sizes]
    records += [throughput("lacks", 1, None if size == 16 else 1.0, size=size) for size in sizes]
    advice = advice_for(records, "No special need")
    assert (advice.names, advice.first_at) == (["lacks"], "First at 2 of 3 points.")
    assert advice.without == f"lacks: no result at 1 of 3 points (no free at 10,000 {TIMES} 16 B)."


def test_points_that_differ_in_their_heap_alone_are_told_apart() -> None:
    def made(name: str, heap: int, **changes: object) -> Record:
        own = {"metadata": single(100, unit="bytes")}
        return record(allocator=name, case="initialisation", heap_bytes=heap << 30, measures=own, **changes)

    records = [made("one", heap) for heap in (1, 2, 4)] + [made("two", heap) for heap in (1, 2)]
    records.append(made("two", 4, status="crashed", reason="illegal access"))
    ((_, where),) = advice_for(records, "The heap's own memory must be small").lacking
    assert where == f"no result at 1 of 3 points (crashed at 10,000 {TIMES} 16 B in 4 GiB)"


def test_who_was_run_less_often_had_less_occasion_to_fail() -> None:
    records = [throughput("one", 1), throughput("two", 1), throughput("two", 1, size=64)]
    assert "one had 1 runs of 2" in advice_for(records, "It must never fail").rule


def test_a_table_marks_the_best_only_among_several_and_the_greatest_of_rates() -> None:
    def table(records: list[Record]) -> list[list[str]]:
        rates = {"rate": {"unit": "ops/s", "better": "higher"}}
        (grid,) = grids_of(Chart("rate", "", [panel_of(RecordSet(records), "size", "rate", rates["rate"], "")]))
        columns = range(1, len(grid.columns))
        return [[row[0].text for row in grid.rows if row[column].best] for column in columns]

    def rate(name: str, value: float, size: int) -> Record:
        return record(allocator=name, size=size, measures={"rate": measure(value, unit="ops/s", better="higher")})

    two = [rate("slow", 5, 16), rate("fast", 9, 16), rate("fast", 9, 32)]
    assert table(two) == [["fast"], []]


def test_who_is_within_five_per_cent_is_named_too_and_the_next_with_its_distance() -> None:
    records = [throughput("a", 100, 100), throughput("b", 104, 104), throughput("c", 150, 150)]
    advice = advice_for(records, "No special need")
    assert advice.names == ["a", "b"]
    assert (advice.next_name, advice.next_ratio) == ("c", pytest.approx(1.5))


def test_designs_without_individual_free_are_advised_only_where_none_is_needed() -> None:
    records = [throughput("bump", 1, None), throughput("one", 2)]
    assert advice_for(records, "No special need").names == ["one"]
    assert advice_for(records, "No block is freed alone: the heap is reset as a whole").names == ["bump"]


def test_never_failed_does_not_count_what_a_design_cannot_do() -> None:
    cannot = record(allocator="bump", case="churn", status="failed", reason="the design has no individual free")
    advice = advice_for([throughput("bump", 1, None), cannot, throughput("one", 2), lost("one", size=64)],
                        "It must never fail")  # fmt: skip
    assert advice.names == ["bump"]
    assert advice.out == [("one", "1 of 2 runs without a result")]


def test_needs_without_points_are_named_as_such() -> None:
    given, silent = advise(RecordSet([throughput("one", 2)]))
    assert "The kernel is short of registers" in silent
    assert not {advice.need for advice in given} & set(silent)


def test_host_times_take_no_part() -> None:
    records = [throughput("one", 2, backend="host"), throughput("two", 4, backend="host")]
    assert heat_map(RecordSet(records), ORDER) is None
    assert winners(RecordSet(records), ORDER) == []
