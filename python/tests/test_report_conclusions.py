# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's conclusions, judged over a record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished
from records import measure, record, single
from synthetic import DESIGNS, survey

from warpheap.cases import CASES
from warpheap.record import Record, write_records
from warpheap.report import conclusions, page, paper_text
from warpheap.report.claims import CLAIMS, FAMILIES, OURS, Bound, Claim, Order, Where
from warpheap.report.record_set import RecordSet

SCATTER, HALLOC, PAGES = "ScatterAlloc", "Halloc", "Ouroboros with pages"
MALLOC = Where("throughput", "malloc", sizes=(4, 512))
FIRST = Claim("6", "ScatterAlloc is first, the others are close", MALLOC, Order(((SCATTER,), (HALLOC, PAGES)), close=2))


def times(**of: float) -> list[Record]:
    return [
        record(allocator=name, size=size, measures={"malloc": measure(value)})
        for name, value in of.items()
        for size in (16, 64)
    ]


def judged(claim: Claim, records: list[Record]) -> conclusions.Verdict:
    return conclusions.judge(claim, RecordSet(records))


@pytest.mark.parametrize(
    ("of", "word"),
    [
        ({"scatter": 10, "halloc": 12, "ouroboros_s_p": 19}, "holds"),
        ({"scatter": 10, "halloc": 9.6, "ouroboros_s_p": 19}, "holds"),  # within 5 %
        ({"scatter": 10, "halloc": 9.4, "ouroboros_s_p": 19}, "changed"),
        ({"scatter": 10, "halloc": 12, "ouroboros_s_p": 21}, "changed"),  # not close
        ({"scatter": 10, "halloc": 12, "ouroboros_s_p": 21, "ouroboros_vl_p": 15}, "holds"),  # the best member counts
        ({"scatter": 10, "ouroboros_s_p": 15}, "holds"),
        ({"halloc": 12, "ouroboros_s_p": 15}, "void"),  # without the first
        ({"scatter": 10}, "void"),
        ({}, "void"),
    ],
)
def test_an_order_holds_if_no_later_family_is_ahead(of: dict[str, float], word: str) -> None:
    assert judged(FIRST, times(**of)).word == word


def test_figures_are_means_of_common_points_and_the_default_stands_beside() -> None:
    records = times(scatter=10, halloc=12, warp_slab=5)
    records.append(record(allocator="scatter", size=32, measures={"malloc": measure(1000)}))
    verdict = judged(FIRST, records)
    assert verdict.figures == pytest.approx({OURS: 5, SCATTER: 10, HALLOC: 12})
    assert list(verdict.figures) == [OURS, SCATTER, HALLOC]
    assert verdict.points == 2
    assert verdict.text == (
        "warp_slab 5 µs, ScatterAlloc 10 µs, Halloc 12 µs. 2 of 3 points: "
        "without a result at others are Halloc (1)."
        " Too few results of Ouroboros with pages."
    )


def test_a_family_that_is_lost_at_most_points_takes_no_part() -> None:
    records = times(scatter=10, halloc=12)
    for size in (4, 8, 32):
        records += [record(allocator=name, size=size, measures={"malloc": measure(20)}) for name in ("scatter",)]
        records.append(record(allocator="halloc", size=size, status="crashed"))
    verdict = judged(FIRST, records)
    assert verdict.word == "void"
    assert "Halloc" in verdict.text


def test_points_outside_of_the_claim_do_not_count() -> None:
    records = times(scatter=10, halloc=12)
    away: dict[str, Any] = {"allocator": "halloc", "measures": {"malloc": measure(1)}}
    records += [record(size=1024, **away), record(mode="warp", **away), record(case="scaling", **away)]
    assert judged(FIRST, records).word == "holds"


@pytest.mark.parametrize(("share", "word"), [(0.99, "holds"), (0.97, "changed"), (0.0, "changed")])
def test_a_bound_is_of_what_was_measured_where_more_is_better(share: float, word: str) -> None:
    claim = Claim("4.3.2", "", Where("out_of_memory", "share"), Bound((PAGES,), 0.98, at_least=True))
    value = single(share, better="higher")
    verdict = judged(claim, [record(case="out_of_memory", allocator="ouroboros_s_p", measures={"share": value})])
    assert verdict.word == word
    assert verdict.figures[PAGES] == pytest.approx(share)


@pytest.mark.parametrize(("time", "word"), [(999.0, "changed"), (1001.0, "holds")])
def test_a_bound_holds_at_each_point(time: float, word: str) -> None:
    claim = Claim("4.2.1", "", Where("throughput", "free"), Bound(("CUDA",), 1000.0, at_least=True))
    records = [record(allocator="cuda_malloc", size=16, measures={"free": measure(5000)}),
               record(allocator="cuda_malloc", size=64, measures={"free": measure(time)})]  # fmt: skip
    assert judged(claim, records).word == word


@pytest.mark.parametrize(("halloc", "word"), [(9.0, "holds"), (2000.0, "changed")])
def test_a_bound_of_most_families_holds_by_their_means(halloc: float, word: str) -> None:
    # Two of three families have to be within; one point above the limit puts no family beyond it.
    says = Bound((SCATTER, HALLOC, PAGES), 10.0, at_least=False, most=True)
    records = times(scatter=5, ouroboros_s_p=50, halloc=halloc)
    records.append(record(allocator="scatter", size=256, measures={"malloc": measure(11)}))
    records += [
        record(allocator=name, size=256, measures={"malloc": measure(9)}) for name in ("halloc", "ouroboros_s_p")
    ]
    assert judged(Claim("6", "", MALLOC, says), records).word == word


def test_each_claim_asks_for_what_the_survey_measures() -> None:
    measured = {(each["case"], name) for each in survey() for name in each.get("measures") or {}}
    for claim in CLAIMS:
        assert claim.where.case in CASES, claim.text
        assert (claim.where.case, claim.where.measure) in measured, claim.text
        modes = CASES[claim.where.case].modes
        assert not modes or set(claim.where.modes) <= set(modes), claim.text
        named = claim.says.families if isinstance(claim.says, Bound) else sum(map(tuple, claim.says.tiers), ())
        assert set(named) <= set(FAMILIES), claim.text


def test_the_page_shows_the_table_of_a_machine_that_can_answer(tmp_path: Path) -> None:
    page.write_report(tmp_path / "full.html", survey(designs=DESIGNS[:9]), "command")
    text = (tmp_path / "full.html").read_text()
    assert "that this record can answer hold" in text
    assert "Too few results of" in text
    page.write_report(tmp_path / "one.html", times(warp_slab=5), "command")
    assert "that this record can answer hold" not in (tmp_path / "one.html").read_text()


# --- As text ----------------------------------------------------------------------------------------------------------


def test_text_has_conclusions_and_the_families_at_each_figure_of_the_record() -> None:
    records = [
        record(allocator=name, threads=threads, size=size, measures={"malloc": measure(value)})
        for name, value in {"scatter": 20, "halloc": 12, "ouroboros_s_p": 10}.items()
        for threads, size in ((10_000, 16), (10_000, 64), (100_000, 16))
    ]
    text = paper_text.markdown_of(records)
    lines = text.splitlines()
    assert "### Conclusions: 0 of 2 that can be judged hold" in lines
    assert "3 points of 3 designs" not in text and "9 points of 3 designs" in text
    first = next(line for line in lines if line.startswith(f"| {CLAIMS[0].text} | 6 | changed | "))
    assert "Ouroboros with pages 10 µs, Halloc 12 µs, ScatterAlloc 20 µs. 3 points." in first
    absent = "Too few results of Ouroboros with chunks, XMalloc, Reg-Eff, CUDA."
    families = "Ouroboros with pages 10 µs, Halloc 12 µs, ScatterAlloc 20 µs."
    assert f"| 9a | thread-based allocation, 10,000 threads | {families} 2 points. {absent} |" in lines
    assert f"| 9c | thread-based allocation, 100,000 threads | {families} 1 point. {absent} |" in lines
    assert "- 9g, warp-based allocation: case throughput, mode warp is not in the record" in lines
    # Nobody measured frees, and 9e is of a second machine.
    assert not any(line.startswith(("| 9b |", "| 9e |")) for line in lines)


def test_text_has_a_part_for_each_machine() -> None:
    text = paper_text.markdown_of([*survey("First"), *survey("Second", seed=2)])
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## First, cuda backend", "## Second, cuda backend",
    ]  # fmt: skip


def test_a_later_record_replaces_the_earlier_one_in_the_text() -> None:
    records = times(scatter=10, halloc=12)
    later = [each | {"time": "2030-01-01T00:00:00Z", "measures": {"malloc": measure(5)}} for each in records]
    assert paper_text.markdown_of([*records, *later]) == paper_text.markdown_of(later)


def test_the_command_writes_the_text(warpheap: Callable[..., Finished], tmp_path: Path) -> None:
    source, page = tmp_path / "survey.jsonl", tmp_path / "page.md"
    write_records(source, survey())
    shown = warpheap("paper", source)
    assert shown.code == 0, shown.err
    assert warpheap("paper", source, "--out", page).code == 0
    assert page.read_text(encoding="utf-8") == shown.out == paper_text.markdown_of(survey()) + "\n"
    assert warpheap("paper", tmp_path).out == shown.out  # the folder of a survey
    for wrong, words in ((source, "is the record itself"), (tmp_path, "cannot be written")):
        refused = warpheap("paper", source, "--out", wrong)
        assert refused.code == 2
        assert words in refused.err
