# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `sync`: what it measures, what becomes of what fails, and what tables, figures and bars say."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Finished, program

from warpheap import cli
from warpheap.errors import UsageError
from warpheap.experiments.limits import Limit
from warpheap.experiments.records import Record, read
from warpheap.sync import measure
from warpheap.sync.figures import charts_of
from warpheap.sync.pairs import DELEGATION, SEMAPHORES, limits_of, pairs_of
from warpheap.sync.text import markdown_of


def ran(case: str, subject: str, time: float, threads: int, **more: Any) -> Record:
    times = {"median": time, "median_low": time / 1.1, "median_high": time * 1.1, "min": time / 2, "max": time * 2,
             "count": 30}  # fmt: skip
    made: Record = {"batches": 1} if case == "semaphores" else {"removals": 16}
    made |= {"device": "Some GPU", "timing_comparable": True}
    return {"case": case, "subject": subject, "threads": threads, "status": "ok", "operations": threads,
            "rate": threads / time * 1e6, "time_us": times} | made | more  # fmt: skip


def skipped(case: str, subject: str, threads: int, **more: Any) -> Record:
    return {"case": case, "subject": subject, "threads": threads, "status": "skipped", "reason": "too long"} | more


RECORDS = [
    ran("semaphores", "counting", 8.0, 64, batch=512),
    ran("semaphores", "bulk", 8.2, 64, batch=512),
    ran("semaphores", "counting", 300.0, 1 << 17, batch=512),
    ran("semaphores", "bulk", 100.0, 1 << 17, batch=512),
    skipped("semaphores", "counting", 1 << 18, batch=512),
    ran("semaphores", "bulk", 200.0, 1 << 18, batch=512),
    ran("delegation", "classical", 30.0, 64, readers_per_writer=4),
    ran("delegation", "delegating", 10.0, 64, readers_per_writer=4),
    ran("delegation", "classical", 30.0, 128, readers_per_writer=4),
    ran("delegation", "delegating", 60.0, 128, readers_per_writer=4),
    ran("delegation", "classical", 40.0, 256, readers_per_writer=4),
]


def test_a_panel_for_each_batch_has_both_semaphores_and_what_is_missing() -> None:
    panel = charts_of(RECORDS)[0].panels[0]
    assert panel.title == "batches of 512"
    assert [(line.allocator, line.points[0].y) for line in panel.lines] == [
        ("counting", 8e6), ("bulk", pytest.approx(64e6 / 8.2)),
    ]  # fmt: skip
    assert [(lost.x, lost.status) for lost in panel.lines[0].lost] == [(1 << 18, "skipped")]


def test_ratios_are_shown_where_both_ran() -> None:
    charts = {chart.name: chart for chart in charts_of(RECORDS)}
    line = charts["delegation"].panels[0].lines[0]
    assert [(point.x, point.y) for point in line.points] == [(64, pytest.approx(3)), (128, pytest.approx(0.5))]
    assert [point.x for point in charts["semaphores-ratio"].panels[0].lines[0].points] == [64, 1 << 17]


def test_the_noise_of_a_ratio_is_that_of_both_sides() -> None:
    pair = pairs_of(RECORDS, SEMAPHORES)[1]
    assert (pair.low, pair.ratio, pair.high) == pytest.approx((3 / 1.21, 3, 3 * 1.21))
    few = [ran("semaphores", which, 1.0, 1, batch=1) for which in ("counting", "bulk")]
    for each in few:
        each["time_us"] |= {"median_low": None, "median_high": None}
    assert pairs_of(few, SEMAPHORES)[0].low == pytest.approx(1 / 4)


def by_title(limits: Sequence[Limit], words: str) -> Limit:
    return next(each for each in limits if words in each.title)


def test_the_bars_are_judged() -> None:
    limits = limits_of(RECORDS)
    many = by_title(limits, "2^17")
    assert (many.value, many.verdict) == (pytest.approx(3), "met")
    assert by_title(limits, "bulk is slower").verdict == "met"
    assert by_title(limits, "best").verdict == "missed"
    assert by_title(limits, "barrier, least").value == pytest.approx(0.5)
    assert by_title(limits, "barrier, least").verdict == "missed"
    assert by_title(limits, "more than 2 %").value == 1
    slower = [ran("semaphores", "counting", 10, 64, batch=2), ran("semaphores", "bulk", 20, 64, batch=2)]
    assert by_title(limits_of(slower), "bulk is slower").verdict == "missed"
    assert by_title(limits_of(slower), "2^17").measured == "not measured"


def test_times_of_the_host_are_not_judged() -> None:
    records = [each | {"timing_comparable": False} for each in RECORDS]
    assert {each.verdict for each in limits_of(records)} == {""}
    assert "they mean nothing" in markdown_of(records, "./run sync")


def test_tables_tell_where_the_two_sides_differ_and_what_is_missing() -> None:
    records = [*RECORDS, ran("semaphores", "counting", 1, 1 << 19, batch=512, operations=1 << 18, batches=2),
               ran("semaphores", "bulk", 1, 1 << 19, batch=512)]  # fmt: skip
    text = markdown_of(records, "./run sync --out here")
    assert "| 131,072 | 300 µs, 437 M/s | 100 µs, 1.31 G/s | 3 |" in text
    assert "| 2 / 1 | 262,144 / 524,288 | 30 |" in text
    assert "- semaphores counting batches of 512 262,144 threads: skipped, too long" in text
    assert "on Some GPU" in text
    assert "At 1 points not all threads asked" in charts_of(records)[0].note


@pytest.fixture
def driver(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder with a driver that has the records, and fails if it is told to."""

    def make(**settings: str) -> Path:
        known = tmp_path / "known.jsonl"
        known.write_text("".join(json.dumps(each) + "\n" for each in RECORDS), encoding="utf-8")
        folder = tmp_path / "built"
        program(folder / "warpheap_sync_bench_host", HERE / "fake_sync_driver.py", {"records": str(known)} | settings)
        return folder

    return make


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["warpheap", "sync", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def test_it_measures_and_writes_tables_report_and_figures(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run(monkeypatch, "--out", out, "--prebuilt", driver(), "--backend", "host") == 0
    assert read(out / "sync.jsonl", measure.NEEDS) == RECORDS
    assert "| bulk over counting from 2^17 threads on, least | 3x | at least 2x | met |" in (out / "sync.md").read_text(
        encoding="utf-8"
    )
    page = (out / "sync.html").read_text(encoding="utf-8")
    assert "warpheap sync" in page
    assert "counting, 512 batch, 262,144 threads" not in page  # fields have an order of their own
    assert "counting, 262,144 threads, 512 batch" in page
    names = {path.name for path in (out / "figures").iterdir()}
    assert {"semaphores.png", "semaphores-ratio.svg", "delegation.png"} <= names
    (out / "sync.md").unlink()
    assert run(monkeypatch, "--out", out, "--no-measure") == 0
    assert (out / "sync.md").is_file()


def test_the_report_of_a_survey_has_what_was_measured_into_its_folder(
    warpheap: Callable[..., Finished], fake_driver: Callable[..., Path], tmp_path: Path
) -> None:
    words = ("survey", "--driver", fake_driver(backend="cuda"), "--out", tmp_path, "--preset", "quick",
             "--cases", "throughput")  # fmt: skip
    assert warpheap(*words).code == 0
    report = tmp_path / "report.html"
    assert "What threads wait with" not in report.read_text(encoding="utf-8")
    lines = [json.dumps(each) for each in RECORDS]
    (tmp_path / "sync.jsonl").write_text("\n".join([*lines, lines[0][:20]]), encoding="utf-8")
    assert warpheap("report", tmp_path / "survey.jsonl").code == 0
    page = report.read_text(encoding="utf-8")
    assert page.count("What threads wait with") >= 2, "a chapter and its entry in the contents"
    assert "bulk over counting from 2^17 threads on, least" in page
    host = [json.dumps(each | {"timing_comparable": False}) for each in RECORDS]
    (tmp_path / "sync.jsonl").write_text("\n".join(host), encoding="utf-8")
    assert warpheap("report", tmp_path / "survey.jsonl").code == 0
    assert "What threads wait with" not in report.read_text(encoding="utf-8")


def test_what_was_heard_of_a_driver_that_fails_is_kept(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    words = ["--out", tmp_path / "out", "--prebuilt", driver(fails="semaphores"), "--backend", "host"]
    assert run(monkeypatch, *words) == 1
    records = read(tmp_path / "out" / "sync.jsonl", measure.NEEDS)
    assert len(records) == len(RECORDS) + 1
    failed = [each for each in records if each["status"] == "failed"]
    assert [each["case"] for each in failed] == ["semaphores"]
    assert "units were lost (after semaphores bulk batches of 512 262,144 threads)" in failed[0]["reason"]


def test_a_driver_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path]) -> None:
    real = measure.process.follow
    monkeypatch.setattr(measure.process, "follow", lambda words, limit, hear: real(words, min(limit, 10), hear))
    records: list[Record] = []
    built = driver(hangs="delegation") / "warpheap_sync_bench_host"
    measure.measure(built, 60, ["delegation"], records.append)
    assert [each["status"] for each in records] == ["ok"] * 5 + ["timeout"]


def test_names_and_drivers_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--out", tmp_path / "out", "--prebuilt", tmp_path) == 2
    assert "--target warpheap_sync_bench_cuda" in capsys.readouterr().err
    assert run(monkeypatch, "--out", tmp_path / "out", "--cases", "semaphore") == 2
    assert run(monkeypatch, "--out", tmp_path / "out", "--no-measure") == 2


def built() -> Path | None:
    try:
        return measure.DRIVER.find(None, "host")
    except UsageError:
        return None


needs_driver = pytest.mark.skipif(built() is None, reason="the driver of the host backend is not built")


@needs_driver
def test_the_real_driver_explains_its_options() -> None:
    program = built()
    assert program is not None
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("--case", "--seconds", "--threads", "--quick"):
        assert f"\n  {option} " in done.stdout
    done = subprocess.run([program, "--threds", "64"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "there is no option --threds; see --help" in done.stderr


@needs_driver
def test_the_real_driver_ends_in_time_and_gives_both_sides_the_same_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start = time.monotonic()
    assert run(monkeypatch, "--out", tmp_path, "--backend", "host", "--budget", "3") == 0
    assert time.monotonic() - start < 60
    records = read(tmp_path / "sync.jsonl", measure.NEEDS)
    lines = {(each["case"], each["subject"]) for each in records if each["status"] == "ok"}
    assert lines == {(kind.case, side) for kind in (SEMAPHORES, DELEGATION) for side in (kind.better, kind.base)}
    points = [(each["case"], each["subject"], each.get("batch") or each["readers_per_writer"], each["threads"])
              for each in records]  # fmt: skip
    assert len(points) == len(set(points)), "each point once, measured or skipped"
    for kind in (SEMAPHORES, DELEGATION):
        pairs = pairs_of(records, kind)
        assert pairs
        alike = [each for each in pairs if each.better["operations"] == each.base["operations"]]
        assert all(each.better[kind.made] == each.base[kind.made] for each in alike)
    assert all(each["reason"] for each in records if each["status"] == "skipped")
