# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML page that needs nothing beside itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from warpheap import __version__
from warpheap.cases import CASES
from warpheap.record import STATUSES, Record
from warpheap.report import tables
from warpheap.report.sections import Cell, Grid, Section
from warpheap.units import show_bytes, show_count

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Verdict:
    """One figure at the head of the page."""

    number: str
    label: str
    status: str


def write_report(path: Path, records: Sequence[Record], command: str, extra: Sequence[Section] = ()) -> None:
    """Writes the page for `records`. `command` is what makes them again; `extra` chapters stand before the details."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    page = environment.get_template("template.html.j2").render(
        title=_title(records),
        css=(_HERE / "style.css").read_text(encoding="utf-8"),
        verdicts=_verdicts(records),
        comparable=tables.comparable(records),
        chapters=[*_chapters(records), *extra],
        failures=tables.failures_grid(records),
        machine=_machine(records, path.parent / "machine.json"),
        command=command,
        version=__version__,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def _title(records: Sequence[Record]) -> str:
    devices = list(dict.fromkeys(record["device"] for record in records))
    return "GPU memory allocators on " + (" and ".join(devices) or "no machine")


def _chapters(records: Sequence[Record]) -> list[Section]:
    chapters = []
    # Host and GPU records never share a figure: times of the one are not comparable with those of the other.
    for backend in dict.fromkeys(record["backend"] for record in records):
        for case in CASES.values():
            own = [each for each in records if each["case"] == case.name and each["backend"] == backend]
            if own:
                chapters += case.sections(own)
    return chapters


def _verdicts(records: Sequence[Record]) -> list[Verdict]:
    numbers = {status: sum(record["status"] == status for record in records) for status in STATUSES}
    return [
        Verdict(str(len(tables.allocators_of(records))), "allocators", ""),
        Verdict(show_count(len(records)), "cases", ""),
        *(Verdict(show_count(count), status, status) for status, count in numbers.items() if count or status == "ok"),
    ]


def _machine(records: Sequence[Record], described: Path) -> Grid:
    def values(field: str) -> str:
        return ", ".join(str(value) for value in dict.fromkeys(record[field] for record in records))

    rows = [
        ("device", values("device")),
        ("backend", values("backend")),
        ("heap", ", ".join(show_bytes(size) for size in tables.in_order(records, "heap_bytes"))),
        ("timed rounds, after warm-ups", f"{values('iterations')}, after {values('warmup')}"),
        ("warpheap", values("version")),
        ("fingerprint of the measured sources", values("sources")),
        ("measured", " to ".join(dict.fromkeys([min(r["time"] for r in records), max(r["time"] for r in records)]))),
    ]
    if described.is_file():
        rows += [(name.replace("_", " "), _plain(value)) for name, value in _extra_facts(described).items()]
    return Grid("Machine and sources", ["", ""], [[Cell(name), Cell(value)] for name, value in rows])


def _extra_facts(described: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(described.read_text(encoding="utf-8"))
    known = {"schema", "backend", "device", "version", "sources"}
    return {name: value for name, value in facts.items() if name not in known}


def _plain(value: Any) -> str:
    if isinstance(value, int) and value > 1 << 20:
        return show_bytes(value)
    return str(value)
