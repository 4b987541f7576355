# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Case after case in one process of the driver: a start of CUDA takes longer than most cases.

What remains of a case must not decide another one. So a process ends with the first case that is not ok, and that
case is run once more in a process of its own, whose record counts. A case that ran out of time is not: it would do so
twice. Cases that measure a first use, and designs whose memory outlives their heap, always have processes of their own.
"""

import time
from collections.abc import Mapping
from types import TracebackType

from warpheap import process
from warpheap.cases import CASES
from warpheap.driver import Driver, words_of
from warpheap.record import Record, out_of_time
from warpheap.runner import Effort, Point, Runner

# Then a new process begins, so that what leaks in a long survey stays small.
_MOST_CASES = 200


class SharedProcess:
    """A runner: the cases that may share a process, one after the other; all others as the driver alone does it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._alone = {each["name"] for each in driver.allocators if not each.get("uses_arena", False)}
        self._process: process.Conversation | None = None
        self._cases = 0

    def measure(self, point: Point, effort: Effort) -> Record:
        """Measures a case and returns a valid record, whatever happens. A hang is recorded when the limit is met."""
        if not CASES[point.case].shares_process or point.allocator in self._alone:
            return self._driver.measure(point, effort)
        if self._process is None:
            self._process = process.Conversation([self._driver.path, "--serve"], self._driver.environment)
            self._cases = 0
        begin = time.monotonic()
        answer = self._process.ask(" ".join(words_of(point, effort)), effort.time_limit)
        seconds = time.monotonic() - begin
        self._cases += 1
        record = self._driver.answer_to(point, answer)[0] if answer is not None else None
        if record is None or record["status"] != "ok":
            self.end()
            if record is not None and out_of_time(record):
                return self._shared(record, seconds, effort)
            if record is None and seconds >= effort.time_limit:
                reason = f"still running after {seconds:.0f} s, killed"
                record = self._driver.record_without_result(point, "timeout", reason)
                return record | {"seconds": round(seconds, 3), "time_limit_s": effort.time_limit}
            return self._driver.measure(point, effort)
        if self._cases == _MOST_CASES:
            self.end()
        return self._shared(record, seconds, effort)

    @staticmethod
    def _shared(record: Record, seconds: float, effort: Effort) -> Record:
        return record | {"seconds": round(seconds, 3), "time_limit_s": effort.time_limit, "shared_process": True}

    def end(self) -> None:
        """Ends the process, if there is one. Another call of `measure` starts a new one."""
        if self._process is not None:
            self._process.end()
            self._process = None


class SharedProcesses:
    """The runners of a survey with those that are a driver replaced by shared processes, which end with the context."""

    def __init__(self) -> None:
        self._made: list[SharedProcess] = []

    def replace(self, runners: Mapping[str, Runner]) -> dict[str, Runner]:
        """The runners by the name of the case; cases of one driver share its process."""
        made: dict[int, SharedProcess] = {}
        replaced: dict[str, Runner] = {}
        for name, runner in runners.items():
            if isinstance(runner, Driver):
                replaced[name] = made.setdefault(id(runner), SharedProcess(runner))
            else:
                replaced[name] = runner
        self._made += made.values()
        return replaced

    def __enter__(self) -> "SharedProcesses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._made:
            each.end()
