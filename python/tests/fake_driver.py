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
GPU = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
# A run waits until this file exists, and until runs have begun on so many GPUs: a test says so what runs side by side,
# where the system may start a thread late.
UNTIL = os.environ.get("FAKE_UNTIL")
MEET = int(os.environ.get("FAKE_MEET", "0"))
SECONDS_TO_WAIT = 30
# The product of all GPUs, or of each one.
DEVICES = os.environ.get("FAKE_DEVICE", "Fake <GPU>").split("|")
MACHINE = {
    "schema": int(os.environ.get("FAKE_SCHEMA", "2")),
    "backend": BACKEND,
    "device": DEVICES[int(GPU) % len(DEVICES) if GPU.isdecimal() else 0],
    "multiprocessors": 132,
    "memory_bytes": 16 << 30,
    "capability": 90,
    "version": "0.1.0",
    "sources": SOURCES,
}

DEFAULTS = {"--case": "throughput", "--mode": "thread", "--size": "16", "--seed": "1"}

# The modes of each case, and what it measures: a name, a unit, which way is better, whether it is a timing.
TIMES = "malloc:us free:us"
CASES = {
    "throughput": ("thread warp mixed", f"{TIMES} floor:us"),
    "latency": ("thread warp mixed", "malloc:cycles free:cycles"),
    "scaling": ("thread warp", f"{TIMES} floor:us"),
    "orders": ("same_kernel as_allocated reversed shuffled other_block", "free:us"),
    "temperature": ("cold warm", TIMES),
    "fragmentation": ("thread mixed", "range:ratio:lower:still total_range:ratio:lower:still"),
    "out_of_memory": ("thread mixed", "share:ratio:higher:still total:us last_tenth:us"),
    "exhaustion": ("thread", "rate:ops/s:higher served:ops/s:higher refused:ratio:lower:still"),
    "compaction": (
        "all_freed few_kept",
        "regained:ratio:higher:still given_back:ratio:higher:still trim:us first_fill:us fill:us fresh:us",
    ),
    "growth": ("thread mixed", "share:ratio:higher:still iteration:us slowdown:ratio"),
    "huge": ("single largest", f"{TIMES} share:ratio:higher:still"),
    "phases": ("thread mixed", "phase:us refused:ratio:lower:still share:ratio:higher:still"),
    "shift": (
        "after_16 after_64 after_8192",
        "share:ratio:higher:still fill:us fresh:us slowdown:ratio",
    ),
    "initialisation": ("heap", "construct:us reset:us metadata:bytes:lower:still"),
    "work_generation": ("mixed", "generate:us baseline:us ratio:ratio"),
    "memory_access": ("uniform mixed", "write:us read:us packed_write:us packed_read:us"),
    "graph_init": ("delaunay coauthors", "init:us range:ratio:lower:still"),
    "graph_update": (
        "delaunay_uniform delaunay_window coauthors_uniform coauthors_window",
        "insert:us delete:us applied:count:lower:still moved:count:lower:still",
    ),
    "arena": ("thread mixed", "time:us"),
    "churn": ("thread mixed", "rate:ops/s:higher"),
    "scarce": (
        "twice tight twice_mixed tight_mixed",
        "time:us served:ratio:higher:still again:ratio:higher:still",
    ),
    "trace": ("graph solver", "replay:us rate:ops/s:higher"),
}
if "FAKE_CASES" in os.environ:
    CASES = {name: CASES[name] for name in os.environ["FAKE_CASES"].split()}
SERIES = {"fragmentation": ("range", "total_range"), "growth": ("iteration",), "phases": ("phase", "refused")}


def main(words: list[str]) -> int:
    if words == ["--machine"]:
        # A machine of one GPU, if the test says no more: any other that is chosen is not there.
        there = [str(number) for number in range(int(os.environ.get("FAKE_GPUS", "1")))]
        if "FAKE_NO_MACHINE" in os.environ or GPU not in there:
            print("warpheap_bench: no GPU answers", file=sys.stderr)
            return 3
        print(json.dumps(MACHINE))
        return 0
    if words == ["--list"]:
        for position, name in enumerate(ALLOCATORS):
            arena = name != "outlives"
            print(json.dumps({"name": name, "position": position, "individual_free": True, "uses_arena": arena}))
        return 0
    if words == ["--cases"]:
        for name, (modes, _) in CASES.items():
            listed = [{"name": mode, "summary": "..."} for mode in modes.split()]
            print(json.dumps({"name": name, "summary": "...", "modes": listed, "axes": ["threads", "size"]}))
        return 0
    if words == ["--serve"]:
        with Path(os.environ["FAKE_SELF"] + ".log").open("a") as log:
            log.write("--serve\n")
        for number, line in enumerate(sys.stdin):
            if ended := carry_out(line.split(), number):
                return ended
        return 0
    return carry_out(words)


def carry_out(words: list[str], served_before: int | None = None) -> int:
    """Measures; a process that serves says nothing beside records, and knows what it did before."""
    given = DEFAULTS | dict(zip(words[::2], words[1::2], strict=True))
    with Path(os.environ["FAKE_SELF"] + ".log").open("a") as log:
        log.write(" ".join(words) + "\n")
    return measure(given, served_before)


def measures_of(case: str) -> dict[str, object]:
    made: dict[str, object] = {}
    for each in CASES[case][1].split():
        name, unit, better, kind = [*each.split(":"), *("lower", "timing")[each.count(":") - 1 :]]
        times = {"median": 7.5, "p95": 8.0, "p99": 8.0, "min": 7.0, "max": 8.0, "mean": 7.5, "count": 10}
        interval = {"median_low": 7.4, "median_high": 7.6}
        if name == os.environ.get("FAKE_NOISY"):
            interval = {"median_low": 7.0, "median_high": 8.0}
        made[name] = {"unit": unit, "better": better, "timing": kind == "timing"} | times | interval
    return made


def tell(what: str, given: dict[str, str]) -> None:
    """Notes on which GPU a run begins or ends."""
    with Path(os.environ["FAKE_SELF"] + ".gpus").open("a") as log:
        log.write(f"{what} {GPU} {given['--case']} {given['--mode']} {given['--size']} {given['--allocator']}\n")


def may_go_on() -> bool:
    """Whether what the test has each run wait for has come."""
    begun = {line.split()[1] for line in Path(os.environ["FAKE_SELF"] + ".gpus").read_text().splitlines()}
    return len(begun) >= MEET and (UNTIL is None or Path(UNTIL).exists())


def measure(given: dict[str, str], served_before: int | None) -> int:
    name = given["--allocator"]
    if name == "minds_others" and served_before:
        os.kill(os.getpid(), signal.SIGSEGV)
    tell("begin", given)
    end = time.monotonic() + SECONDS_TO_WAIT
    while not may_go_on():
        if time.monotonic() > end:
            print("warpheap_bench: what a run waits for did not come", file=sys.stderr)
            return 3  # which ends the survey
        time.sleep(0.01)
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    if name == "hangs":
        print("still waiting for a lock", file=sys.stderr, flush=True)
        time.sleep(600)
    if name == "crashes":
        print("terminate called", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "babbles":
        print("no record here")
        return 0
    if name == "loses_the_gpu" and int(given["--size"]) >= 256:
        print("warpheap_bench: no GPU answers", file=sys.stderr)
        return 3
    if name == "interrupts" and int(given["--size"]) >= 256:
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)
    if served_before is None:
        print("a line that is not the record")
    numbers = {key.removeprefix("--").replace("-", "_"): int(value) for key, value in given.items() if value.isdigit()}
    late = name == "slow" and float(given["--soft-limit"]) < 10
    ok = name != "overlaps" and not late
    reason = "not exhausted when the time was over: 1 of 2 bytes" if late else "request 1 overlaps request 2 <&>"
    record = {
        "schema": 2,
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
        "rounds": 8,
        "rounds_judged": 2,
        "measures": measures_of(given["--case"]) if ok else {},
        "memory": {
            "requested_bytes": numbers["threads"] * numbers["size"],
            "span_bytes": numbers["threads"] * numbers["size"] * 2,
            "reserved_bytes": 1 << 34,
            "committed_bytes": numbers["heap_bytes"],
            "metadata_bytes": 4096,
            "live_bytes": None,
        },
        "status": "ok" if ok else "failed",
        "reason": "" if ok else reason,
    }
    if name == "confuses" and served_before is None:
        record["size"] = 4096
    if name == "is_built_anew" and record["size"] >= 256:
        record["sources"] = "c" * 64
    if name == "contradicts":
        record["measures"]["malloc"]["median"] = 7.9
    if ok and given["--case"] in SERIES:
        record["series"] = {name: {"unit": "ratio", "values": [1.5, 1.6, 1.7]} for name in SERIES[given["--case"]]}
    tell("end", given)
    print(json.dumps(record), flush=True)
    return 0 if ok else 1


sys.exit(main(sys.argv[1:]))
