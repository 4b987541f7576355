# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU run, with programs that only pretend."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SECONDS_TO_START, Finished

from warpheap import process
from warpheap.gpu import gtest, memcheck

Command = Callable[..., Finished]
MakeTests = Callable[..., Path]
MakeDriver = Callable[..., Path]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def ends(program: Path, limit: float = 60) -> dict[str, str]:
    return {result.name: result.status for result in gtest.run_tests(program, "*", limit)}


def test_each_test_gets_its_own_verdict(fake_tests: MakeTests) -> None:
    program = fake_tests("a_cuda", tests="A.good A.fails A.after B.crashes/0 B.after/1 C.skips C.after")
    results = {result.name: result for result in gtest.run_tests(program, "*", 60)}
    assert {name: result.status for name, result in results.items()} == {
        "A.good": "ok",
        "A.fails": "failed",
        "A.after": "ok",
        "B.crashes/0": "crashed",
        "B.after/1": "ok",
        "C.skips": "skipped",
        "C.after": "ok",
    }
    assert "Expected 1" in results["A.fails"].reason
    assert "SIGABRT" in results["B.crashes/0"].reason
    assert "needs two GPUs" in results["C.skips"].reason
    assert results["A.good"].seconds == 0.012


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
    (result,) = gtest.run_tests(program, "*", 60)
    assert result.status == "crashed"
    assert "exit code 7: no driver" in result.reason


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "output", "status"),
    [
        (0, False, "========= ERROR SUMMARY: 0 errors", "ok"),
        (99, False, "========= Invalid __global__ read\n========= ERROR SUMMARY: 2 errors", "failed"),
        (1, False, "[  FAILED  ] A.b (3 ms)\n========= ERROR SUMMARY: 0 errors", "failed"),
        (-9, True, "", "timeout"),
        (-11, False, "", "crashed"),
        (0, False, "no summary", "crashed"),
        (1, False, "========= Error: Device not supported", "skipped"),
    ],
    ids=str,
)
def test_the_checker_is_understood(exit_code: int, timed_out: bool, output: str, status: str) -> None:
    assert memcheck._judge(process.Outcome(output, "", exit_code, 1.0, timed_out))[0] == status


def prebuilt(tmp_path: Path, fake_driver: MakeDriver, **settings: str) -> Path:
    driver = fake_driver(**settings)
    target = tmp_path / "bin" / "warpheap_bench_cuda"
    target.parent.mkdir(exist_ok=True)
    driver.rename(target)
    return tmp_path


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
    names = [(each["kind"], each["name"], each["status"]) for each in lines(out / "tests.jsonl")]
    assert names == [("test", "A.good", "ok"), ("test", "A.fails", "failed"), ("test", "H.good", "ok")]
    assert {each["status"] for each in lines(out / "survey.jsonl")} == {"ok", "failed"}
    assert "A.fails" in (out / "report.html").read_text()
    assert (out / "throughput.png").is_file()
    assert len(list(out.iterdir())) <= 8
    assert "Summary" in done.out


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
    done = warpheap("gpu", "--out", out, "--prebuilt", folder, "--only", "tests", "--time-limit", SECONDS_TO_START)
    assert done.code == 1
    found = {each["name"]: each for each in lines(out / "tests.jsonl")}
    assert found["A.hangs"]["status"] == "timeout"
    assert found["A.after"]["status"] == found["b_cuda"]["status"] == "skipped"
    assert "did not answer after A.hangs" in found["b_cuda"]["reason"]


def test_after_a_hang_a_device_that_answers_goes_on(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.hangs A.after")
    folder = prebuilt(tmp_path, fake_driver)
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", folder, "--only", "tests", "--time-limit", SECONDS_TO_START)
    assert [each["status"] for each in lines(out / "tests.jsonl")] == ["timeout", "ok"]


@pytest.mark.parametrize(("script", "status"), [("exit 0", "ok"), ("exit 3", "failed"), ("kill -9 $$", "crashed")])
def test_an_example_is_judged_by_its_exit_code(warpheap: Command, tmp_path: Path, script: str, status: str) -> None:
    program = tmp_path / "bin" / "example_first_cuda"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert done.code == (0 if status == "ok" else 1)
    assert [each["status"] for each in lines(out / "tests.jsonl")] == [status]


def test_what_the_budget_has_no_room_for_is_recorded_as_skipped(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.hangs A.after")
    fake_tests("b_cuda", tests="B.good")
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests", "--budget", SECONDS_TO_START)
    found = {each["name"]: each["status"] for each in lines(out / "tests.jsonl")}
    assert found == {"A.hangs": "timeout", "A.after": "skipped", "b_cuda": "skipped"}


@pytest.mark.parametrize(
    ("arguments", "right"),
    [(("--only", "test"), "tests, memcheck, bench"), (("--prebuilt", "/nowhere"), "no folder")],
    ids=str,
)
def test_wrong_words_are_answered(warpheap: Command, tmp_path: Path, arguments: tuple[str, str], right: str) -> None:
    done = warpheap("gpu", "--out", tmp_path / "out", *arguments)
    assert done.code == 2
    assert right in done.err
