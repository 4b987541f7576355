# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""GoogleTest programs as children that may hang or crash.

Results are read from the output as the tests run, not from the file that GoogleTest writes at the end: a program that
hangs or crashes writes none. A test that fails ends its process too (a failed kernel takes the CUDA context with it,
and every later test of that process would fail for it); the tests after it run in a fresh one.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from warpheap import process
from warpheap.gpu.build import is_script
from warpheap.gpu.device import Environment
from warpheap.gpu.result import Result
from warpheap.project import find_checkout

_SECONDS_TO_LIST = 120.0
_RUN = re.compile(r"\[ RUN      \] (\S+)\s*$")
_END = re.compile(r"\[( {7}OK |  FAILED  |  SKIPPED )\] ([^\s,]+)(?:, where .*)? \((\d+) ms\)\s*$")
_STATUS = {"OK": "ok", "FAILED": "failed", "SKIPPED": "skipped"}
_CANNOT_RUN = 77  # the exit status of an example that lacks a package, or a GPU
_LAST_LINES = 6  # of an example that failed
_LONGEST_FILTER = 100_000  # characters; Linux takes 128 KiB for one argument


def list_tests(program: Path, wanted: str) -> list[str] | process.Outcome:
    """Full names of the program's tests, or how the program ended if it did not list them."""
    outcome = process.run([program, "--gtest_list_tests", f"--gtest_filter={wanted}"], _SECONDS_TO_LIST)
    if outcome.timed_out or outcome.exit_code != 0:
        return outcome
    names = []
    suite = ""
    for line in outcome.stdout.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  ") and suite:
            names.append(suite + name)
        elif name.endswith("."):
            suite = name
    return names


def run_example(program: Path, time_limit: float, environment: Environment) -> Result:
    """Run a program that is one test as a whole, with `environment` added to ours. It may say that it cannot run here.

    An example in Python runs in the Python that the environment variable PYTHON names, or else in this one.
    """
    python = {"PYTHON": sys.executable} if is_script(program) and "PYTHON" not in os.environ else {}
    outcome = process.run([program], time_limit, environment={**python, **environment})
    status, reason = "ok", ""
    if outcome.exit_code == _CANNOT_RUN and not outcome.timed_out:
        status, reason = "skipped", outcome.last_words
    elif outcome.timed_out or outcome.exit_code != 0:
        status = "timeout" if outcome.timed_out else "failed" if (outcome.exit_code or 0) > 0 else "crashed"
        reason = f"{outcome.describe_end()} | stdout: {_text(outcome.stdout.splitlines()[-_LAST_LINES:])}"
    return Result("test", program.name, program.name, status, round(outcome.seconds, 3), reason)


def run_tests(
    program: Path,
    wanted: str,
    time_limit: Callable[[], float],
    why_stop: Callable[[Result], str] = lambda _: "",
    environment: Environment | None = None,
) -> Iterator[Result]:
    """Run the tests that the filter `wanted` names and yield a result for each, in order.

    Processes have `environment` in addition to ours. `time_limit` gives the seconds of the next process. `why_stop` is
    asked with the last result before a new process starts; if it answers, the tests that are left are `missed` for that
    reason. They are `missed`, too, if a process ends before its first test; how it ended is then a result of the
    program's own name.
    """
    names = list_tests(program, wanted)
    if isinstance(names, process.Outcome):
        status = "timeout" if names.timed_out else "crashed"
        yield Result("test", program.name, program.name, status, round(names.seconds, 3), names.describe_end())
        return
    left = list(names)
    while left:
        command: list[str | Path] = [
            program,
            f"--gtest_filter={_filter(left)}",
            "--gtest_fail_fast",
            "--gtest_color=no",
        ]
        outcome = process.run(command, time_limit(), environment=environment)
        known = [result for result in read(program.name, outcome) if result.name in left]
        if not known:
            status, seconds = "timeout" if outcome.timed_out else "crashed", round(outcome.seconds, 3)
            end = Result("test", program.name, program.name, status, seconds, f"no test: {outcome.describe_end()}")
            yield end
            yield from missed(program, left, why_stop(end) or "the program ended before it")
            return
        for result in known:
            left.remove(result.name)
            yield result
        if left and (reason := why_stop(known[-1])):
            yield from missed(program, left, reason)
            return


def missed(program: Path, names: Sequence[str], reason: str) -> Iterator[Result]:
    """Results of tests that had no turn."""
    for name in names:
        yield Result("test", program.name, name, "missed", 0.0, reason)


def _filter(names: Sequence[str]) -> str:
    text = ""
    for name in names:
        if len(text) + len(name) >= _LONGEST_FILTER:
            break
        text += (":" if text else "") + name
    return text


def read(program: str, outcome: process.Outcome) -> Iterator[Result]:
    """The results in a process's output up to the first failure; the last one may be of a test that never ended.

    Tests that run within a test are of another process, which the test started with the same output: they are its own
    business.
    """
    running: list[str] = []
    said: list[str] = []
    passed = 0.0
    for line in outcome.stdout.splitlines():
        if started := _RUN.search(line):
            if not running:
                said = []
            running.append(started[1])
        elif (ended := _END.search(line)) and ended[2] in running:
            del running[running.index(ended[2]) :]
            if running:
                continue
            status = _STATUS[ended[1].strip()]
            seconds = int(ended[3]) / 1000
            passed += seconds
            yield Result("test", program, ended[2], status, seconds, "" if status == "ok" else _text(said))
            if status == "failed":
                return  # GoogleTest has not tried the tests that it calls skipped from here on
        elif running:
            said.append(line)
    if running:
        status = "timeout" if outcome.timed_out else "crashed"
        reason = " ".join(part for part in (outcome.describe_end(), _text(said)) if part)
        yield Result("test", program, running[0], status, round(max(outcome.seconds - passed, 0), 3), reason)


def course_of(outcome: process.Outcome) -> tuple[str, list[tuple[float, str]]]:
    """The test that was running when the process ended, or no name; and seconds and name of each that had ended.

    Unlike `read` it goes on after a failure. Tests that run within a test are left out, as there.
    """
    running: list[str] = []
    ended_tests: list[tuple[float, str]] = []
    for line in outcome.stdout.splitlines():
        if started := _RUN.search(line):
            running.append(started[1])
        elif (ended := _END.search(line)) and ended[2] in running:
            del running[running.index(ended[2]) :]
            if not running:
                ended_tests.append((int(ended[3]) / 1000, ended[2]))
    return running[0] if running else "", ended_tests


def _text(lines: Sequence[str]) -> str:
    text = " | ".join(line.strip() for line in lines if line.strip())
    # Places in the source are told from the checkout on: where it lies on this machine is nobody's business.
    if checkout := find_checkout():
        text = text.replace(f"{checkout}/", "")
    return text[:800]
