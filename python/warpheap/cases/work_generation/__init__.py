# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Work generation: each thread makes and fills a result whose size nobody knew, against a prefix sum."""

from warpheap.cases.base import Case, chapter
from warpheap.cases.work_generation.axes import MODES, PRESETS

CASE = Case(
    name="work_generation",
    order=11,
    modes=MODES,
    presets=PRESETS,
    sections=chapter("work_generation"),
    baselines=("baseline", "baseline_kept"),
)
