# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Throughput: a kernel in which every thread allocates, then one in which every thread frees."""

from collections.abc import Sequence

from warpheap.cases.base import Case
from warpheap.cases.throughput.axes import MODES, PRESETS
from warpheap.record import Record
from warpheap.report.sections import Section


def _sections(records: Sequence[Record]) -> list[Section]:
    from warpheap.cases.throughput.show import sections  # plotting is slow to load and only reports need it

    return sections(records)


CASE = Case(name="throughput", order=1, modes=tuple(MODES), presets=PRESETS, sections=_sections)
