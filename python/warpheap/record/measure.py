# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""One measured quantity of a record: its unit, which way is better, and the spread of its samples."""

from typing import Any

from warpheap.record.check import is_count, is_flag, is_number

Measure = dict[str, Any]

UNITS = ("us", "cycles", "bytes", "ratio", "ops/s", "count")
BETTER = ("lower", "higher")

_NEEDED = ("median", "min", "max")
_KNOWN_OR_NULL = ("median_low", "median_high", "p95", "p99", "p999", "mean", "stddev")


def fault_of(measure: Any) -> str:
    """What is wrong with a measure; empty if nothing is. Null is a measure that the design does not have."""
    if measure is None:
        return ""
    if not isinstance(measure, dict):
        return "it should be an object or null"
    if measure.get("unit") not in UNITS:
        return f"its unit should be one of {', '.join(UNITS)}"
    if measure.get("better") not in BETTER:
        return "'better' should be lower or higher"
    if not is_flag(measure.get("timing")):
        return "'timing' should be true or false"
    for name in _NEEDED:
        if not is_number(measure.get(name)):
            return f"'{name}' should be a number"
    for name in _KNOWN_OR_NULL:
        if measure.get(name) is not None and not is_number(measure[name]):
            return f"'{name}' should be a number or null"
    if measure.get("count") is not None and not is_count(measure["count"]):
        return "'count' should be a count or null"
    return _fault_of_order(measure)


def _fault_of_order(measure: Measure) -> str:
    low, high = measure.get("median_low"), measure.get("median_high")
    if (low is None) != (high is None):
        return "'median_low' and 'median_high' are numbers together or null together"
    if not measure["min"] <= measure["median"] <= measure["max"]:
        return "its median should lie between its min and max"
    if low is not None and not low <= measure["median"] <= high:
        return "its median should lie between 'median_low' and 'median_high'"
    return ""


def fault_of_series(series: Any) -> str:
    """What is wrong with a series: a number for each round, and their unit."""
    if not isinstance(series, dict) or series.get("unit") not in UNITS:
        return f"it should be an object whose unit is one of {', '.join(UNITS)}"
    values = series.get("values")
    if not isinstance(values, list) or not all(is_number(value) for value in values):
        return "'values' should be a list of numbers"
    return ""


def spread(measure: Measure) -> float | None:
    """How far the interval of the median reaches from it, as a share of it. None: too few samples for an interval."""
    low, high, median = measure.get("median_low"), measure.get("median_high"), float(measure["median"])
    if low is None or high is None or median == 0:
        return None
    return max(median - float(low), float(high) - median) / median
