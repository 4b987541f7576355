# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `merge`: records of several machines in one file."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from warpheap.errors import UsageError
from warpheap.machines import Facts, add_facts, read_machines
from warpheap.record import Key, Record, key, read_records, record_at, write_records


def run_merge(console: Console, out: Path, sources: Sequence[Path], force: bool) -> None:
    """Writes all records of `sources` to `out`, and the descriptions of their machines beside it.

    Of records with the same key the newest is kept.
    """
    if out.exists() and not force:
        raise UsageError(f"{out} is there already; name another file, or use --force to replace it")
    newest: dict[Key, Record] = {}
    facts: list[Facts] = []
    count = 0
    for source in sources:
        path = record_at(source)
        records = read_records(path)
        if not records:
            raise UsageError(f"{path} holds no records")
        count += len(records)
        for record in records:
            if key(record) not in newest or newest[key(record)]["time"] <= record["time"]:
                newest[key(record)] = record
        facts += _of_records(read_machines(path.parent), records)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_records(out, newest.values())
        for each in facts:
            add_facts(out.parent, each)
    except OSError as problem:
        raise UsageError(f"{out} cannot be written: {problem.strerror}") from problem
    devices = ", ".join(dict.fromkeys(record["device"] for record in newest.values()))
    replaced = f"; {count - len(newest)} older ones of the same cases were left out" if count > len(newest) else ""
    console.print(f"{len(newest)} records of {devices}{replaced}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Record: {out}", markup=False, highlight=False, soft_wrap=True)


def _of_records(facts: Sequence[Facts], records: Sequence[Record]) -> list[Facts]:
    """The machines that the records were measured on; one that does not name its device has the records' only one."""
    devices = list(dict.fromkeys(record["device"] for record in records))
    if len(devices) == 1 and len(facts) == 1:
        return [{"device": devices[0]} | facts[0]]
    return [each for each in facts if each.get("device") in devices]
