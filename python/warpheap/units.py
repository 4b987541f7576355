# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as people write them: 10k threads, 4KiB blocks, 8GiB heaps."""

import re
from collections.abc import Callable

from warpheap.errors import UsageError

_COUNT = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BYTES = {"": 1, "b": 1} | {
    letter + suffix: 1024**power for power, letter in enumerate("kmgt", start=1) for suffix in ("", "b", "ib")
}


def _parse(text: str, units: dict[str, int], option: str, example: str) -> int:
    match = re.fullmatch(r"(\d{1,20})\s*([a-z]*)", text.strip().lower(), re.ASCII)
    value = int(match[1]) * units.get(match[2], 0) if match is not None else 0
    if not 0 < value < 2**63:
        raise UsageError(f"{option}: use a whole number above 0, such as {example}, not '{text.strip()[:60]}'")
    return value


def parse_count(text: str, option: str) -> int:
    """A count with a decimal suffix: `10k` is 10,000."""
    return _parse(text, _COUNT, option, "1000, 10k or 1M")


def parse_bytes(text: str, option: str) -> int:
    """Bytes with a binary suffix: `4K`, `4KB` and `4KiB` are all 4,096."""
    return _parse(text, _BYTES, option, "256, 4KiB or 8GiB")


def words_of(text: str) -> list[str]:
    """The words of a list that is separated by commas."""
    return [word for word in (part.strip() for part in text.split(",")) if word]


def parse_list(text: str, option: str, parse: Callable[[str, str], int]) -> tuple[int, ...]:
    """Numbers and ranges, each once: `16,4KiB`; `4..64` doubles from 4 to 64, `4..8KiB+4` goes in steps of 4."""
    values: list[int] = []
    for word in words_of(text) or [text]:
        values += _range(word, option, parse) if ".." in word else [parse(word, option)]
    return tuple(dict.fromkeys(values))


_MOST_POINTS = 100_000


def _range(word: str, option: str, parse: Callable[[str, str], int]) -> list[int]:
    low_text, _, rest = word.partition("..")
    high_text, plus, step_text = rest.partition("+")
    low, high = parse(low_text, option), parse(high_text, option)
    if low > high:
        raise UsageError(f"{option}: a range goes from low to high, such as 16..4096, not '{word}'")
    if not plus:
        return [low << power for power in range((high // low).bit_length())]
    step = parse(step_text, option)
    if (high - low) // step > _MOST_POINTS:
        raise UsageError(f"{option}: '{word}' are more than {_MOST_POINTS} values; use a larger step")
    return list(range(low, high + 1, step))


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


def show_seconds(value: float) -> str:
    """A span of time for people: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    seconds = round(value)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


def show_measured(value: float, unit: str) -> str:
    """A measured value with its unit: `7.25 µs`, `3.1 Mops/s`, `1 KiB`, `1.25`."""
    if unit == "us":
        for factor, name in ((1e6, "s"), (1e3, "ms")):
            if value >= factor:
                return f"{value / factor:.3g} {name}"
        return f"{value:.3g} µs"
    if unit == "bytes":
        return show_bytes(value)
    if unit == "ops/s":
        for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if value >= factor:
                return f"{value / factor:.3g} {name}ops/s"
        return f"{value:.3g} ops/s"
    if unit == "ratio":
        return f"{value:.3g}"
    return f"{value:,.0f} {unit}" if unit == "cycles" else f"{value:,.6g}"
