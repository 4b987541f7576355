# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Test programs run side by side: in which order, how many at a time, and what ends them all."""

import json
import threading
import time
from pathlib import Path

import pytest
from conftest import SECONDS_TO_START
from gpu_runs import Command, MakeTests, expect, lines, statuses

from warpheap import process, project
from warpheap.gpu import expected, gtest
from warpheap.gpu.device import Device
from warpheap.gpu.result import Result
from warpheap.gpu.turns import Gate, Turn, side_by_side


def gate(seconds: float = 600) -> Gate:
    return Gate(Device(None), time.monotonic() + seconds, "no time")


def test_programs_run_side_by_side_and_never_more_than_asked_for() -> None:
    both = threading.Barrier(2, timeout=SECONDS_TO_START)
    lock = threading.Lock()
    running = most = 0

    def work(program: Path) -> list[Result]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1
        return [Result("test", program.name, program.name, "ok", 0.0)]

    turns: list[Turn] = []
    side_by_side([Path(str(number)) for number in range(6)], 2, gate(), work, turns.append)
    assert sorted(turn.program.name for turn in turns) == list("012345")
    assert most == 2


def test_an_interruption_ends_what_runs_and_what_waits() -> None:
    started: list[str] = []
    both = threading.Barrier(2, timeout=SECONDS_TO_START)

    def work(program: Path) -> list[Result]:
        started.append(program.name)
        both.wait()
        if program.name == "hangs":
            process.run(["sleep", "600"], 600)
        return []

    def interrupt(turn: Turn) -> None:
        raise KeyboardInterrupt

    closing = gate()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side([Path("hangs"), Path("ends"), *map(Path, "abc")], 2, closing, work, interrupt)
    assert time.monotonic() - start < 60
    assert closing.why_closed() == "the run was interrupted"
    assert len(started) < 5


def test_an_interrupted_record_has_no_end(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("b_cuda", tests="B.good")

    def interrupted(program: Path, wanted: str, *_: object) -> list[Result]:
        if program.name == "b_cuda":
            raise KeyboardInterrupt
        return [Result("test", program.name, "A.good", "ok", 0.1)]

    monkeypatch.setattr(gtest, "run_tests", interrupted)
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests", "--jobs", "1")
    assert done.code == 130
    assert [each["kind"] for each in lines(out / "tests.jsonl")] == ["run", "test"]


def test_programs_that_take_all_memory_run_alone(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("a_cuda", "b_cuda", "c_cuda", "d_cuda")
    for name in names:
        fake_tests(name, tests="A.good")
    expect(tmp_path, "a_cuda alone", "b_cuda", "c_cuda alone", "d_cuda")
    lock = threading.Lock()
    both = threading.Barrier(2, timeout=SECONDS_TO_START)
    running: set[str] = set()
    beside: dict[str, set[str]] = {}

    def watched(program: Path, *_: object) -> list[Result]:
        with lock:
            running.add(program.name)
        if program.name in ("b_cuda", "d_cuda"):
            both.wait()
        time.sleep(0.05)
        with lock:
            beside[program.name] = set(running)
        if program.name in ("b_cuda", "d_cuda"):
            both.wait()
        with lock:
            running.remove(program.name)
        return [Result("test", program.name, "A.good", "ok", 0.1)]

    monkeypatch.setattr(gtest, "run_tests", watched)
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests", "--jobs", "4")
    assert done.code == 0
    assert beside["b_cuda"] == beside["d_cuda"] == {"b_cuda", "d_cuda"}
    assert beside["a_cuda"] == {"a_cuda"}
    assert beside["c_cuda"] == {"c_cuda"}
    assert statuses(out / "tests.jsonl") == {"A.good": "ok"}


def test_a_device_that_is_lost_closes_the_gate_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "answers", lambda self: False)
    closing = gate()
    assert closing.after(Result("test", "a_cuda", "A.crashes", "crashed", 1.0)) == ""
    assert "after A.hangs was killed" in closing.after(Result("test", "a_cuda", "A.hangs", "timeout", 1.0))
    assert "after A.hangs was killed" in closing.why_closed()
    assert gate(seconds=0).why_closed() == "no time"


def test_the_longest_program_starts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [Path(name) for name in ("a_cuda", "b_cuda", "c_cuda", "d_cuda")]

    def order(costs: dict[str, float]) -> str:
        return "".join(program.name[0] for program in expected.longest_first(programs, costs))

    assert order({}) == "abcd"
    assert order({"a_cuda": 1, "b_cuda": 30, "d_cuda": 2}) == "cbda", "what is not known may take long"

    expect(tmp_path, "a_cuda")
    listed = expected.ProgramList.find(tmp_path)
    assert listed is not None
    assert listed.costs("memcheck") == {}
    end = {"kind": "end", "programs": {"a_cuda": 12.5, "b_cuda": 3.0}}
    (tmp_path / "memcheck.jsonl").write_text("\n".join(map(json.dumps, [{"kind": "run"}, end])))
    assert listed.costs("memcheck") == {"a_cuda": 12.5, "b_cuda": 3.0}
    assert listed.costs("tests") == {}, "tests and memcheck take each their own time"

    monkeypatch.setattr(project, "find_checkout", lambda: tmp_path)
    assert expected.recorded_costs("tests", "H100") == {}
    for name, device, started, seconds in (("h100", "H100", "2026-01-01", 1.0), ("h200", "H200", "2026-02-01", 2.0)):
        (tmp_path / "results" / name).mkdir(parents=True)
        head = {"kind": "run", "device": device, "started": started}
        test = {"kind": "test", "program": "a_cuda", "name": "A.b", "status": "ok", "seconds": seconds}
        lost = {"kind": "test", "program": "b_cuda", "name": "b_cuda", "status": "missed", "seconds": 0.0}
        end = {"kind": "end", "programs": {"a_cuda": 10 * seconds}}
        written = [head, test, test, lost, *([end] if name == "h200" else [])]
        (tmp_path / "results" / name / "tests.jsonl").write_text("\n".join(map(json.dumps, written)))
    assert expected.recorded_costs("tests", "H100") == {"a_cuda": 2.0}, "the same device, and no end"
    assert expected.recorded_costs("tests", "A100") == {"a_cuda": 20.0}, "the newest, with its starts"
