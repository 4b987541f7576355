# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks the driver's language. What it does is in the allocator's name."""

import json
import os
import signal
import sys
import time
from pathlib import Path

ALLOCATORS = os.environ.get("FAKE_ALLOCATORS", "good slow_free").split()
BACKEND = os.environ.get("FAKE_BACKEND", "cuda")
SOURCES = os.environ.get("FAKE_SOURCES", "a" * 64)
MACHINE = {
    "schema": 1,
    "backend": BACKEND,
    "device": "Fake <GPU>",
    "multiprocessors": 132,
    "memory_bytes": 16 << 30,
    "capability": 90,
    "version": "0.1.0",
    "sources": SOURCES,
}

DEFAULTS = {"--case": "throughput", "--mode": "thread", "--size": "16", "--seed": "1"}


def main(words: list[str]) -> int:
    if words == ["--machine"]:
        if "FAKE_NO_MACHINE" in os.environ:
            print("warpheap_bench: no GPU answers", file=sys.stderr)
            return 3
        print(json.dumps(MACHINE))
        return 0
    if words == ["--list"]:
        for position, name in enumerate(ALLOCATORS):
            print(json.dumps({"name": name, "position": position, "individual_free": True}))
        return 0
    given = DEFAULTS | dict(zip(words[::2], words[1::2], strict=True))
    with Path(os.environ["FAKE_SELF"] + ".log").open("a") as log:
        log.write(" ".join(words) + "\n")
    return measure(given)


def measure(given: dict[str, str]) -> int:
    name = given["--allocator"]
    if name == "hangs":
        print("still waiting for a lock", file=sys.stderr, flush=True)
        time.sleep(600)
    if name == "crashes":
        print("terminate called", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "babbles":
        print("no record here")
        return 0
    if name == "interrupts" and int(given["--size"]) >= 256:
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)
    print("a line that is not the record")
    numbers = {key.removeprefix("--").replace("-", "_"): int(value) for key, value in given.items() if value.isdigit()}
    ok = name != "overlaps"
    times = {"median": 7.5, "p95": 8.0, "min": 7.0, "max": 8.0, "mean": 7.5, "count": 6}
    record = {
        "schema": 1,
        "case": given["--case"],
        "allocator": name,
        "position": ALLOCATORS.index(name),
        "backend": BACKEND,
        "device": MACHINE["device"],
        "mode": given["--mode"],
        **{key: numbers[key] for key in ("threads", "size", "heap_bytes", "iterations", "warmup", "seed")},
        "timing_comparable": BACKEND == "cuda",
        "version": "0.1.0",
        "sources": SOURCES,
        "time": "2026-11-21T06:52:53Z",
        "failures": 0,
        "requests": numbers["threads"],
        "verified": ok,
        "malloc_us": times if ok else None,
        "free_us": times if ok else None,
        "memory": {
            "requested_bytes": numbers["threads"] * numbers["size"],
            "span_bytes": numbers["threads"] * numbers["size"] * 2,
            "reserved_bytes": 1 << 34,
            "committed_bytes": numbers["heap_bytes"],
            "metadata_bytes": 4096,
            "live_bytes": None,
        },
        "status": "ok" if ok else "failed",
        "reason": "" if ok else "request 1 overlaps request 2 <&>",
    }
    print(json.dumps(record))
    return 0 if ok else 1


sys.exit(main(sys.argv[1:]))
