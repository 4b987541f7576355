# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict and the advice: ratios to the best, and the rules that the page states."""

import pytest
from records import measure, record, single

from warpheap.record import Record
from warpheap.report.guide import Advice, advise
from warpheap.report.ranking import NOTHING
from warpheap.report.verdict import heat_map, winners

ORDER = ["throughput", "out_of_memory", "churn"]


def throughput(name: str, malloc: float, free: float | None = 1.0, **changes: object) -> Record:
    measures = {"malloc": measure(malloc), "free": None if free is None else measure(free)}
    return record(allocator=name, measures=measures, **changes)


def lost(name: str, **changes: object) -> Record:
    return record(allocator=name, status="crashed", reason="illegal access", **changes)


def advice_for(records: list[Record], need: str) -> Advice:
    return next(advice for advice in advise(records)[0] if advice.need == need)


def test_a_cell_is_the_geometric_mean_of_ratios_to_the_best() -> None:
    heat = heat_map(
        [
            throughput("one", 2, size=16), throughput("two", 4, size=16),
            throughput("one", 80, size=64), throughput("two", 10, size=64),
        ],
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

    heat = heat_map([share("full", 1.0), share("half", 0.5), share("nothing", 0.0)], ORDER)
    assert heat is not None
    assert [row.allocator for row in heat.rows] == ["full", "half", "nothing"]
    assert [row.cells[0].mean for row in heat.rows] == pytest.approx([1.0, 2.0, NOTHING])


def test_failures_are_counted_and_in_no_mean() -> None:
    heat = heat_map([throughput("one", 2), lost("two"), throughput("two", 2, size=64), lost("one", size=64)], ORDER)
    assert heat is not None
    assert all((row.lost, row.cells[0].lost, row.cells[0].mean) == (1, 1, 1.0) for row in heat.rows)


def test_a_design_without_individual_free_wins_nothing() -> None:
    records = [throughput("bump", 1, None), throughput("one", 2), throughput("two", 4)]
    heat = heat_map(records, ORDER)
    assert heat is not None
    last = heat.rows[-1]
    assert (last.allocator, last.baseline, last.cells[0].mean) == ("bump", True, 0.5)
    assert winners(records, ORDER)[0].wins[0].names == ["one"]  # type: ignore[union-attr]


def test_who_failed_at_a_point_does_not_win_it() -> None:
    records = [throughput("fast", 1, size=16), lost("fast", size=32), throughput("slow", 5, size=16),
               throughput("slow", 5, size=32)]  # fmt: skip
    small = winners(records, ORDER)[0].wins[0]
    assert small is not None
    assert small.names == ["slow"]
    advice = advice_for(records, "Blocks up to 64 B")
    assert advice.names == ["slow"]
    assert advice.out == [("fast", "no result in 1 of 2 runs")]


def test_who_was_not_measured_everywhere_is_out() -> None:
    records = [throughput("fast", 1, size=16), throughput("slow", 5, size=16), throughput("slow", 5, size=32)]
    assert advice_for(records, "Blocks up to 64 B").out == [("fast", "not measured at 2 of 4 points")]


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
    given, silent = advise([throughput("one", 2)])
    assert "The kernel is short of registers" in silent
    assert not {advice.need for advice in given} & set(silent)


def test_host_times_take_no_part() -> None:
    records = [throughput("one", 2, backend="host"), throughput("two", 4, backend="host")]
    assert heat_map(records, ORDER) is None
    assert winners(records, ORDER) == []
