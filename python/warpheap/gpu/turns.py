# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Test programs side by side on one GPU: which of them get their turn, and how an interruption ends them."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from warpheap import process
from warpheap.gpu.device import Device
from warpheap.gpu.result import Result


class Gate:
    """Tells whether another process may start.

    It closes for good when the time is used up, when the device does not answer after a hang, and when the run is
    interrupted.
    """

    def __init__(self, device: Device, end: float, out_of_time: str, lost: str = "") -> None:
        """Make a gate that is open until `end`, a time of time.monotonic(), and then closed for `out_of_time`.

        `lost` says why the device was lost before; such a gate is closed from the beginning.
        """
        self.lost = lost
        self._device = device
        self._end = end
        self._out_of_time = out_of_time
        self._interrupted = False
        self._asking = threading.Lock()

    @property
    def left(self) -> float:
        """Seconds until the time is used up, 0 at least."""
        return max(self._end - time.monotonic(), 0.0)

    def why_closed(self) -> str:
        """Why nothing may start any more; empty as long as something may. Waits while the device is being asked."""
        with self._asking:
            if self._interrupted:
                return "the run was interrupted"
            return self.lost or (self._out_of_time if self.left <= 0 else "")

    def after(self, result: Result) -> str:
        """Why nothing may start after `result`, the last of its process; empty as long as something may.

        After a hang the device is asked, and has to answer.
        """
        if result.status == "timeout":
            with self._asking:
                if not (self.lost or self._interrupted or self._device.answers()):
                    self.lost = f"the device did not answer after {result.name} was killed"
        return self.why_closed()

    def interrupt(self) -> None:
        """Let nothing start any more."""
        self._interrupted = True


@dataclass(frozen=True)
class Turn:
    """What came of one program."""

    program: Path
    results: list[Result]
    seconds: float


def side_by_side(
    programs: Sequence[Path],
    jobs: int,
    gate: Gate,
    work: Callable[[Path], list[Result]],
    keep: Callable[[Turn], None],
) -> None:
    """Call `work` for each program, `jobs` of them at a time, in threads; give each outcome to `keep` in this one.

    An exception, an interruption among them, ends all programs that are running before it goes on.
    """

    def turn(program: Path) -> Turn:
        start = time.monotonic()
        results = work(program)
        return Turn(program, results, time.monotonic() - start)

    futures: list[Future[Turn]] = []
    with ThreadPoolExecutor(jobs) as threads:
        try:
            futures += [threads.submit(turn, program) for program in programs]
            for future in as_completed(futures):
                keep(future.result())
        except BaseException:
            _end(threads, futures, gate)
            raise


def _end(threads: ThreadPoolExecutor, futures: Sequence[Future[Turn]], gate: Gate) -> None:
    gate.interrupt()
    threads.shutdown(wait=False, cancel_futures=True)
    # A thread may have passed the gate and start its process only now.
    while not all(future.done() for future in futures):
        process.kill_running()
        time.sleep(0.05)
