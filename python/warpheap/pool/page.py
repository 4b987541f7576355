# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The pool's report: one HTML page that needs nothing beside itself, and each figure as PNG and SVG."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpheap import __version__
from warpheap.pool.figures import Record, bars_grid, charts_of, looks_of
from warpheap.report import files, page, plots, theme
from warpheap.report.sections import Cell, Grid


def write_report(folder: Path, records: Sequence[Record], facts: Mapping[str, Any], command: str) -> Path:
    """Writes report.html into `folder`; returns it."""
    looks = looks_of(records)
    measured = [record for record in records if record["status"] == "ok"]
    text = page.environment(looks).get_template("pool.html.j2").render(
        title="Pools of device memory on " + _device(measured),
        css=theme.css(looks) + page.resource("style.css"),
        script=page.resource("page.js"),
        looks=looks,
        charts=charts_of(records),
        bars=bars_grid(records),
        missing=_missing(records),
        machine=_machine(measured, facts),
        command=command,
        version=__version__,
    )  # fmt: skip
    path = folder / "report.html"
    path.write_text(re.sub(r"\n\s+(?=<)", "\n", text), encoding="utf-8")
    return path


def write_figures(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Each figure of the page as PNG and SVG, by the name of its anchor; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    looks = looks_of(records)
    return [path for chart in charts_of(records) for path in files.write(folder, chart.name, plots.draw(chart, looks))]


def _device(records: Sequence[Record]) -> str:
    named = dict.fromkeys(record["device"] for record in records if record.get("backend") != "python")
    return " and ".join(named) or "no machine"


def _missing(records: Sequence[Record]) -> Grid | None:
    lost = [record for record in records if record["status"] != "ok"]
    rows = [[Cell(each["case"]), Cell(each["subject"]), Cell(each["status"]), Cell(each["reason"])] for each in lost]
    return Grid("", ["case", "subject", "", "reason"], rows) if rows else None


def _machine(records: Sequence[Record], facts: Mapping[str, Any]) -> Grid:
    known: dict[str, str] = {name: str(value) for name, value in facts.items()}
    for field in ("device", "backend", "version", "sources"):
        own = [record for record in records if record.get("backend") != "python"]
        known[field] = ", ".join(dict.fromkeys(str(record[field]) for record in own if record.get(field)))
    peers = {record["subject"]: record["version"] for record in records if record.get("backend") == "python"}
    known |= {f"version of {name}": version for name, version in peers.items()}
    return Grid("", ["", ""], [[Cell(name), Cell(value)] for name, value in known.items() if value])
