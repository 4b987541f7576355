# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `export`."""

import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from warpheap.errors import UsageError
from warpheap.export import original
from warpheap.export.table import Table, grouped
from warpheap.files import FileNames
from warpheap.record import KEY_FIELDS, Record, read_records, record_at

_NUMBERS = ("median", "median_low", "median_high", "p95", "p99", "min", "max", "mean", "count")


def run_export(console: Console, source: Path, out: Path) -> None:
    """Writes the record at `source` as CSV files into `out`, with a folder for each device if it has several."""
    source = record_at(source)
    records = read_records(source)
    if not records:
        raise UsageError(f"{source} holds no records")
    devices = grouped(records, "device")
    folders = FileNames()
    count = 0
    try:
        for (device,), own in devices.items():
            folder = out if len(devices) == 1 else out / folders.of(_file_name(str(device)))
            folder.mkdir(parents=True, exist_ok=True)
            tables = [_measures(own), _failures(own), *original.tables(own)]
            names = FileNames()
            for table in tables:
                table.write(folder, names.of(table.name.removesuffix(".csv")))
            count += len(tables)
    except OSError as problem:
        raise UsageError(f"--out: {out} cannot be written: {problem.strerror}") from problem
    console.print(f"{count} files: {out}", markup=False, highlight=False, soft_wrap=True)
    if not all(record["timing_comparable"] for record in records):
        console.print("Times of the host backend were left out: they say nothing about a GPU.")


def _file_name(device: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", device).strip("_").lower() or "device"


def _measures(records: Sequence[Record]) -> Table:
    """Everything that was measured, a line for each measure."""
    rows = [
        [*(record[field] for field in KEY_FIELDS), name, measure["unit"], *(measure.get(each) for each in _NUMBERS)]
        for record in records
        for name, measure in record["measures"].items()
        if measure is not None and (record["timing_comparable"] or not measure["timing"])
    ]
    return Table("measures.csv", ",".join((*KEY_FIELDS, "measure", "unit", *_NUMBERS)), rows)


def _failures(records: Sequence[Record]) -> Table:
    fields = ("case", "allocator", "mode", "threads", "size", "heap_bytes", "status", "reason")
    rows = [[record[field] for field in fields] for record in records if record["status"] != "ok"]
    return Table("failures.csv", ",".join(fields), rows)
