# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a case tells the survey."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpheap.record import Record

if TYPE_CHECKING:
    from warpheap.report.sections import Section

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True)
class Axes:
    """What a preset of a case runs over."""

    modes: tuple[str, ...]
    threads: tuple[int, ...]
    sizes: tuple[int, ...]  # bytes
    heap_bytes: int
    iterations: int
    warmup: int
    time_limit: float  # seconds for one case of one allocator


@dataclass(frozen=True)
class Case:
    """One kind of measurement. `name` is what the driver calls it."""

    name: str
    order: int  # place in the survey and in the report
    modes: tuple[str, ...]
    presets: Mapping[str, Mapping[str, Axes]]  # preset, backend
    sections: Callable[[Sequence[Record]], "list[Section]"]  # the case's part of the report, from its records
