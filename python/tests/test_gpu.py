# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU run, with programs that only pretend."""

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, SECONDS_TO_START, Finished, program

from warpheap import process, project
from warpheap.gpu import build, expected, gtest, memcheck
from warpheap.gpu.device import Device
from warpheap.gpu.result import Result
from warpheap.gpu.turns import Gate, Turn, side_by_side

Command = Callable[..., Finished]
MakeTests = Callable[..., Path]
MakeDriver = Callable[..., Path]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def results(path: Path) -> list[dict[str, Any]]:
    return [line for line in lines(path) if line["kind"] not in ("run", "end")]


def statuses(path: Path) -> dict[str, str]:
    return {each["name"]: each["status"] for each in results(path)}


def ends(program: Path, limit: float = 60) -> dict[str, str]:
    return {result.name: result.status for result in gtest.run_tests(program, "*", lambda: limit)}


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> build.State:
    """The state that the checkout claims to have."""
    made = build.State("e" * 64, "a" * 64)
    monkeypatch.setattr(build, "state_of_checkout", lambda: made)
    return made


def test_each_test_gets_its_own_verdict(fake_tests: MakeTests) -> None:
    program = fake_tests("a_cuda", tests="A.good A.fails A.after B.crashes/0 B.after/1 C.skips C.after")
    found = {result.name: result for result in gtest.run_tests(program, "*", lambda: 60)}
    assert {name: result.status for name, result in found.items()} == {
        "A.good": "ok",
        "A.fails": "failed",
        "A.after": "ok",
        "B.crashes/0": "crashed",
        "B.after/1": "ok",
        "C.skips": "skipped",
        "C.after": "ok",
    }
    assert "Expected 1" in found["A.fails"].reason
    assert "SIGABRT" in found["B.crashes/0"].reason
    assert "needs two GPUs" in found["C.skips"].reason
    assert found["A.good"].seconds == 0.012


def test_a_hang_costs_its_test_only(fake_tests: MakeTests) -> None:
    assert ends(fake_tests("a_cuda", tests="A.good A.hangs A.after"), SECONDS_TO_START) == {
        "A.good": "ok",
        "A.hangs": "timeout",
        "A.after": "ok",
    }


def test_a_program_that_does_not_start_is_told(tmp_path: Path) -> None:
    program = tmp_path / "broken_cuda"
    program.write_text("#!/bin/sh\necho 'no driver' >&2\nexit 7\n")
    program.chmod(0o755)
    (result,) = gtest.run_tests(program, "*", lambda: 60)
    assert result.status == "crashed"
    assert "exit code 7: no driver" in result.reason


def test_tests_that_their_program_did_not_start_are_missed(tmp_path: Path) -> None:
    program = tmp_path / "broken_cuda"
    program.write_text('#!/bin/sh\ncase "$*" in *list*) echo "A."; echo "  one"; echo "  two";; *) exit 7;; esac\n')
    program.chmod(0o755)
    asked: list[Result] = []
    found = list(gtest.run_tests(program, "*", lambda: 60, lambda last: asked.append(last) or ""))
    assert [(each.name, each.status) for each in found] == [
        ("broken_cuda", "crashed"), ("A.one", "missed"), ("A.two", "missed"),
    ]  # fmt: skip
    assert asked == found[:1]


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "output", "status"),
    [
        (0, False, "========= ERROR SUMMARY: 0 errors", "ok"),
        (99, False, "========= Invalid __global__ read\n========= ERROR SUMMARY: 2 errors", "failed"),
        (1, False, "[  FAILED  ] A.b (3 ms)\n========= ERROR SUMMARY: 0 errors", "failed"),
        (-9, True, "", "timeout"),
        (-11, False, "", "crashed"),
        (0, False, "no summary", "crashed"),
        (1, False, "========= Error: Device not supported", "missed"),
        (1, False, "========= Target application terminated before first instrumented API call", "skipped"),
    ],
    ids=str,
)
def test_the_checker_is_understood(exit_code: int, timed_out: bool, output: str, status: str) -> None:
    assert memcheck._judge(process.Outcome(output, "", exit_code, 1.0, timed_out))[0] == status


def test_the_checker_tells_which_tests_failed_and_what_the_first_one_said() -> None:
    output = (
        "[ RUN      ] A.good\n[       OK ] A.good (1 ms)\n"
        "[ RUN      ] A.bad\nfile.cpp:3: Failure\nno memory\n[  FAILED  ] A.bad (3 ms)\n"
        "[ RUN      ] A.worse\n[  FAILED  ] A.worse (3 ms)\n"
        "[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.bad\n========= ERROR SUMMARY: 0 errors"
    )
    status, reason = memcheck._judge(process.Outcome(output, "", 1, 1.0, False))
    assert status == "failed"
    assert reason == "memory is clean, tests failed: A.bad, A.worse: file.cpp:3: Failure | no memory"


def prebuilt(tmp_path: Path, fake_driver: MakeDriver, **settings: str) -> Path:
    driver = fake_driver(**settings)
    target = tmp_path / "bin" / "warpheap_bench_cuda"
    target.parent.mkdir(exist_ok=True)
    driver.rename(target)
    return tmp_path


def expect(folder: Path, *names: str) -> None:
    (folder / expected.LIST_NAME).write_text("".join(f"{name}\n" for name in names))


def test_the_whole_run_leaves_few_files_and_says_what_failed(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("floor_lane_cuda", tests="A.good A.fails")
    fake_tests("heap_reset_cuda", tests="H.good")
    folder = prebuilt(tmp_path, fake_driver, allocators="good overlaps")
    out = tmp_path / "out"
    done = warpheap(
        "gpu", "--out", out, "--prebuilt", folder, "--preset", "quick", "--only", "tests,bench", "--time-limit", "30"
    )
    assert done.code == 1, done.err
    names = {(each["kind"], each["program"], each["name"], each["status"]) for each in results(out / "tests.jsonl")}
    assert names == {
        ("test", "floor_lane_cuda", "A.good", "ok"),
        ("test", "floor_lane_cuda", "A.fails", "failed"),
        ("test", "heap_reset_cuda", "H.good", "ok"),
    }
    assert {each["status"] for each in lines(out / "survey.jsonl")} == {"ok", "failed"}
    assert "A.fails" in (out / "report.html").read_text()
    assert (out / "throughput.png").is_file()
    assert {path.name for path in out.iterdir()} == {
        "tests.jsonl", "survey.jsonl", "machine.json", "report.html", "throughput.png",
    }  # fmt: skip
    assert "Summary" in done.out
    assert "Slowest programs" in done.out
    assert done.out.count("floor_lane_cuda") == 2, "when it ended, and among the slowest"


def test_a_run_in_which_all_is_well_exits_with_0(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("floor_lane_cuda", tests="A.good")
    folder = prebuilt(tmp_path, fake_driver)
    done = warpheap(
        "gpu", "--out", tmp_path / "out", "--prebuilt", folder, "--only", "tests,bench", "--preset", "quick"
    )
    assert done.code == 0, done.out


def test_after_a_hang_a_device_that_is_gone_ends_the_tests(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.hangs A.after")
    fake_tests("b_cuda", tests="B.good")
    # This driver's every case crashes, as on a GPU that fell off its bus.
    folder = prebuilt(tmp_path, fake_driver, allocators="good")
    driver = folder / "bin" / "warpheap_bench_cuda"
    driver.write_text("#!/bin/sh\nexit 3\n")
    out = tmp_path / "out"
    words = ("--only", "tests,memcheck,bench", "--jobs", "1", "--time-limit", SECONDS_TO_START)
    done = warpheap("gpu", "--out", out, "--prebuilt", folder, *words)
    assert done.code == 1
    assert statuses(out / "tests.jsonl") == {"A.hangs": "timeout", "A.after": "missed", "b_cuda": "missed"}
    assert statuses(out / "memcheck.jsonl") == {"a_cuda": "missed", "b_cuda": "missed"}
    for file in ("tests", "memcheck"):
        found = {each["name"]: each for each in results(out / f"{file}.jsonl")}
        assert "did not answer after A.hangs" in found["b_cuda"]["reason"]
    assert "bench: the device did not answer" in done.out


def test_after_a_hang_a_device_that_answers_goes_on(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.hangs A.after")
    folder = prebuilt(tmp_path, fake_driver)
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", folder, "--only", "tests", "--time-limit", SECONDS_TO_START)
    assert statuses(out / "tests.jsonl") == {"A.hangs": "timeout", "A.after": "ok"}


@pytest.mark.parametrize(("script", "status"), [("exit 0", "ok"), ("exit 3", "failed"), ("kill -9 $$", "crashed")])
def test_an_example_is_judged_by_its_exit_code(warpheap: Command, tmp_path: Path, script: str, status: str) -> None:
    program = tmp_path / "bin" / "example_first_cuda"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert done.code == (0 if status == "ok" else 1)
    assert statuses(out / "tests.jsonl") == {"example_first_cuda": status}


@pytest.mark.parametrize(
    ("listed", "chosen", "seen"),
    [
        ("0 1", None, ["0,1", "1,0", "0,1"]),
        ("0", None, ["", "", ""]),
        ("0 1", "1", ["1", "1", "1"]),
    ],
    ids=["two GPUs", "one GPU", "the caller chose"],
)
def test_programs_spread_over_the_gpus_and_see_all_of_them(
    warpheap: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listed: str,
    chosen: str | None,
    seen: list[str],
) -> None:
    (tmp_path / "tools").mkdir()
    for name, script in (("nvidia-smi", f"printf '%s\\n' {listed}"), *((f"example_{i}_cuda", "") for i in "abc")):
        tool = name == "nvidia-smi"
        made = tmp_path / ("tools" if tool else "bin") / name
        made.parent.mkdir(exist_ok=True)
        made.write_text(f"#!/bin/sh\n{script if tool else f'echo $CUDA_VISIBLE_DEVICES > {tmp_path}/{name}.seen'}\n")
        made.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"), prepend=":")
    if chosen is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    warpheap("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "tests", "--jobs", "1")
    assert [(tmp_path / f"example_{i}_cuda.seen").read_text().strip() for i in "abc"] == seen


def test_what_the_budget_has_no_room_for_is_recorded_as_missed(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.hangs A.after")
    fake_tests("b_cuda", tests="B.good")
    out = tmp_path / "out"
    words = ("--only", "tests", "--jobs", "1", "--budget", SECONDS_TO_START)
    assert warpheap("gpu", "--out", out, "--prebuilt", tmp_path, *words).code == 1
    assert statuses(out / "tests.jsonl") == {"A.hangs": "timeout", "A.after": "missed", "b_cuda": "missed"}
    assert lines(out / "tests.jsonl")[-1]["counts"]["missed"] == 2


def test_a_missed_test_alone_is_a_fault(warpheap: Command, fake_tests: MakeTests, tmp_path: Path) -> None:
    fake_tests("a_cuda", tests="A.good")
    expect(tmp_path, "a_cuda", "b_cuda")
    done = warpheap("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "tests")
    assert done.code == 1
    assert statuses(tmp_path / "out" / "tests.jsonl") == {"A.good": "ok", "b_cuda": "missed"}


@pytest.mark.parametrize(
    ("arguments", "right"),
    [(("--only", "test"), "tests, memcheck, sync, pool, bench"), (("--prebuilt", "/nowhere"), "no folder")],
    ids=str,
)
def test_wrong_words_are_answered(warpheap: Command, tmp_path: Path, arguments: tuple[str, str], right: str) -> None:
    done = warpheap("gpu", "--out", tmp_path / "out", *arguments)
    assert done.code == 2
    assert right in done.err


def test_a_record_says_of_what_it_is_and_that_it_is_whole(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good A.skips")
    fake_tests("b_cuda", tests="B.good")
    expect(tmp_path, "b_cuda", "a_cuda")
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests").code == 0
    head, *_, end = lines(out / "tests.jsonl")
    assert head["kind"] == "run"
    assert (head["what"], head["scale"], head["programs"]) == ("tests", "normal", ["a_cuda", "b_cuda"])
    assert (head["evidence"], head["sources"]) == (state.evidence, state.sources)
    assert head["started"].endswith("Z")
    assert {"device", "driver", "nvcc"} <= set(head)
    assert not {"filter", "partial"} & set(head)
    assert end["kind"] == "end"
    assert {status: number for status, number in end["counts"].items() if number} == {"ok": 2, "skipped": 1}
    assert set(end["programs"]) == {"a_cuda", "b_cuda"}
    assert all(end["seconds"] + 0.1 >= seconds > 0 for seconds in end["programs"].values())


def test_results_of_a_program_lie_together(warpheap: Command, fake_tests: MakeTests, tmp_path: Path) -> None:
    names = [f"{letter}_cuda" for letter in "abcd"]
    for name in names:
        fake_tests(name, tests="A.one A.fails A.two A.crashes A.three")
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    programs = [each["program"] for each in results(out / "tests.jsonl")]
    order = list(dict.fromkeys(programs))
    assert sorted(order) == names
    assert programs == [name for name in order for _ in range(5)]


def test_a_filter_and_a_scale_are_recorded(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tests("a_cuda", tests="A.good A.other")
    monkeypatch.setenv("WARPHEAP_TEST_SCALE", "full")
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests,memcheck", "--filter", "A.good")
    assert statuses(out / "tests.jsonl") == {"A.good": "ok"}
    heads = [lines(out / name)[0] for name in ("tests.jsonl", "memcheck.jsonl")]
    assert [(head["filter"], head["scale"]) for head in heads] == [("A.good", "full"), ("A.good", "small")]


def test_without_a_list_of_programs_a_record_is_partial(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert lines(out / "tests.jsonl")[0]["partial"] == "no list of programs"
    assert lines(out / "tests.jsonl")[0]["programs"] == ["a_cuda"]
    assert "no list of programs" in done.out


def test_programs_of_other_sources_make_a_partial_record(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good")
    expect(tmp_path, "a_cuda")
    out = tmp_path / "out"
    for sources, partial in ((state.sources, None), ("c" * 64, "the programs were built from other sources (cccccc")):
        folder = prebuilt(tmp_path, fake_driver, sources=sources)
        warpheap("gpu", "--out", out, "--prebuilt", folder, "--only", "tests")
        told = lines(out / "tests.jsonl")[0].get("partial")
        assert told == partial or (partial and told.startswith(partial))


def test_the_list_of_the_folder_is_preferred_to_that_of_its_bin(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("old_cuda", tests="O.good")
    expect(tmp_path / "bin", "a_cuda", "old_cuda")
    out = tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert "old_cuda" in warpheap(*words).out
    assert statuses(out / "tests.jsonl") == {"A.good": "ok", "O.good": "ok"}
    expect(tmp_path, "a_cuda")
    assert "left out, since the list does not have them: old_cuda" in warpheap(*words).out
    assert statuses(out / "tests.jsonl") == {"A.good": "ok"}


def test_after_a_build_that_failed_all_programs_are_missed(
    warpheap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(tmp_path, "a_cuda", "b_cuda")
    failed = Result("build", "cuda", "cmake", "failed", 3.0, "no space")
    monkeypatch.setattr(build, "build", lambda *_: (build.collect([], expected.ProgramList.find(tmp_path)), [failed]))
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--only", "tests,memcheck").code == 1
    assert statuses(out / "tests.jsonl") == {"cmake": "failed", "a_cuda": "missed", "b_cuda": "missed"}
    assert statuses(out / "memcheck.jsonl") == {"a_cuda": "missed", "b_cuda": "missed"}
    assert (out / "build.log").is_file()


def test_sources_that_change_during_the_build_make_a_partial_record(
    warpheap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [build.State("1" * 64, "1" * 64), build.State("2" * 64, "1" * 64)]
    monkeypatch.setattr(build, "state_of_checkout", lambda: states.pop(0))
    expect(tmp_path, "a_cuda")
    monkeypatch.setattr(build, "build", lambda *_: (build.collect([], expected.ProgramList.find(tmp_path)), []))
    warpheap("gpu", "--out", tmp_path / "out", "--only", "tests")
    assert "changed while" in lines(tmp_path / "out" / "tests.jsonl")[0]["partial"]
    assert not (tmp_path / "out" / "build.log").exists()


def test_without_the_checker_every_program_is_missed(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("a_mutants_cuda", tests="A.good")
    monkeypatch.setattr(memcheck, "find_tool", lambda _: None)
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "memcheck").code == 1
    assert statuses(out / "memcheck.jsonl") == {"a_cuda": "missed", "a_mutants_cuda": "skipped"}
    assert not (out / "tests.jsonl").exists()


def test_parts_of_another_state_are_not_added_to_a_record(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good")
    out = tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", tmp_path, "--only")
    warpheap(*words, "tests")
    (out / "sync.jsonl").write_text(json.dumps({"case": "semaphores", "sources": state.sources}) + "\n")
    before = (out / "tests.jsonl").read_text()
    assert warpheap(*words, "memcheck").code == 1, "this state's, without a checker"
    for changed in (build.State("f" * 64, state.sources), build.State(state.evidence, "f" * 64)):
        monkeypatch.setattr(build, "state_of_checkout", lambda changed=changed: changed)
        done = warpheap(*words, "memcheck")
        assert done.code == 2
        assert "--only tests,memcheck" in done.err
        assert state.evidence[:12] in done.err
        assert (out / "tests.jsonl").read_text() == before
    done = warpheap(*words, "tests,memcheck")
    assert f"{out / 'sync.jsonl'} is of another state" in done.out
    assert f"{out / 'memcheck.jsonl'} is of another state" not in done.out


def test_one_command_makes_all_parts(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    folder = prebuilt(tmp_path, fake_driver, allocators="good")
    program(folder / "bin" / "warpheap_pool_bench_cuda", HERE / "fake_pool_driver.py", {"subjects": "pool"})
    known = tmp_path / "known.jsonl"
    points = [{"case": case, "subject": "bulk", "status": "ok"} for case in ("semaphores", "delegation")]
    known.write_text("".join(json.dumps(each) + "\n" for each in points))
    settings = {"records": str(known), "fails": "delegation"}
    program(folder / "bin" / "warpheap_sync_bench_cuda", HERE / "fake_sync_driver.py", settings)
    out = tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", folder, "--budget", "40", "--only", "tests,sync,pool")
    done = warpheap(*words)
    assert done.code == 1, done.out
    assert [each["case"] for each in lines(out / "sync.jsonl")] == ["semaphores", "delegation", "delegation"]
    assert {each["status"] for each in lines(out / "pool.jsonl") if each["subject"] == "pool"} == {"ok"}
    assert {path.name for path in out.iterdir()} == {"tests.jsonl", "sync.jsonl", "pool.jsonl", "machine.json"}
    assert "sync: some measurements failed" in done.out
    assert "pool: some" not in done.out


def test_a_part_without_its_driver_is_told_and_does_not_stop_the_others(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    done = warpheap("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "sync,bench,tests")
    assert done.code == 1
    assert "sync: no warpheap_sync_bench_cuda" in done.out
    assert "bench: there is no warpheap_bench_cuda" in done.out
    assert statuses(tmp_path / "out" / "tests.jsonl") == {"A.good": "ok"}


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
    (tmp_path / expected.COSTS_NAME).write_text("12.5 a_cuda\nnonsense\n3 b_cuda\n")
    listed = expected.ProgramList.find(tmp_path)
    assert listed is not None
    assert listed.costs() == {"a_cuda": 12.5, "b_cuda": 3.0}

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


@pytest.mark.skipif(build.find_tool("cmake") is None, reason="CMake is not installed")
def test_the_state_is_what_cmake_says_of_the_checkout() -> None:
    state = build.state_of_checkout()
    checkout = project.find_checkout()
    assert checkout is not None
    plain = process.run(["cmake", "-P", checkout / "cmake" / "fingerprint.cmake"], 60)
    assert state.sources == plain.stdout.strip()
    assert len(state.evidence) == 64
    assert state.evidence != state.sources


def test_a_whole_record_is_evidence_and_a_missed_program_ends_that(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: build.State
) -> None:
    checker = tmp_path / "checker"
    checker.write_text("#!/bin/sh\necho '========= ERROR SUMMARY: 0 errors'\n")
    checker.chmod(0o755)
    monkeypatch.setattr(memcheck, "find_tool", lambda _: str(checker))
    fake_tests("a_cuda", tests="A.good A.skips")
    fake_tests("a_mutants_cuda", tests="M.good")
    expect(tmp_path, "a_cuda", "a_mutants_cuda")
    words = ("--out", tmp_path / "results" / "h100", "--prebuilt", tmp_path, "--only", "tests,memcheck")
    check = [HERE.parents[1] / "tools" / "check_evidence", tmp_path, "--fingerprint", state.evidence]
    done = warpheap("gpu", *words)
    assert done.code == 0, done.out
    verdict = process.run([sys.executable, *check], 60)
    assert verdict.exit_code == 0, verdict.stdout
    expect(tmp_path, "a_cuda", "a_mutants_cuda", "b_cuda")
    assert warpheap("gpu", *words).code == 1
    verdict = process.run([sys.executable, *check], 60)
    assert verdict.exit_code == 1
    assert "has 1 of status 'missed': b_cuda b_cuda" in verdict.stdout
