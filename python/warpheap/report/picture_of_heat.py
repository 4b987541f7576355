# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The heat map as a picture."""

from matplotlib import pyplot
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from warpheap.report import texts
from warpheap.report.ranking import heat_of, ratio_text
from warpheap.report.verdict import HeatMap

_HEAT = (0, 98 / 255, 163 / 255)
# Letters of a name that its label has room for.
_LETTERS = 30
_INK, _BAD = "#1a1e23", "#b3261e"


def draw(heat: HeatMap, title: str) -> Canvas:
    """Allocators and cases: the geometric mean of the ratio to the best, and how many runs have no result."""
    columns, rows = len(heat.columns) + 1, len(heat.rows)
    figure, axes = pyplot.subplots(figsize=(2.2 + 0.62 * columns, 1.9 + 0.34 * rows), layout="constrained")
    for y, row in enumerate(heat.rows):
        values = [(row.overall, row.lost), *((cell.mean, cell.lost) for cell in row.cells)]
        for x, (value, lost) in enumerate(values):
            share = heat_of(value) if value is not None else 0.0
            axes.add_patch(Rectangle((x, y), 0.96, 0.94, color=(*_HEAT, share), linewidth=0))
            text = ratio_text(value) if value is not None else ("" if not lost else "none")
            weight = "bold" if x == 0 or (value is not None and value <= 1.005) else "normal"
            axes.text(x + 0.48, y + (0.36 if lost else 0.5), text, ha="center", va="center", fontsize=7.5,
                      color="white" if share > 0.75 else _INK, fontweight=weight)  # fmt: skip
            if lost:
                axes.text(x + 0.48, y + 0.76, f"✕ {lost}", ha="center", va="center", fontsize=6,
                          color="white" if share > 0.75 else _BAD if share < 0.12 else _INK)  # fmt: skip
    labels = ["all", *(_short(column.label) for column in heat.columns)]
    axes.set_xticks([x + 0.48 for x in range(columns)], labels, rotation=40, ha="left", fontsize=8)
    axes.set_yticks([y + 0.5 for y in range(rows)], [_short(row.allocator) for row in heat.rows], fontsize=8.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows + 0.9, 0)
    place = 1
    for case, width in heat.groups():
        axes.plot([place + 0.06, place + width - 0.1], [rows + 0.1] * 2, color=_INK, linewidth=0.8)
        axes.text(
            place + width / 2,
            rows + 0.2,
            _short(texts.words(case)).replace(" ", "\n"),
            ha="center",
            va="top",
            fontsize=6.5,
        )
        place += width
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
