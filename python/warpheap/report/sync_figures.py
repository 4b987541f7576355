# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of `warpheap_sync_bench`: `python -m warpheap.report.sync_figures RECORDS FOLDER`."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpheap.report import plots
from warpheap.report.chart import Chart, Line, Panel, Point
from warpheap.report.looks import Looks

Measured = Mapping[str, Any]


def read(path: Path) -> list[Measured]:
    """The records of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def charts(records: Sequence[Measured]) -> list[Chart]:
    """A figure of each experiment that the records have."""
    made = [_semaphores(_of(records, "semaphores")), _delegation(_of(records, "delegation"))]
    return [chart for chart in made if chart.panels]


def write(records: Sequence[Measured], folder: Path) -> list[Path]:
    """Writes each figure as PNG; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for chart in charts(records):
        path = folder / f"{chart.name}.png"
        plots.to_png(plots.draw(chart, _looks(chart.allocators())), path)
        written.append(path)
    return written


def _of(records: Iterable[Measured], case: str) -> list[Measured]:
    return [each for each in records if each["case"] == case]


def _looks(names: Sequence[str]) -> Looks:
    return Looks([{"allocator": name, "position": position} for position, name in enumerate(names)])


def _point(x: float, y: float, low: float, high: float) -> Point:
    return Point(x, y, low, high, low, high)


def _semaphores(records: Sequence[Measured]) -> Chart:
    panels = []
    for batch in sorted({each["batch"] for each in records}):
        lines = []
        for subject in ("counting", "bulk"):
            own = [each for each in records if each["batch"] == batch and each["subject"] == subject]
            points = []
            for each in sorted(own, key=lambda record: record["threads"]):
                time, units = each["time_us"], each["operations"]
                low, high = (time["median_low"] or time["median"]), (time["median_high"] or time["median"])
                points.append(_point(each["threads"], each["rate"], units / high * 1e6, units / low * 1e6))
            if points:
                lines.append(Line(subject, points))
        panels.append(Panel(f"batches of {batch}", lines, "ops/s", False, "threads", "threads"))
    return Chart("semaphores", "Units taken a second, by counting and bulk semaphores", panels)


def _delegation(records: Sequence[Measured]) -> Chart:
    times = {
        (each["subject"], each["readers_per_writer"], each["threads"]): each["time_us"]["median"] for each in records
    }
    lines = []
    for ratio in sorted({each["readers_per_writer"] for each in records}):
        points = []
        for threads in sorted({each["threads"] for each in records}):
            classical, delegating = (times.get((which, ratio, threads)) for which in ("classical", "delegating"))
            if classical and delegating:
                points.append(_point(threads, classical / delegating, *(2 * (classical / delegating,))))
        if points:
            lines.append(Line(f"1 writer : {ratio} readers", points))
    panels = [Panel("speed over the classical barrier", lines, "ratio", False, "threads", "threads")] if lines else []
    return Chart("delegation", "RCU delegation over the classical barrier", panels)


def main(words: Sequence[str]) -> int:
    """Reads the records of the first file, writes figures to the second."""
    if len(words) != 2:
        print("use: python -m warpheap.report.sync_figures RECORDS FOLDER", file=sys.stderr)
        return 2
    for path in write(read(Path(words[0])), Path(words[1])):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
