# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the survey. Each is a folder here whose `CASE` says what to measure and how to show it.

A new case is one more folder; nothing lists it.
"""

import importlib
import pkgutil

from warpheap.cases.base import Case


def _find() -> dict[str, Case]:
    found = [
        importlib.import_module(f"{__name__}.{module.name}").CASE
        for module in pkgutil.iter_modules(__path__)
        if module.ispkg
    ]
    return {case.name: case for case in sorted(found, key=lambda case: (case.order, case.name))}


CASES = _find()


def is_baseline(case: str, measure: str) -> bool:
    """Whether no allocator has a part in that measure: it tells of the machine, so no design is judged by it."""
    return case in CASES and measure in CASES[case].baselines
