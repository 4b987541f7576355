# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the survey. Each is a module here whose `CASE` says what to measure.

A new case is one more module; nothing lists it. The report draws its chapter from its measures, or by a module of the
same name in `report/chapters/`.
"""

import importlib
import pkgutil

from warpheap.cases.base import Case


def _find() -> dict[str, Case]:
    found = [
        importlib.import_module(f"{__name__}.{module.name}").CASE
        for module in pkgutil.iter_modules(__path__)
        if module.name != "base"
    ]
    return {case.name: case for case in sorted(found, key=lambda case: (case.order, case.name))}


CASES = _find()


def is_baseline(case: str, measure: str) -> bool:
    """True if the measure tells of the machine alone, so that no design is judged by it."""
    return case in CASES and measure in CASES[case].baselines
