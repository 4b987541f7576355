# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The needs that the page gives advice for. Each is a rule over the record: which points count, and which measures."""

from collections.abc import Callable
from dataclasses import dataclass

from warpheap.record import Record


@dataclass(frozen=True)
class Profile:
    """A need. `free` says that designs without individual free are out."""

    need: str
    rule: str
    counts: Callable[[Record], bool]
    measures: tuple[str, ...]
    free: bool = True
    first: bool = False  # among the answers that the page begins with


def _in(*cases: str) -> Callable[[Record], bool]:
    return lambda record: record["case"] in cases


def _throughput(mode: str, low: int = 0, high: int = 1 << 60) -> Callable[[Record], bool]:
    return lambda record: record["case"] == "throughput" and record["mode"] == mode and low < record["size"] <= high


_BOTH = ("malloc", "free")

PROFILES = (
    Profile("No special need", "throughput, all modes, sizes and threads: malloc and free", _in("throughput"), _BOTH,
            first=True),
    Profile("Blocks up to 64 B", "throughput, mode thread, sizes up to 64 B: malloc and free",
            _throughput("thread", 0, 64), _BOTH),
    Profile("Blocks of 65 B to 1 KiB", "throughput, mode thread, those sizes: malloc and free",
            _throughput("thread", 64, 1024), _BOTH),
    Profile("Blocks above 1 KiB", "throughput, mode thread, those sizes: malloc and free",
            _throughput("thread", 1024), _BOTH),
    Profile("Sizes that differ from thread to thread", "throughput, mode mixed: malloc and free",
            _throughput("mixed"), _BOTH, first=True),
    Profile("One lane of each warp allocates", "throughput, mode warp: malloc and free", _throughput("warp"), _BOTH),
    Profile("Few threads at a time", "scaling, up to 4,096 threads: malloc and free",
            lambda record: record["case"] == "scaling" and record["threads"] <= 4096, _BOTH),
    Profile("Very many threads at a time", "scaling and throughput, from 100,000 threads: malloc and free",
            lambda record: record["case"] in ("scaling", "throughput") and record["threads"] >= 100_000, _BOTH,
            first=True),
    Profile("No block is freed alone: the heap is reset as a whole",
            "throughput and scaling: malloc; designs without individual free take part",
            _in("throughput", "scaling"), ("malloc",), False),
    Profile("Blocks come and go inside a kernel", "churn: operations per second", _in("churn"), ("rate",), first=True),
    Profile("Other threads free the blocks", "orders, modes shuffled, reversed and other_block: free",
            lambda record: record["case"] == "orders" and record["mode"] in ("shuffled", "reversed", "other_block"),
            ("free",)),
    Profile("Work of unknown size instead of a prefix sum", "work generation: time to generate",
            _in("work_generation"), ("generate",)),
    Profile("My program is like a recorded one", "trace: time of the replay", _in("trace"), ("replay",)),
    Profile("The blocks are read and written a lot", "memory access: write and read", _in("memory_access"),
            ("write", "read"), False),
    Profile("Memory is scarce: exhaustion must come late", "out of memory and growth: share of the heap handed out",
            _in("out_of_memory", "growth"), ("share",), first=True),
    Profile("The sizes of the blocks change from phase to phase", "phases: time of a phase", _in("phases"), ("phase",)),
    Profile("More is asked for than the heap has", "scarce: time of the kernel", _in("scarce"), ("time",)),
    Profile("Single blocks of a megabyte and more", "huge, mode single: malloc and free",
            lambda record: record["case"] == "huge" and record["mode"] == "single", _BOTH),
    Profile("All blocks of a warp go at once", "arena: time of the kernel; designs without individual free take part",
            _in("arena"), ("time",), False),
    Profile("Exhaustion must not be slow", "out of memory: time until the heap refuses",
            _in("out_of_memory"), ("total",), False),
    Profile("Blocks should lie close together", "fragmentation: range over all rounds", _in("fragmentation"),
            ("total_range",)),
    Profile("The heap's own memory must be small", "initialisation: bytes of metadata", _in("initialisation"),
            ("metadata",)),
    Profile("The kernel is short of registers", "registers of malloc and of free", _in("registers"),
            ("malloc_registers", "free_registers")),
    Profile("Heaps are made and reset often", "initialisation: construct and reset", _in("initialisation"),
            ("construct", "reset"), False),
)  # fmt: skip
