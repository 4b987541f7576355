# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as people write them: 10k threads, 4KiB blocks, 8GiB heaps."""

import re

from warpheap.errors import UsageError

_COUNT = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BYTES = {"": 1, "b": 1} | {
    letter + suffix: 1024**power for power, letter in enumerate("kmgt", start=1) for suffix in ("", "b", "ib")
}


def _parse(text: str, units: dict[str, int], option: str, example: str) -> int:
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in units or int(match[1]) == 0:
        raise UsageError(f"{option}: use a whole number above 0, such as {example}, not '{text.strip()}'")
    return int(match[1]) * units[match[2]]


def parse_count(text: str, option: str) -> int:
    """A count with a decimal suffix: `10k` is 10,000."""
    return _parse(text, _COUNT, option, "1000, 10k or 1M")


def parse_bytes(text: str, option: str) -> int:
    """Bytes with a binary suffix: `4K`, `4KB` and `4KiB` are all 4,096."""
    return _parse(text, _BYTES, option, "256, 4KiB or 8GiB")


def show_bytes(count: float) -> str:
    """Bytes in the largest binary unit that keeps at least 1: `4 KiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"


def show_count(count: int) -> str:
    """A count with separators: `10,000`."""
    return f"{count:,}"


def show_microseconds(value: float) -> str:
    """Three significant digits, and whole numbers with separators from 100 on: `7.25`, `1,138`."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
