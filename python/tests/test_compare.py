# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two records: what can be said, and when nothing can."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Finished
from records import measure, record, single

from warpheap.compare.judge import judge
from warpheap.record import Record, write_records

Command = Callable[..., Finished]
NONE = {"median_low": None, "median_high": None, "count": 5}


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (measure(100), measure(110), "SLOWER"),
        (measure(100), measure(90), "FASTER"),
        (measure(100), measure(100.5), "SAME"),
        (measure(100), measure(104), "UNDECIDED"),  # apart, but by less than the threshold, and perhaps by more
        (measure(100, median_high=112), measure(110), "UNDECIDED"),  # the intervals overlap
        (measure(100), measure(100, median_high=120), "UNDECIDED"),
        (measure(100, **NONE), measure(200), "UNDECIDED"),  # too few samples
        (measure(100, **NONE), measure(100, **NONE), "UNDECIDED"),
        (measure(100, better="higher", unit="ops/s"), measure(110, better="higher", unit="ops/s"), "FASTER"),
        (measure(100, better="higher", unit="ops/s"), measure(90, better="higher", unit="ops/s"), "SLOWER"),
        (single(40), single(44), "WORSE"),
        (single(40), single(30), "BETTER"),
        (single(40), single(41), "SAME"),
        (single(0), single(0), "SAME"),
        (single(0), single(16), "WORSE"),
        (single(16), single(0), "BETTER"),
        (single(0.5, better="higher"), single(0.9, better="higher"), "BETTER"),
        (single(0.9, better="higher"), single(0, better="higher"), "WORSE"),
    ],
    ids=str,
)
def test_the_rule(a: dict[str, object], b: dict[str, object], verdict: str) -> None:
    assert judge(a, b, 0.05).verdict == verdict


def test_a_ratio_above_1_is_worse_for_times_and_rates() -> None:
    assert judge(measure(100), measure(150), 0.05).ratio == 1.5
    assert judge(measure(150, better="higher"), measure(100, better="higher"), 0.05).ratio == 1.5


@pytest.fixture
def compared(warpheap: Command, tmp_path: Path) -> Callable[..., Finished]:
    def run(a: Sequence[Record], b: Sequence[Record], *words: str) -> Finished:
        write_records(tmp_path / "a.jsonl", a)
        write_records(tmp_path / "b.jsonl", b)
        return warpheap("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", *words)

    return run


def timed(median: float, **changes: object) -> Record:
    return record(**{"measures": {"malloc": measure(median), "free": None}} | changes)


def test_every_point_gets_its_verdict_and_sums_follow(compared: Callable[..., Finished]) -> None:
    a = [timed(100, size=16), timed(100, size=64), timed(100, size=256)]
    b = [timed(80, size=16), timed(100, size=64), timed(125, size=256), timed(1, size=1024)]
    done = compared(a, b)
    assert done.code == 1
    verdicts = {line.split()[0]: line for line in done.out.splitlines() if "malloc" in line}
    assert set(verdicts) == {"FASTER", "SAME", "SLOWER"}
    assert "1.250" in verdicts["SLOWER"]
    assert "10,000 x 256 B: 100 µs -> 125 µs" in verdicts["SLOWER"]
    assert "3 points in both; 1 only in B" in done.out
    assert re.search(r"throughput .* 1.000", done.out)  # 0.8 and 1.25 even out
    assert "B is worse in 1 of 3 measures" in done.out


def test_nothing_worse_is_exit_code_0(compared: Callable[..., Finished]) -> None:
    done = compared([timed(100)], [timed(50)])
    assert done.code == 0, done.out
    assert "B is nowhere found to be worse: 1 of 1 measures are better" in done.out
    assert "SAME" not in compared([timed(100)], [timed(100)], "--changes").out.split("Sums")[0]


def test_when_nothing_is_known_that_is_said(compared: Callable[..., Finished]) -> None:
    few = [record(measures={"malloc": measure(100, **NONE)})]
    done = compared(few, few)
    assert done.code == 0
    assert "Nothing can be decided" in done.out


def test_the_threshold_is_the_users(compared: Callable[..., Finished]) -> None:
    assert compared([timed(100)], [timed(110)]).code == 1
    assert compared([timed(100)], [timed(110)], "--threshold", "0.2").code == 0


@pytest.mark.parametrize(
    ("case", "own", "baseline"),
    [
        ("throughput", "malloc", "floor"),
        ("scaling", "malloc", "floor"),
        ("temperature", "malloc", "floor"),
        ("work_generation", "generate", "baseline"),
        ("memory_access", "write", "packed_write"),
    ],
)
def test_a_machine_that_became_slower_is_no_verdict(
    compared: Callable[..., Finished], case: str, own: str, baseline: str
) -> None:
    a, b = (
        record(case=case, size=64, measures={own: measure(100), baseline: measure(median)}) for median in (3.0, 6.0)
    )
    done = compared([a], [b])
    assert done.code == 0, done.out
    assert "0 of 1 measures are better, 1 the same" in done.out
    assert "SLOWER" not in done.out
    assert compared([record(case=case, measures={baseline: measure(3)})], [timed(100, case=case)]).code == 0


def test_a_point_that_was_ok_and_is_not_is_broken(compared: Callable[..., Finished]) -> None:
    lost = record(status="timeout", reason="still running")
    done = compared([record()], [lost])
    assert done.code == 1
    assert re.search(r"BROKEN .*timeout in B: still running", done.out)
    done = compared([lost], [record()])
    assert done.code == 0
    assert "MENDED" in done.out


def test_more_rounds_do_not_make_another_point(compared: Callable[..., Finished]) -> None:
    done = compared([timed(100, iterations=6)], [timed(90, iterations=6), timed(200, iterations=100)])
    assert done.code == 1
    assert "SLOWER" in done.out
    assert "1 points in both" in done.out


def test_two_allocators_of_one_record(warpheap: Command, tmp_path: Path) -> None:
    path = tmp_path / "a:b.jsonl"  # a colon in the name is no allocator
    write_records(path, [timed(100, allocator="old"), timed(50, allocator="new")])
    for words in ((path, "--allocators", "old,new"), (f"{path}:old", f"{path}:new")):
        done = warpheap("compare", *words)
        assert done.code == 0, done.err
        assert re.search(r"FASTER +0.500 +malloc +throughput old -> new thread", done.out)
    done = warpheap("compare", path, "--allocators", "new,old")
    assert done.code == 1


def test_one_allocator_of_two_records(compared: Callable[..., Finished], warpheap: Command, tmp_path: Path) -> None:
    both = [timed(100, allocator="one"), timed(100, allocator="two")]
    slower = [timed(100, allocator="one"), timed(200, allocator="two")]
    assert compared(both, slower, "--allocators", "one").code == 0
    assert compared(both, slower, "--allocators", "two").code == 1
    assert warpheap("compare", f"{tmp_path / 'a.jsonl'}:one", tmp_path / "b.jsonl").code == 0
    assert warpheap("compare", tmp_path / "a.jsonl", f"{tmp_path / 'b.jsonl'}:two").code == 1


def test_other_devices_need_force(compared: Callable[..., Finished]) -> None:
    a, b = [timed(100)], [timed(50, device="Another GPU")]
    done = compared(a, b)
    assert done.code == 2
    assert "Fake GPU, B on Another GPU" in done.err
    assert "FASTER" in compared(a, b, "--force").out


def test_host_times_are_never_compared(compared: Callable[..., Finished]) -> None:
    host = {"backend": "host", "device": "CPU"}
    done = compared([timed(100, **host)], [timed(50, **host)])
    assert done.code == 2
    assert "say nothing about a GPU" in done.err
    done = compared([timed(100, **host)], [timed(50, **host)], "--force")
    assert done.code == 0
    assert "FASTER" not in done.out
    share = [record(**host, measures={"share": single(x, better="higher"), "total": measure(x)}) for x in (0.9, 0.5)]
    done = compared(share[:1], share[1:])
    assert done.code == 1
    assert "WORSE" in done.out
    assert "total" not in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere.jsonl", "b.jsonl"), "cannot be read"),
        (("a.jsonl:bmp", "b.jsonl"), "use one of: bump"),
        (("a.jsonl", "b.jsonl", "--allocators", "bmp"), "use one of: bump"),
        (("a.jsonl",), "name two of its allocators"),
        (("a.jsonl:bump", "b.jsonl:bump", "--allocators", "bump"), "name their allocators already"),
        (("a.jsonl", "c.jsonl"), "size is 16 in A and 64 in B"),
        (("a.jsonl", "empty.jsonl"), "holds no records"),
        (("a.jsonl", "foreign.jsonl"), "no record of a survey"),
    ],
    ids=str,
)
def test_bad_input_is_one_line(
    warpheap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records(Path("a.jsonl"), [record()])
    write_records(Path("b.jsonl"), [record()])
    write_records(Path("c.jsonl"), [record(size=64)])
    Path("empty.jsonl").write_text("")
    Path("foreign.jsonl").write_text('{"answer": 42}\n')
    done = warpheap("compare", *words)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.splitlines()) == 1
