# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Test programs under compute-sanitizer's memcheck, at reduced size."""

import re
from pathlib import Path

from warpheap import process
from warpheap.gpu import gtest
from warpheap.gpu.build import find_tool, is_example, is_script
from warpheap.gpu.device import Environment
from warpheap.gpu.result import Result

# What the checker exits with when it found something; GoogleTest's own failure is 1.
_FOUND = 99
# Tests run reduced sizes: the checker slows kernels down by a factor of ten to a hundred, and each launch takes about
# a tenth of a second beside other programs. Tests that try seeds try one: the others are for what kernels compute, and
# the run without the checker has them.
SCALE = "small"
SEEDS = "1"


def check(program: Path, wanted: str, time_limit: float, environment: Environment) -> Result:
    """Run the tests of `program` that the filter `wanted` names under the checker, with `environment` added to ours."""
    if "_mutants_" in program.name:
        return Result("memcheck", program.name, program.name, "skipped", 0.0, "its allocators are broken on purpose")
    if is_script(program):
        reason = "a program of Python: the kernels of its packages are not ours to check"
        return Result("memcheck", program.name, program.name, "skipped", 0.0, reason)
    sanitizer = find_tool("compute-sanitizer")
    if sanitizer is None:
        return Result("memcheck", program.name, program.name, "missed", 0.0, "compute-sanitizer is not installed here")
    command: list[str | Path] = [
        sanitizer, "--tool", "memcheck", "--error-exitcode", str(_FOUND), "--print-limit", "5",
        # Tests provoke refusals of the CUDA runtime and check how those are reported; here kernels are checked.
        "--report-api-errors", "no",
        str(program),
    ]  # fmt: skip
    if not is_example(program):
        command += [f"--gtest_filter={wanted}", "--gtest_color=no"]
    reduced = {"WARPHEAP_TEST_SCALE": SCALE, "WARPHEAP_TEST_SEEDS": SEEDS}
    outcome = process.run(command, time_limit, environment={**environment, **reduced})
    status, reason = _judge(outcome)
    return Result("memcheck", program.name, program.name, status, round(outcome.seconds, 3), reason)


def _judge(outcome: process.Outcome) -> tuple[str, str]:
    output = outcome.stdout + outcome.stderr
    said = [line.removeprefix("=========").strip() for line in output.splitlines() if line.startswith("=========")]
    if "Device not supported" in output:
        return "missed", "compute-sanitizer does not support this device or its driver"
    if outcome.timed_out:
        return "timeout", f"{outcome.describe_end()}{_where(outcome)}"
    if "terminated before first instrumented API call" in output:
        return "skipped", "the program starts no kernel"
    summary = re.search(r"ERROR SUMMARY: (\d+) error", output)
    if outcome.exit_code == _FOUND or (summary and int(summary[1]) > 0):
        return "failed", " | ".join(line for line in said[1:] if line)[:800]
    if outcome.exit_code == 1:
        return "failed", f"memory is clean, tests failed: {_failed_tests(outcome)}"[:800]
    if outcome.exit_code != 0 or summary is None:
        return "crashed", outcome.describe_end()
    return "ok", ""


def _where(outcome: process.Outcome) -> str:
    """The test that was running, and the three that had taken longest; empty if none had begun."""
    running, ended = gtest.course_of(outcome)
    slowest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(ended, reverse=True)[:3])
    where = f" in {running}" if running else " after its last test" if ended else ""
    return where + (f"; slowest before: {slowest}" if slowest else "")


def _failed_tests(outcome: process.Outcome) -> str:
    """The tests that failed, each once, and what the first one said."""
    names = dict.fromkeys(re.findall(r"\[  FAILED  \] ([^\s,]+\.[^\s,]+)", outcome.stdout))
    first = next((result for result in gtest.read("", outcome) if result.status == "failed"), None)
    return ", ".join(names) + (f": {first.reason}" if first is not None and first.reason else "")
