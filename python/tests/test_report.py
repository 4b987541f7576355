# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report: what must be on the page, and what must not."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import Finished
from records import record

from warpheap.record import Record, write_records
from warpheap.report import tables

Command = Callable[..., Finished]


def grid_of(**changes: object) -> list[Record]:
    return [
        record(allocator=name, position=position, threads=threads, size=size, **changes)
        for position, name in enumerate(("bump", "cuda_malloc"))
        for threads in (10_000, 100_000)
        for size in (16, 256, 4096)
    ]


@pytest.fixture
def page_of(warpheap: Command, tmp_path: Path) -> Callable[[list[Record]], str]:
    def make(records: list[Record]) -> str:
        write_records(tmp_path / "survey.jsonl", records)
        done = warpheap("report", tmp_path / "survey.jsonl", "--out", tmp_path / "page.html")
        assert done.code == 0, done.err
        assert done.out.strip() == f"Report: {tmp_path / 'page.html'}"
        return (tmp_path / "page.html").read_text()

    return make


def test_the_page_needs_nothing_beside_itself(page_of: Callable[[list[Record]], str]) -> None:
    page = page_of(grid_of())
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "url(http" not in page
    assert "@import" not in page


def test_the_page_is_well_formed(page_of: Callable[[list[Record]], str]) -> None:
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

    page = page_of(grid_of())
    parser = Balance()
    parser.feed(page)
    assert not parser.open_tags
    targets = set(re.findall(r'href="#([^"]+)"', page.split("<main>")[0]))
    assert targets <= set(re.findall(r' id="([^"]+)"', page))


def test_times_and_machine_and_fingerprint_are_on_the_page(page_of: Callable[[list[Record]], str]) -> None:
    page = page_of(grid_of())
    assert page.count("<svg") == 2
    assert "7.50 / 7.50" in page
    for text in ("Fake GPU", "a" * 64, "./run survey --allocators", "2026-11-21T06:52:53Z"):
        assert text in page


def test_failures_are_marked_listed_and_counted(page_of: Callable[[list[Record]], str]) -> None:
    records = grid_of()
    records[-1] = record(
        allocator="cuda_malloc", position=1, threads=100_000, size=4096, status="timeout", reason="still <running>"
    )
    page = page_of(records)
    assert "still &lt;running&gt;" in page
    assert re.search(r"<b>1</b>\s*timeout", page)
    assert 'id="failures"' in page
    from warpheap.cases.throughput import show

    figure = show.against_size(records)
    crosses = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[4096], [4096]]  # the malloc panel and the free panel


def test_an_allocator_without_any_result_is_on_the_page(page_of: Callable[[list[Record]], str]) -> None:
    assert "it hung" in page_of([record(status="timeout"), record(status="timeout", size=64)])


def test_host_times_are_nowhere_on_the_page(page_of: Callable[[list[Record]], str]) -> None:
    times = {"median": 123.456, "min": 122.333, "max": 124.777}
    page = page_of(grid_of(backend="host", malloc_us=times, free_us=times))
    assert "not comparable" in page
    assert "verified" in page
    for number in ("123.4", "123", "122.3", "124.7"):
        assert number not in re.sub(r"<svg.*?</svg>", "", page, flags=re.S)
    assert "Time against" not in page
    assert "time of the kernel" not in page
    assert "address range" in page


def test_host_times_are_not_plotted(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "survey.jsonl", grid_of(backend="host"))
    done = warpheap("plot", tmp_path / "survey.jsonl", "--out", tmp_path / "main.png")
    assert done.code == 2
    assert "not comparable" in done.err
    assert not (tmp_path / "main.png").exists()


def test_host_and_gpu_records_do_not_share_a_chapter(page_of: Callable[[list[Record]], str]) -> None:
    page = page_of([*grid_of(), *grid_of(backend="host", device="Fake CPU")])
    assert "Throughput: mode thread" in page
    assert "Throughput: verification and memory" in page


@pytest.mark.parametrize("against", ["size", "threads"])
def test_the_main_plot_is_a_picture(warpheap: Command, tmp_path: Path, against: str) -> None:
    write_records(tmp_path / "survey.jsonl", grid_of())
    picture = tmp_path / "main.png"
    done = warpheap("plot", tmp_path / "survey.jsonl", "--out", picture, "--against", against)
    assert done.code == 0, done.err
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert int.from_bytes(picture.read_bytes()[16:20], "big") == 2000


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


def test_looks_follow_the_registry_and_differ() -> None:
    from warpheap.report.style import look_of

    looks = [look_of(position) for position in range(63)]
    assert len({(look.colour, look.marker) for look in looks}) == 63
    names = [record(allocator="late", position=7), record(allocator="early", position=2)]
    assert tables.allocators_of(names) == ["early", "late"]


def test_labels_keep_their_distance_and_their_order() -> None:
    from warpheap.report.plots import _spread

    places = _spread([0.5, 0.5, 0.51, 0.99, 1.0], 0.1)
    assert all(after - before >= 0.1 - 1e-9 for before, after in pairwise(places))
    assert places[0] >= 0
    assert places[-1] <= 1
