# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records for tests."""

from typing import Any

from warpheap.record import Record


def record(**changes: Any) -> Record:
    """A valid record with some fields changed; a status other than ok takes the times away and gives a reason."""
    times = {"median": 7.5, "min": 7.0, "max": 8.0}
    made: Record = {
        "schema": 1,
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
        "malloc_us": times,
        "free_us": times,
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
    }
    made |= changes
    if made["status"] != "ok":
        made = made | {"malloc_us": None, "free_us": None, "verified": False, "reason": made["reason"] or "it hung"}
        made |= changes
    if made["backend"] == "host":
        made["timing_comparable"] = changes.get("timing_comparable", False)
    return made
