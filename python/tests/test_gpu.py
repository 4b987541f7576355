# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU run, with programs that only pretend."""

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import HERE, SECONDS_TO_START, program, run_without
from gpu_runs import Command, MakeDriver, MakeTests, ends, expect, lines, prebuilt, results, statuses

from warpheap import process
from warpheap.gpu import gtest, memcheck
from warpheap.gpu.result import Result


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


def test_tests_of_a_process_that_a_test_starts_are_its_own(fake_tests: MakeTests) -> None:
    tests = "A.good A.starts A.fails_within A.other"
    found = list(gtest.run_tests(fake_tests("a_cuda", tests=tests), "*", lambda: 60))
    assert [(each.name, each.status) for each in found] == [
        ("A.good", "ok"),
        ("A.starts", "ok"),
        ("A.fails_within", "failed"),
        ("A.other", "ok"),
    ]
    assert "Expected 1" in found[2].reason


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


def test_the_checker_has_less_to_do_than_a_run_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = tmp_path / "checker"
    checker.write_text(
        '#!/bin/sh\necho "$WARPHEAP_TEST_SCALE, $WARPHEAP_TEST_SEEDS seed, $KEPT" > "$KEPT"\n'
        'echo "========= ERROR SUMMARY: 0 errors"\n'
    )
    checker.chmod(0o755)
    monkeypatch.setattr(memcheck, "find_tool", lambda _: checker)
    monkeypatch.setenv("WARPHEAP_TEST_SEEDS", "9")
    kept = tmp_path / "kept"
    assert memcheck.check(tmp_path / "a_cuda", "*", 60, {"KEPT": str(kept)}).status == "ok"
    assert kept.read_text() == f"small, 1 seed, {kept}\n"


def test_the_checker_tells_which_test_had_no_time_left_and_which_took_it() -> None:
    output = (
        "[ RUN      ] A.quick\n[       OK ] A.quick (10 ms)\n"
        "[ RUN      ] A.slow\n[       OK ] A.slow (90000 ms)\n"
        "[ RUN      ] A.last\n"
    )
    status, reason = memcheck._judge(process.Outcome(output, "", -9, 100.0, True))
    assert status == "timeout"
    assert reason.endswith("in A.last; slowest before: A.slow 90 s, A.quick 0 s")
    assert " in " not in memcheck._judge(process.Outcome("", "", -9, 100.0, True))[1]
    failed = "[ RUN      ] A.bad\n[  FAILED  ] A.bad (7 ms)\n[ RUN      ] A.slow\n"
    assert memcheck._judge(process.Outcome(failed, "", -9, 9.0, True))[1].endswith(
        "in A.slow; slowest before: A.bad 0 s"
    )
    ended = failed + "[       OK ] A.slow (9000 ms)\n"
    assert " after its last test; " in memcheck._judge(process.Outcome(ended, "", -9, 99.0, True))[1]


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


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", "ok"), ("exit 3", "failed"), ("kill -9 $$", "crashed"), ("echo no GPU >&2; exit 77", "skipped")],
)
def test_an_example_is_judged_by_its_exit_code(warpheap: Command, tmp_path: Path, script: str, status: str) -> None:
    program = tmp_path / "bin" / "example_first_cuda"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert done.code == (0 if status in ("ok", "skipped") else 1)
    assert statuses(out / "tests.jsonl") == {"example_first_cuda": status}


def test_an_example_in_python_runs_in_this_python_and_not_under_the_checker(warpheap: Command, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "example_python_first_cuda"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$PYTHON" > {tmp_path}/seen\n')
    program.chmod(0o755)
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests,memcheck")
    assert (tmp_path / "seen").read_text() == f"{os.environ.get('PYTHON', sys.executable)}\n"
    assert statuses(out / "tests.jsonl") == {program.name: "ok"}
    assert statuses(out / "memcheck.jsonl") == {program.name: "skipped"}


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


def test_a_run_without_what_plots_tells_how_to_make_its_report(fake_driver: MakeDriver, tmp_path: Path) -> None:
    folder, out = prebuilt(tmp_path, fake_driver, allocators="good"), tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", folder, "--only", "bench")
    done = run_without("matplotlib", tmp_path / "lacking", *words)
    told = "For the report matplotlib is missing here; where it is: python3 -m warpheap report"
    assert f"{told} {out}" in done.out and not done.err
    assert lines(out / "survey.jsonl") and not (out / "report.html").exists()


def test_a_part_without_its_driver_is_told_and_does_not_stop_the_others(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    done = warpheap("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "sync,bench,tests")
    assert done.code == 1
    assert "sync: no warpheap_sync_bench_cuda" in done.out
    assert "bench: there is no warpheap_bench_cuda" in done.out
    assert statuses(tmp_path / "out" / "tests.jsonl") == {"A.good": "ok"}
