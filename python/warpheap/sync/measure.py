# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: all points in one process, which is heard while it runs."""

from collections.abc import Callable, Sequence
from pathlib import Path

from warpheap import process
from warpheap.experiments.check import Needs, validate
from warpheap.experiments.driver import SECONDS_TO_ANSWER, Driver
from warpheap.experiments.records import Record, without_result
from warpheap.record import ParseError, RecordError, parse

DRIVER = Driver("warpheap_sync_bench", ("--case", "semaphores", "--quick"))
# A kernel that has begun cannot be called back: the driver may foresee the last one of an experiment too short.
_TIMES_TOO_LONG = 2.0


# Parts of the budget. Where one ends badly, the other still has its own.
_SHARES = {"semaphores": 0.6, "delegation": 0.4}
CASES = tuple(_SHARES)
_BOTH = ("threads", "operations", "rate", "time_us")
NEEDS: Needs = {
    "semaphores": ("batch", "batches", *_BOTH),
    "delegation": ("readers_per_writer", "removals", *_BOTH),
}


def measure(program: Path, budget: float, cases: Sequence[str], keep: Callable[[Record], None]) -> None:
    """Runs the driver and gives each record to `keep`; an end that is not orderly is a record, too."""
    for case in cases:
        share = budget * _SHARES[case] / sum(_SHARES[each] for each in cases)
        heard: list[Record] = []

        def hear(line: str, case: str = case, heard: list[Record] = heard) -> None:
            try:
                record = validate(parse(line), NEEDS)
            except ParseError:
                return  # the end of a line that a killed process did not finish
            except RecordError as problem:
                record = without_result(case, "driver", "failed", f"a record breaks the format: {problem}")
            heard.append(record)
            keep(record)

        command = [str(program), "--case", case, "--seconds", f"{share:.2f}"]
        outcome = process.follow(command, _TIMES_TOO_LONG * share + SECONDS_TO_ANSWER, hear)
        if outcome.timed_out or outcome.exit_code != 0:
            status = "timeout" if outcome.timed_out else "failed"
            keep(without_result(case, "driver", status, f"{outcome.describe_end()} (after {_last(heard)})"))


def name_of(record: Record) -> str:
    """The point in words."""
    words = [record["case"], record["subject"]]
    if "batch" in record:
        words.append(f"batches of {record['batch']}")
    if "readers_per_writer" in record:
        words.append(f"1:{record['readers_per_writer']}")
    if "threads" in record:
        words.append(f"{record['threads']:,} threads")
    return " ".join(words)


def _last(heard: list[Record]) -> str:
    return name_of(heard[-1]) if heard else "nothing"
