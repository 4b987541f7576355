# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report: what must be on the page, and what must not."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import Finished
from records import measure, record, single
from synthetic import DESIGNS, survey

from warpheap.record import Record, write_records
from warpheap.report.looks import Looks
from warpheap.report.page import write_report

Command = Callable[..., Finished]
Page = Callable[..., str]


def grid_of(**changes: object) -> list[Record]:
    return [
        record(allocator=name, position=position, threads=threads, size=size, **changes)
        for position, name in enumerate(("bump", "cuda_malloc"))
        for threads in (10_000, 100_000)
        for size in (16, 256, 4096)
    ]


@pytest.fixture
def page_of(tmp_path: Path) -> Page:
    def make(records: list[Record], **more: object) -> str:
        write_report(tmp_path / "page.html", records, "./run survey", **more)  # type: ignore[arg-type]
        return (tmp_path / "page.html").read_text()

    return make


def test_the_page_needs_nothing_beside_itself(page_of: Page) -> None:
    page = page_of(survey(designs=DESIGNS[:2]))
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "url(http" not in page
    assert "@import" not in page


@pytest.mark.parametrize(
    ("shared", "said"),
    [
        ((), "and had a process of its own."),
        ((True,), "; 1 of 2 shared a process with others, and each other one had its own."),
        ((True, True), "; processes served run after run."),
    ],
)
def test_the_page_tells_whether_runs_shared_a_process(page_of: Page, shared: tuple[bool, ...], said: str) -> None:
    runs = [record(size=size) for size in (16, 64)]
    page = page_of([{**run, "shared_process": True} if place < len(shared) else run for place, run in enumerate(runs)])
    assert said in " ".join(page.split())


def test_the_page_is_well_formed(page_of: Page) -> None:
    class Balance(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open_tags: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "link"):
                self.open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open_tags.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    page = page_of(survey(designs=DESIGNS[:2]))
    parser = Balance()
    parser.feed(page)
    assert not parser.open_tags
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r' id="([^"]+)"', page))


def test_every_case_has_its_chapter(page_of: Page) -> None:
    page = page_of(survey(designs=DESIGNS[:3]))
    for title in (
        "Throughput", "Latency of single requests", "Scaling with threads", "Order of frees", "Cold and warm heap",
        "Fragmentation", "Out of memory", "Growth until the heap is full", "Registers, stack and code",
        "One huge block", "Phases of other sizes", "From one size to another", "Many blocks, one release",
        "A heap that is too small",
        "What freed small blocks leave",
        "Initialisation", "Work generation", "Access to the blocks", "Churn inside a kernel", "Replay of traces",
        "Which allocator for my program", "Verdict", "Did not finish", "What was verified", "Machine and sources",
    ):  # fmt: skip
        assert f"<h2>{title}</h2>" in page


def test_a_case_that_nobody_knows_is_drawn_from_its_measures(page_of: Page) -> None:
    records = [
        record(
            case="weaving",
            mode="loom",
            allocator=name,
            size=size,
            measures={"thread_count": single(size, unit="count")},
        )
        for name in ("bump", "cuda_malloc")
        for size in (16, 64, 256)
    ]
    page = page_of(records)
    assert "<h2>Weaving</h2>" in page
    assert "thread count" in page


def test_times_and_machine_and_fingerprint_are_on_the_page(page_of: Page) -> None:
    page = page_of(grid_of(), facts=[{"device": "Fake GPU", "gpu_driver": "580.1", "memory_bytes": 1 << 37}])
    for text in ("7.5 µs", "Fake GPU", "a" * 64, "./run survey", "2026-11-21T06:52:53Z", "580.1", "128 GiB"):
        assert text in page


def test_failures_are_marked_listed_and_counted(page_of: Page) -> None:
    records = grid_of()
    records[-1] = record(
        allocator="cuda_malloc", position=1, threads=100_000, size=4096, status="timeout", reason="still <running>"
    )
    page = page_of(records)
    assert "still &lt;running&gt;" in page
    assert re.search(r"<b>1</b>\s*timeout", page)
    assert 'id="failures"' in page
    # A cross in the panels of malloc and free: of the paper's figures and of the chapter, against size and threads.
    assert page.count('class="x"') >= 4


def test_what_a_design_cannot_do_is_no_failure(page_of: Page) -> None:
    reason = "the design has no individual free"
    page = page_of([*grid_of(), record(case="churn", status="failed", reason=reason)])
    assert re.search(r"<b>0</b>\s*failed", page) is None
    assert re.search(r"<b>1</b>\s*cannot by design", page)


def test_an_allocator_without_any_result_is_on_the_page(page_of: Page) -> None:
    assert "it hung" in page_of([record(status="timeout"), record(status="timeout", size=64)])


def test_host_times_are_nowhere_on_the_page(page_of: Page) -> None:
    times = {"malloc": measure(123.456), "free": measure(234.567)}
    page = page_of(grid_of(backend="host", measures=times))
    assert "not comparable" in page
    for number in ("123", "235", "µs"):
        assert number not in re.sub(r'<svg.*?</svg>|<style.*?</style>|\s(?:d|x|y|cx|cy)="[^"]*"', "", page, flags=re.S)
    assert not re.search(r'data-t="[^"]*µs', page)
    assert "Address range over bytes asked for" in page


def test_host_measures_that_no_speed_is_in_are_shown(page_of: Page) -> None:
    measures = {"share": single(0.875, better="higher"), "total": measure(55.5)}
    page = page_of([
        record(case="out_of_memory", backend="host", allocator=name, size=size, measures=measures)
        for name in ("bump", "ouroboros_s_p")
        for size in (64, 1024)
    ])  # fmt: skip
    assert "87.5 %" in page
    assert "55.5" not in page


def test_machines_are_kept_apart(page_of: Page) -> None:
    page = page_of([*grid_of(), *grid_of(device="Other GPU"), *grid_of(backend="host", device="Fake CPU")])
    for name in ("Fake GPU", "Other GPU", "Fake CPU, host backend"):
        assert f"<h3>{name}</h3>" in page
    # The second GPU stands in for the paper's second one.
    assert "as Figure 9e" in page


def test_of_two_runs_of_a_point_the_later_is_shown(page_of: Page) -> None:
    old = record(measures={"malloc": measure(99.25), "free": None}, time="2026-01-01T00:00:00Z")
    page = page_of([record(), old])
    assert "99.2" not in page
    assert "1 older run of the same points is left out." in page


@pytest.mark.parametrize("against", ["size", "threads"])
def test_the_main_plot_is_a_picture(against: str, tmp_path: Path) -> None:
    from warpheap.report import plots
    from warpheap.report.chapters import throughput

    figure = {"size": throughput.against_size, "threads": throughput.against_threads}[against](
        grid_of(), Looks(grid_of()), "title"
    )
    plots.to_png(figure, tmp_path / "main.png")
    written = (tmp_path / "main.png").read_bytes()
    assert written.startswith(b"\x89PNG")
    assert int.from_bytes(written[16:20], "big") == 2000


def test_the_command_writes_the_page_of_a_record(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "survey.jsonl", grid_of())
    done = warpheap("report", tmp_path / "survey.jsonl", "--out", tmp_path / "page.html")
    assert done.code == 0, done.err
    assert f"Report: {tmp_path / 'page.html'}" in done.out
    assert "<h2>Verdict</h2>" in (tmp_path / "page.html").read_text()


def test_host_times_are_not_plotted(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "survey.jsonl", grid_of(backend="host"))
    done = warpheap("plot", tmp_path / "survey.jsonl", "--out", tmp_path / "main.png")
    assert done.code == 2
    assert "not comparable" in done.err
    assert not (tmp_path / "main.png").exists()


def test_bad_sources_of_a_report_are_one_line(warpheap: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for arguments in (
        ("report", tmp_path / "nowhere.jsonl"),
        ("report", tmp_path / "empty.jsonl"),
        ("report", Path(__file__)),
        ("plot", tmp_path / "empty.jsonl", "--out", tmp_path / "x.png"),
    ):
        done = warpheap(*arguments)
        assert done.code == 2
        assert len(done.err.splitlines()) == 1


def test_the_page_begins_with_answers_and_says_when_sources_and_days_differ(page_of: Page) -> None:
    page = page_of(survey(designs=DESIGNS[:3]))
    cards = page[page.index('<section id="which">') : page.index('<details class="more">')]
    assert 4 <= cards.count("<li>") <= 6
    assert page.index('id="which"') < page.index('class="heat"') < page.index("<figure")
    assert 'id="mixed"' not in page
    mixed = [record(size=16), record(size=64, sources="other", time="2031-05-06T00:00:00Z")]
    said = page_of(mixed)
    assert "are of 2 states of the sources (1 of 2 are of one) and were measured on 2 days" in said
    assert said.index('id="mixed"') < said.index('<section id="which">')
