# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The experiments as a chapter of the survey's report, if they were measured into the same folder."""

from pathlib import Path

from warpheap.experiments.limits import grid_of
from warpheap.experiments.records import read
from warpheap.report.sections import Section
from warpheap.sync.figures import charts_of, text_of
from warpheap.sync.measure import NEEDS
from warpheap.sync.pairs import comparable, limits_of
from warpheap.sync.run import RECORD_NAME


def sections_beside(folder: Path) -> list[Section]:
    """The chapter; none for times of the host backend, which the survey never shows."""
    path = folder / RECORD_NAME
    records = read(path, NEEDS) if path.is_file() else []
    charts = charts_of(records)
    if not charts or not comparable(records):
        return []
    return [Section("What threads wait with", text_of(records), charts, [grid_of(limits_of(records))])]
