# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers with units, as short as an axis needs them."""

import math

# Follows a ratio.
TIMES = "\N{MULTIPLICATION SIGN}"

_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def show(value: float, unit: str, digits: int = 3, share: bool = False) -> str:
    """The value with its unit; a share as per cent, any other ratio as a multiple."""
    if not math.isfinite(value):
        return "-"
    if unit == "us":
        return _scaled(value, _TIMES, digits, " ")
    if unit == "bytes":
        return _scaled(value, _BYTES, digits, " ")
    if unit == "ratio":
        return f"{_plain(100 * value, digits)} %" if share else f"{_plain(value, digits)}{TIMES}"
    if unit == "%":
        return f"{_plain(value, digits)} %"
    if unit == "ops/s":
        return _scaled(value, _LARGE, digits, " ") + "/s"
    return _scaled(value, _LARGE, digits, " ").strip()


def show_in_full(value: float, unit: str, share: bool = False) -> str:
    """The value as `show` has it, with the name of a unit that only a heading names elsewhere: cycles."""
    return show(value, unit, share=share) + (" cycles" if unit == "cycles" else "")


def show_count(value: float) -> str:
    """A count of threads as people say it: powers of two as such from 2^13 on, else with a decimal unit."""
    whole = round(value)
    if whole >= 1 << 13 and whole & (whole - 1) == 0:
        return "2" + str(whole.bit_length() - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if whole >= unit and whole % unit == 0:
            return f"{whole // unit}{letter}"
    return f"{whole:,}"


def _scaled(value: float, units: tuple[tuple[float, str], ...], digits: int, gap: str) -> str:
    for size, name in units:
        # A value that rounds up to the next unit is shown in it.
        if abs(value) >= size * (1 - 0.5 * 10.0**-digits):
            return f"{_plain(value / size, digits)}{gap}{name}"
    return f"{_plain(value, digits)}{gap}{units[-1][1] if units[-1][0] <= 1 else ''}"


def _plain(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.0f}" if places <= 0 else f"{rounded:,.{places}f}".rstrip("0").rstrip(".")
