# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Each figure of the report as a PNG and an SVG file."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from warpheap.files import FileNames
from warpheap.record import Record
from warpheap.report import picture_of_heat, plots
from warpheap.report.chapters import charts_of
from warpheap.report.looks import Looks
from warpheap.report.overview import parts_of
from warpheap.report.record_set import RecordSet


def write_figures(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Writes all figures of the page for `records` into `folder`; returns the files.

    They have the names of their anchors on the page: heat-map, paper-9, throughput-thread-size; figures of a second
    machine end in -2.
    """
    newest = RecordSet.of(records).latest()
    looks = Looks(newest)
    folder.mkdir(parents=True, exist_ok=True)
    names = FileNames()
    written = []
    parts = parts_of(newest)
    for part in parts:
        if part.heat is not None:
            picture = picture_of_heat.draw(part.heat, f"Ratio to the best, {part.device}")
            written += write(folder, names.of(f"heat-map{part.name}"), picture)
    figures = [chart for part in parts for chart in part.paper]
    for chart in [*figures, *charts_of(newest)]:
        written += write(folder, names.of(chart.name), plots.draw(chart, looks))
    return written


def write(folder: Path, name: str, figure: Canvas) -> list[Path]:
    """Writes a figure as SVG and PNG into `folder`, by a name of `FileNames`; returns the files."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    for path in paths:
        plots.to_png(figure, path)
    return paths
