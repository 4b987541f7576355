# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""CSV files on their way to the disk, and the rows that several of them share."""

import csv
import io
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap.files import write_text
from warpheap.record import Record

Row = Sequence[object]

TIMES = "mean, std-dev, min, max, median"

_MILLISECONDS = 1e-3  # of a microsecond


@dataclass(frozen=True)
class Table:
    """One file. The header is text, since the original suite sets blanks into it."""

    name: str
    header: str
    rows: Sequence[Row]

    def write(self, folder: Path, name: str) -> None:
        """Writes the file as `name`.csv."""
        text = io.StringIO()
        text.write(self.header + "\n")
        csv.writer(text, lineterminator="\n").writerows(self.rows)
        write_text(folder / f"{name}.csv", text.getvalue())


def grouped(records: Iterable[Record], *fields: str) -> dict[tuple[object, ...], list[Record]]:
    """The records that agree in these fields, together."""
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record[field] for field in fields), []).append(record)
    return groups


def span(records: Sequence[Record], field: str) -> str:
    """The least and the greatest value of a field, as file names have it: `4-8192`."""
    values = [record[field] for record in records]
    return f"{min(values)}-{max(values)}"


def table_of_times(
    name: str, header: str, records: Sequence[Record], measure: str, first: Callable[[Record], object]
) -> Table | None:
    """A row for each record: `first`, then its times. None if no record has that measure."""
    rows = [[first(record), *_times(record, measure)] for record in records]
    return Table(name, f"{header}, {TIMES}", rows) if any(row[1] != "" for row in rows) else None


def _times(record: Record, name: str) -> list[object]:
    """Milliseconds, or cycles: mean, deviation, min, max, median. Empty where a case has no result."""
    measure = record["measures"].get(name)
    if measure is None or (measure["timing"] and not record["timing_comparable"]):
        return [""] * 5
    factor = _MILLISECONDS if measure["unit"] == "us" else 1
    deviation = measure.get("stddev")
    if deviation is None and (series := (record.get("series") or {}).get(name)) and series["unit"] == measure["unit"]:
        deviation = statistics.pstdev(series["values"]) if series["values"] else None
    values = (measure.get("mean"), deviation, measure["min"], measure["max"], measure["median"])
    return ["" if value is None else f"{value * factor:.6g}" for value in values]
