# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report of an experiment: one HTML page that needs nothing beside itself, and each figure as PNG and SVG."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from warpheap import __version__
from warpheap.experiments.limits import Limit, grid_of
from warpheap.experiments.records import Record
from warpheap.files import FileNames, write_text
from warpheap.machines import read_machines
from warpheap.report import files, page, plots, theme
from warpheap.report.chart import Chart
from warpheap.report.looks import Looks
from warpheap.report.sections import Cell, Grid

_OF_MACHINE = ("device", "backend", "version", "sources")


@dataclass(frozen=True)
class Page:
    """What a page says of its own."""

    title: str  # the device's name follows it
    brand: str
    text: str
    looks: Looks
    charts: Sequence[Chart]
    limits: Sequence[Limit]
    file: str  # the name of its file, beside which the report of a survey may lie


def write(console: Console, folder: Path, made: Page, records: Sequence[Record], command: str) -> None:
    """Writes the page and figures/ into `folder`."""
    facts = read_machines(folder)
    path = write_report(folder, made, records, facts[0] if facts else {}, command)
    written = write_figures(folder / "figures", made)
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Figures: {folder / 'figures'}, {len(written)} files", markup=False, highlight=False, soft_wrap=True)


def write_report(folder: Path, made: Page, records: Sequence[Record], facts: Mapping[str, Any], command: str) -> Path:
    """Writes the page into `folder`; returns its path."""
    looks = made.looks
    measured = [record for record in records if record["status"] == "ok"]
    text = page.environment(looks).get_template("experiment.html.j2").render(
        title=f"{made.title} on {device_of(measured)}",
        brand=made.brand,
        text=made.text,
        css=theme.css(looks) + page.resource("style.css"),
        script=page.script(),
        looks=looks,
        charts=made.charts,
        bars=grid_of(made.limits),
        missing=_missing(records),
        machine=_machine(measured, facts),
        command=command,
        version=__version__,
    )  # fmt: skip
    path = folder / made.file
    write_text(path, re.sub(r"\n\s+(?=<)", "\n", text))
    return path


def write_figures(folder: Path, made: Page) -> list[Path]:
    """Each figure of the page as PNG and SVG, by the name of its anchor; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = FileNames()
    drawn = ((names.of(chart.name), plots.draw(chart, made.looks)) for chart in made.charts)
    return [path for name, figure in drawn for path in files.write(folder, name, figure)]


def device_of(records: Sequence[Record]) -> str:
    """The machine's name."""
    named = dict.fromkeys(record["device"] for record in records if record.get("backend") != "python")
    return " and ".join(named) or "no machine"


def _missing(records: Sequence[Record]) -> Grid | None:
    lost = [record for record in records if record["status"] != "ok"]
    rows = [[Cell(each["case"]), Cell(_named(each)), Cell(each["status"]), Cell(each["reason"])] for each in lost]
    return Grid("", ["case", "subject", "", "reason"], rows) if rows else None


def _named(record: Record) -> str:
    """The subject, and the point if it is one of many."""
    numbers = (name for name, value in record.items() if isinstance(value, int | float))
    fields = [name for name in numbers if not isinstance(record[name], bool)]
    return ", ".join([record["subject"], *(f"{record[name]:,} {name.replace('_', ' ')}" for name in fields)])


def _machine(records: Sequence[Record], facts: Mapping[str, Any]) -> Grid:
    known: dict[str, str] = {name: str(value) for name, value in facts.items()}
    for field in _OF_MACHINE:
        own = [record for record in records if record.get("backend") != "python"]
        known[field] = ", ".join(dict.fromkeys(str(record[field]) for record in own if record.get(field)))
    peers = {record["subject"]: record["version"] for record in records if record.get("backend") == "python"}
    known |= {f"version of {name}": version for name, version in peers.items()}
    return Grid("", ["", ""], [[Cell(name), Cell(value)] for name, value in known.items() if value])
