# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records for tests."""

from typing import Any

from warpheap.record import Measure, Record


def measure(median: float = 7.5, **changes: Any) -> Measure:
    """A time of ten samples whose interval is 1 % to either side, with some fields changed."""
    made: Measure = {
        "unit": "us",
        "better": "lower",
        "timing": True,
        "median": median,
        "median_low": 0.99 * median,
        "median_high": 1.01 * median,
        "p95": 1.02 * median,
        "p99": 1.03 * median,
        "min": 0.95 * median,
        "max": 1.05 * median,
        "mean": median,
        "count": 10,
    }
    return made | changes


def single(value: float, **changes: Any) -> Measure:
    """A measure of one value that does not depend on the machine's speed."""
    one = dict.fromkeys(("median", "min", "max", "mean", "p95", "p99"), value)
    known = {"unit": "ratio", "timing": False, "median_low": None, "median_high": None, "count": 1}
    return measure(**(one | known | changes))


def record(**changes: Any) -> Record:
    """A valid record with some fields changed; a status other than ok takes the measures away and gives a reason."""
    made: Record = {
        "schema": 2,
        "case": "throughput",
        "allocator": "bump",
        "position": 0,
        "backend": "cuda",
        "device": "Fake GPU",
        "mode": "thread",
        "threads": 10_000,
        "size": 16,
        "heap_bytes": 1 << 30,
        "iterations": 6,
        "warmup": 2,
        "seed": 1,
        "status": "ok",
        "reason": "",
        "verified": True,
        "failures": 0,
        "requests": 80_000,
        "rounds": 8,
        "rounds_judged": 2,
        "measures": {"malloc": measure(), "free": measure()},
        "timing_comparable": True,
        "memory": {
            "requested_bytes": 160_000,
            "span_bytes": 170_000,
            "committed_bytes": 1 << 30,
            "metadata_bytes": 4096,
            "live_bytes": None,
        },
        "sources": "a" * 64,
        "version": "0.1.0",
        "time": "2026-11-21T06:52:53Z",
        "seconds": 0.5,
        "time_limit_s": 60,
    }
    made |= changes
    if made["status"] != "ok":
        made = made | {"measures": {}, "verified": False, "reason": made["reason"] or "it hung"}
        made |= changes
    if made["backend"] == "host":
        made["timing_comparable"] = changes.get("timing_comparable", False)
    return made
