# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records of `pool` and `sync`, and logs to replay, as nobody would write them: one line, and nothing is written."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Finished, program
from test_record_fuzz import NASTY, places, with_text, without
from test_sync import RECORDS

from warpheap.experiments.records import chosen
from warpheap.experiments.run import keeping
from warpheap.pool.peers import Call, read_log

Command = Callable[..., Finished]

TIMES = {f"{call}{end}": 50.0 for call in ("allocate", "deallocate") for end in ("_ns", "_least_ns", "_greatest_ns")}
OF_POOL: dict[str, Any] = {"subject": "pool", "status": "ok", "backend": "host", "device": "Fake", "version": "0"}
POOL = [
    *({**OF_POOL, "case": "sizes", "size": size, **TIMES} for size in (1, 1 << 30)),
    *({**OF_POOL, "case": "live", "live": live, "host_bytes": 48 * live, **TIMES} for live in (100, 10**7)),
    {**OF_POOL, "case": "streams", "threads": 2, "pairs_per_second": 4e6},
    {**OF_POOL, "case": "replay", "log": "a.log", "calls": 8, "call_ns": 50.0},
    {"case": "churn", "subject": "torch", "status": "failed", "reason": "it broke"},
]


@pytest.mark.parametrize(("verb", "records"), [("pool", POOL), ("sync", RECORDS)], ids=("pool", "sync"))
@pytest.mark.parametrize("seed", range(2))
def test_no_record_of_an_experiment_ends_in_a_traceback(
    warpheap: Command, tmp_path: Path, verb: str, records: list[dict[str, Any]], seed: int
) -> None:
    chance = random.Random(seed)
    refused = 0
    for number in range(12):
        out = tmp_path / f"out-{number}"
        out.mkdir()
        lines = [json.dumps(each) for each in records]
        at = chance.randrange(len(lines))
        path = chance.choice(list(places(records[at])))
        nasty = path == () or chance.random() < 0.8
        lines[at] = with_text(records[at], path, chance.choice(NASTY)) if nasty else without(records[at], path)
        text = "\n".join(lines) + "\n"
        (out / f"{verb}.jsonl").write_text(text, encoding="utf-8")
        done = warpheap(verb, "--out", out, "--no-measure")
        assert done.code in (0, 1, 2), text
        if done.code == 2:
            refused += 1
            assert done.err.startswith("warpheap: "), text
            assert done.err.count("\n") == 1, text
            assert [path.name for path in out.iterdir()] == [f"{verb}.jsonl"]
            # The report of a survey that has such a file beside it is no more lenient.
            if verb == "sync":
                assert "sync.jsonl, line " in done.err
    assert refused > 0


@pytest.mark.parametrize("words", ["sync --cases", "pool --cases", "pool --peers", "graph --cases", "graph --graphs"])
@pytest.mark.parametrize("given", ["", ","])
def test_a_list_without_a_name_is_refused_before_an_earlier_record_is_replaced(
    warpheap: Command, tmp_path: Path, words: str, given: str
) -> None:
    verb, option = words.split()
    kept = tmp_path / f"{verb}.jsonl"
    kept.write_text("hours of work\n")
    done = warpheap(verb, "--out", tmp_path, option, given)
    assert done.code == 2
    assert f"{option}: '{given}' is unknown here; use one of: " in done.err
    assert kept.read_text() == "hours of work\n"


def test_a_name_that_is_listed_twice_counts_once() -> None:
    assert chosen("two,one,two", "--cases", ("one", "two")) == ["two", "one"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("+ 1 16 8\n- 2\n", "line 2: block 2 is not out"),
        ("+ 1 16 8\n- 1\n- 1\n", "line 3: block 1 is not out"),
        ("+ 1 16 8\n+ 1 16 8\n", "line 2: block 1 is out already"),
        ("+ 1 -5 8\n", "line 1 is no line of a log"),
        ("+ 1 16\n", "line 1 is no line of a log"),
        ("+ 0x3e8 16 8\n", "line 1 is no line of a log"),
        ("+ 1 12.345.678 8\n", "line 1 is no line of a log"),
        ("+ " + "9" * 5001 + " 1 1\n", "line 1 is no line of a log"),
        ("hello\n", "line 1 is no line of a log"),
        ("! 16 8\n", "it has no calls"),
        ("", "it has no calls"),
        ("\udcff", "it is no text"),
        (None, "cannot be read"),
    ],
    ids=repr,
)
def test_a_bad_log_is_told_before_anything_is_measured(
    warpheap: Command, tmp_path: Path, text: str | None, told: str
) -> None:
    log = tmp_path / "my.log"
    if text is not None:
        log.write_bytes(text.encode("utf-8", "surrogateescape"))
    driver = program(tmp_path / "built" / "warpheap_pool_bench_host", HERE / "fake_pool_driver.py", {})
    words = ("--prebuilt", driver.parent, "--backend", "host", "--cases", "replay", "--log", log)
    done = warpheap("pool", "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert done.err.startswith("warpheap: --log: ")
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_log_is_read_as_the_adaptor_writes_it(tmp_path: Path) -> None:
    log = tmp_path / "my.log"
    log.write_text("+ 1 16 8\n! 99 8\n+ 2 0 1\n- 1\n")
    assert read_log(log) == [Call(False, 1, 16), Call(False, 2, 0), Call(True, 1, 0)]


@pytest.mark.parametrize("line", ["5", "[1]", '{"case": "churn", "subject": "pool", "device": 7}', '{"size": 1e400}'])
def test_a_driver_that_breaks_the_format_is_a_failure_and_no_traceback(
    warpheap: Command, tmp_path: Path, line: str
) -> None:
    script = tmp_path / "babbling.py"
    script.write_text(f"import sys\nprint('pool' if '--list' in sys.argv else {line!r})\n")
    driver = program(tmp_path / "built" / "warpheap_pool_bench_host", script, {})
    words = ("--prebuilt", driver.parent, "--backend", "host", "--cases", "churn", "--peers", "python")
    done = warpheap("pool", "--out", tmp_path / "out", "--budget", "10", *words)
    assert done.code in (0, 1), done.err
    (tmp_path / "sync").mkdir()
    (tmp_path / "sync-built").mkdir()
    program(tmp_path / "sync-built" / "warpheap_sync_bench_host", script, {})
    words = ("--prebuilt", tmp_path / "sync-built", "--backend", "host", "--cases", "semaphores")
    done = warpheap("sync", "--out", tmp_path / "sync", *words)
    assert done.code in (0, 1), done.err


def test_an_interruption_tells_what_becomes_of_the_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), keeping(tmp_path, "sync.jsonl") as keep:
        keep({"case": "semaphores"})
        raise KeyboardInterrupt
    told = f"1 records are in {tmp_path / 'sync.jsonl'}: --no-measure makes their report, another run begins anew"
    assert told in capsys.readouterr().err
