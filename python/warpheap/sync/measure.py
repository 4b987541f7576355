# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: all points in one process, which is heard while it runs."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from warpheap import process
from warpheap.experiments.driver import SECONDS_TO_ANSWER, Driver
from warpheap.experiments.records import Record, without_result

DRIVER = Driver("warpheap_sync_bench", ("--case", "semaphores", "--quick"))
# A kernel that has begun cannot be called back: the driver may foresee the last one of an experiment too short.
_TIMES_TOO_LONG = 2.0


# Parts of the budget. Where one ends badly, the other still has its own.
_SHARES = {"semaphores": 0.6, "delegation": 0.4}
CASES = tuple(_SHARES)


def measure(program: Path, budget: float, cases: Sequence[str], keep: Callable[[Record], None]) -> None:
    """Runs the driver and gives each record to `keep`; an end that is not orderly is a record, too."""
    for case in cases:
        share = budget * _SHARES[case] / sum(_SHARES[each] for each in cases)
        heard: list[Record] = []

        def hear(line: str, heard: list[Record] = heard) -> None:
            try:
                record = json.loads(line)
            except ValueError:
                return  # the end of a line that a killed process did not finish
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
