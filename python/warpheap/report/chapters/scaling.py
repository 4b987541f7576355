# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The scaling case in the report: as any case, with the floor that the throughput case has."""

from warpheap.report import generic
from warpheap.report.chapters.throughput import MEASURES, with_floor
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section


def sections(records: RecordSet) -> list[Section]:
    """Times with the floor in each panel."""
    return generic.section(records, generic.charts(records, lambda name: name in MEASURES, with_floor))
