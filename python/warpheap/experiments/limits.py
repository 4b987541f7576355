# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the project asks of an experiment, beside what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from warpheap.report.sections import Cell, Grid


@dataclass(frozen=True)
class Limit:
    """A figure and its limit. No limit: the figure stands beside the others for what it is worth."""

    title: str
    at_least: bool
    limit: float | None
    unit: str
    value: float | None

    @property
    def measured(self) -> str:
        """What was measured."""
        return "not measured" if self.value is None else f"{self.value:.3g}{self.unit}"

    @property
    def asked(self) -> str:
        """The limit."""
        return "" if self.limit is None else f"at {'least' if self.at_least else 'most'} {self.limit:g}{self.unit}"

    @property
    def verdict(self) -> str:
        """Met or missed, as far as that can be said."""
        if self.value is None or self.limit is None:
            return ""
        return "met" if (self.value >= self.limit if self.at_least else self.value <= self.limit) else "missed"


def grid_of(limits: Sequence[Limit]) -> Grid:
    """A table of them."""
    rows = [
        [Cell(each.title), Cell(each.measured), Cell(each.asked),
         Cell(each.verdict, "failed" if each.verdict == "missed" else "")]
        for each in limits
    ]  # fmt: skip
    return Grid("", ["", "measured", "bar", ""], rows)
