# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How figures look: one colour, marker and dash for each allocator, legible without colour too."""

from dataclasses import dataclass
from typing import Any

# Okabe and Ito's colours, told apart by all common kinds of colour blindness, without the yellow that white swallows.
# The page has lighter ones for dark surroundings: style.css, --series-0 and on.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6a58")
_MARKERS = ("o", "s", "^", "D", "v", "p", "h", "<", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))

# Text and rules take the page's own colours: these stand for them until the SVG is on the page.
INK = "#1b1f24"
SOFT = "#5a6572"
RULE = "#d4d9df"
STRIP = "#eceff2"
PAPER = "#ffffff"

RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "warpheap",
}


@dataclass(frozen=True)
class Look:
    """How an allocator is drawn."""

    colour: str
    marker: str
    dash: Any


def look_of(position: int) -> Look:
    """The look of the allocator at `position` in the registry; the first 63 differ in colour or marker."""
    return Look(
        COLOURS[position % len(COLOURS)],
        _MARKERS[position % len(_MARKERS)],
        _DASHES[position // len(COLOURS) % len(_DASHES)],
    )
