# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The frame of such a command: records are kept as they come, and the report is made where that can be done."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from warpheap.experiments.records import Record
from warpheap.machines import add_facts, describe_machine
from warpheap.words import where_to_report


@contextmanager
def keeping(folder: Path, name: str) -> Iterator[Callable[[Record], None]]:
    """A call that writes a record at once; at the end comes what is known of the machine.

    An interruption tells the user what becomes of the records: the next measurement begins anew.
    """
    devices = {}
    count = 0
    with (folder / name).open("w", encoding="utf-8") as stream:

        def keep(record: Record) -> None:
            nonlocal count
            stream.write(json.dumps(record) + "\n")
            stream.flush()
            count += 1
            if record.get("backend") in ("cuda", "host"):
                devices[record["device"]] = True

        try:
            yield keep
        except KeyboardInterrupt:
            kept = f"{count} records are in {folder / name}: --no-measure makes their report, another run begins anew"
            print(f"\nInterrupted: {kept}", file=sys.stderr)
            raise
    for device in devices:
        add_facts(folder, {**describe_machine({}), "device": device})


def report(console: Console, folder: Path, name: str, command: str, make: Callable[[], None]) -> None:
    """Makes the report. Plotting is loaded only in `make`, for a machine that measures may lack it."""
    try:
        make()
    except ImportError as problem:
        told = where_to_report(folder / name, problem, command, "--out", folder, "--no-measure")
        console.print(told, markup=False, highlight=False, soft_wrap=True)
