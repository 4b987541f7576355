# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `pool`: what it measures, what becomes of what fails, and what the report says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, program

from warpheap import cli
from warpheap.experiments.limits import Limit, grid_of
from warpheap.pool import figures, measure, peers, training
from warpheap.pool.measure import Step

Record = dict[str, Any]


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """A folder with a driver of the pool."""
    folder = tmp_path / "built"
    folder.mkdir()
    program(folder / "warpheap_pool_bench_host", HERE / "fake_pool_driver.py", {})
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["warpheap", "pool", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def read(folder: Path) -> list[Record]:
    return [json.loads(line) for line in (folder / "pool.jsonl").read_text(encoding="utf-8").splitlines()]


def test_it_measures_and_writes_report_and_figures(
    monkeypatch: pytest.MonkeyPatch, driver: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(measure, "steps_of", _without_endless(measure.steps_of))
    out = tmp_path / "out"
    words = ["--out", out, "--prebuilt", driver, "--backend", "host", "--peers", "python", "--repetitions", "1"]
    code = run(monkeypatch, *words, "--cases", "sizes,live,churn,streams", "--budget", "40")
    assert code == 1, "a subject broke"
    records = read(out)
    assert {each["subject"] for each in records if each["status"] == "ok"} == {
        "pool", "stream_pool", "broken", "python",
    }  # fmt: skip
    assert {each["reason"] for each in records if each["status"] == "failed"} == {"ended with exit code 1: it broke"}
    page = (out / "pool.html").read_text(encoding="utf-8")
    assert "Time of a call against size" in page
    assert "it broke" in page
    names = {path.name for path in (out / "figures").iterdir()}
    assert {"pool-sizes.png", "pool-live.svg", "pool-churn.png", "pool-streams.svg"} <= names
    (out / "pool.html").unlink()
    assert run(monkeypatch, "--out", out, "--no-measure") == 1
    assert (out / "pool.html").is_file()


def _without_endless(steps_of: Any) -> Any:
    return lambda *words: [step for step in steps_of(*words) if step.subject != "endless"]


def test_a_step_that_does_not_end_is_killed_and_what_it_said_is_kept(
    monkeypatch: pytest.MonkeyPatch, driver: Path
) -> None:
    command = (str(driver / "warpheap_pool_bench_host"), "--case", "churn", "--subject", "endless")
    real = measure.process.run
    monkeypatch.setattr(measure.process, "run", lambda words, limit: real(words, min(limit, 10)))
    ends: list[str] = []
    records = list(measure.measure([Step("churn", "endless", command)], 30, lambda _, end: ends.append(end)))
    assert [each["status"] for each in records] == ["ok", "timeout"]
    assert ends == ["", "timeout"]


def test_what_has_no_time_left_is_said_to_be_skipped() -> None:
    records = list(measure.measure([Step("churn", "pool", ("true",))], 1, lambda *_: None))
    assert [each["status"] for each in records] == ["skipped"]


def test_a_library_that_is_not_there_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    command = (sys.executable, "-c", "import sys; print('no torch', file=sys.stderr); sys.exit(4)")
    steps = [Step(case, "torch", command) for case in ("sizes", "live")]
    records = list(measure.measure(steps, 60, lambda *_: None))
    assert [(each["case"], each["status"], each["reason"]) for each in records] == [("sizes", "absent", "no torch")]


def test_a_record_names_a_log_without_its_folder(driver: Path, tmp_path: Path) -> None:
    log = tmp_path / "my.log"
    log.write_text("+ 1 16 8\n- 1\n")
    program = str(driver / "warpheap_pool_bench_host")
    step = Step("replay", "pool", (program, "--case", "replay", "--subject", "pool", "--log", str(log)))
    records = list(measure.measure([step], 30, lambda *_: None))
    assert [(each["status"], each["log"]) for each in records] == [("ok", "my.log")]


def test_there_is_no_driver(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--out", tmp_path / "out", "--prebuilt", tmp_path) == 2
    assert "--target warpheap_pool_bench_cuda" in capsys.readouterr().err


@pytest.mark.parametrize("others", [("--cases", "churn"), ("--no-measure",)], ids=" ".join)
def test_a_log_that_nothing_would_replay_is_refused(warpheap, tmp_path: Path, others: tuple[str, ...]) -> None:
    log = tmp_path / "my.log"
    log.write_text("+ 1 16 8\n")
    done = warpheap("pool", "--out", tmp_path / "out", "--log", log, *others)
    assert (done.code, "--log needs the case 'replay'" in done.err) == (2, True), done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("case", peers.CASES)
def test_calls_from_python_are_measured_in_the_drivers_words(case: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("+ 1 100 256\n! 5 1\n+ 2 7 1\n- 1\n", encoding="utf-8")
    words = ["--library", "python", "--case", case, "--repetitions", "1", "--seconds", "0.1", "--log", str(log)]
    outcome = subprocess.run([sys.executable, peers.__file__, *words], capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert records
    call = "call_ns" if case == "replay" else "allocate_ns"
    assert all(each["case"] == case and each["subject"] == "python" for each in records)
    assert any(each.get(call, 0) > 0 for each in records)


def test_the_log_of_a_training_takes_back_only_what_is_live_and_stays_small() -> None:
    live: dict[str, int] = {}
    peak = 0
    for line in training.training_log(steps=5).splitlines():
        kind, block, *numbers = line.split()
        if kind == "+":
            assert block not in live
            live[block] = int(numbers[0])
            peak = max(peak, sum(live.values()))
        else:
            del live[block]
    assert 1 << 30 < peak < 7 << 30


def test_a_bar_of_a_range_is_not_met_by_a_part_of_it() -> None:
    def bar(*sizes: int, **more: float) -> Limit:
        records = [{"case": "sizes", "subject": "pool", "status": "ok", "size": size, "allocate_ns": 50.0}
                   for size in sizes]  # fmt: skip
        records.append({"case": "live", "subject": "pool", "status": "ok", "live": 10**7} | more)
        return next(each for each in figures.limits_of(records) if each.title.startswith(title))

    title = "1 B to 1 GiB, allocate"
    assert bar(16).measured == "not measured"
    assert bar(1, 1 << 30).verdict == "met"
    title = "host memory a segment"
    assert bar(1).measured == "not measured"
    assert bar(1, host_bytes=0).measured == "0 B"


def test_bars_say_what_was_met_and_what_was_not_measured() -> None:
    times = {"status": "ok", "case": "churn", "allocate_ns": 120.0, "deallocate_ns": 80.0}
    threads = [
        {"status": "ok", "case": "streams", "subject": "stream_pool", "threads": n, "pairs_per_second": 1e6 * n}
        for n in (1, 2)
    ]
    grid = grid_of(figures.limits_of([{**times, "subject": "pool"}, *threads]))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in grid.rows}
    assert rows["churn, pool, allocate"] == ["120 ns", "at most 100 ns", "missed"]
    assert rows["churn, pool, deallocate"] == ["80 ns", "at most 100 ns", "met"]
    assert rows["churn, stream_pool, allocate"] == ["not measured", "at most 150 ns", ""]
    assert rows["two threads on two streams to one"] == ["2", "at least 1.6", "met"]
