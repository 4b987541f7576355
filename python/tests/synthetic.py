# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up survey of all cases, with failures, timeouts and crashes among them: what the report has to cope with.

The figures follow simple laws with a little noise, so that a picture of them looks like one of a survey.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from records import measure, record, single

from warpheap.record import Record


@dataclass(frozen=True)
class Design:
    """How a made-up allocator behaves: microseconds for 10,000 threads, and what grows with what."""

    name: str
    base: float
    with_threads: float  # exponent
    with_size: float  # exponent
    waste: float  # address range over bytes asked for
    registers: int
    free: bool = True


DESIGNS = (
    Design("bump", 3, 0.35, 0.05, 1.0, 12, free=False),
    Design("ouroboros_s_p", 9, 0.6, 0.12, 1.05, 32),
    Design("ouroboros_va_p", 10, 0.62, 0.13, 1.06, 40),
    Design("ouroboros_vl_p", 14, 0.6, 0.1, 1.07, 44),
    Design("ouroboros_s_c", 70, 0.85, 0.35, 1.1, 48),
    Design("ouroboros_va_c", 75, 0.86, 0.35, 1.1, 54),
    Design("ouroboros_vl_c", 90, 0.84, 0.33, 1.12, 60),
    Design("xmalloc", 45, 0.8, 0.2, 3.4, 168),
    Design("scatter_alloc", 6, 0.5, 0.45, 1.6, 48),
    Design("reg_eff_cfm", 60, 0.9, 0.3, 2.1, 17),
    Design("halloc", 8, 0.55, 0.4, 1.35, 38),
    Design("warp_slab", 5, 0.45, 0.2, 1.2, 28),
    Design("newcomer", 20, 0.7, 0.15, 1.3, 30),
    Design("cuda_malloc", 160, 1.0, 0.5, 9.0, 24),
)


def survey(
    device: str = "Fake GPU", backend: str = "cuda", seed: int = 1, designs: Sequence[Design] = DESIGNS
) -> list[Record]:
    """A record of every case for these designs."""
    chance = random.Random(seed)
    made = []
    for position, design in enumerate(designs):
        for case, mode, threads, size, heap in _points():
            point: dict[str, Any] = {
                "case": case, "allocator": design.name, "position": position, "device": device, "backend": backend,
                "mode": mode, "threads": threads, "size": size, "heap_bytes": heap,
            }  # fmt: skip
            made.append(_run(design, point, chance))
    return made


def _points() -> Iterator[tuple[str, str, int, int, int]]:
    heap = 8 << 30
    sizes = [1 << power for power in range(2, 14)]
    for mode in ("thread", "warp", "mixed"):
        for threads in (10_000, 100_000, 1_000_000):
            yield from (("throughput", mode, threads, size, heap) for size in sizes if size * threads < 6 << 30)
        yield from (("latency", mode, threads, size, heap) for threads in (10_000, 100_000) for size in (16, 256, 4096))
    for mode in ("thread", "warp"):
        for size in (16, 64, 512, 8192):
            yield from (("scaling", mode, 1 << power, size, heap) for power in range(0, 21, 2))
    for mode in ("same_kernel", "as_allocated", "reversed", "shuffled", "other_block"):
        yield from (("orders", mode, threads, size, heap) for threads in (10_000, 100_000) for size in (64, 1024))
    for mode in ("cold", "warm"):
        yield from (("temperature", mode, 100_000, size, heap) for size in (16, 64, 1024))
    for mode in ("thread", "mixed"):
        yield from (("fragmentation", mode, 100_000, size, heap) for size in (16, 64, 256, 1024, 4096))
        yield from (("out_of_memory", mode, 100_000, size, 1 << 30) for size in (16, 64, 256, 1024, 8192))
        yield from (("growth", mode, threads, size, 1 << 30) for threads, size in ((100_000, 64), (10_000, 1024)))
        yield from (("churn", mode, threads, size, heap) for threads in (4096, 65_536) for size in (16, 64, 1024))
    for mode in ("all_freed", "few_kept"):
        yield from (("compaction", mode, 100_000, size, 256 << 20) for size in (16, 256))
    for size in (8, 64, 512, 4096, 65_536):
        most = min(size << 20, 512 << 20)
        yield ("exhaustion", "thread", most // size, size, most)
    for size in (1 << 20, (1 << 20) + 4096, 3 << 20, 256 << 20, 4 << 30):
        yield ("huge", "single", 32, size, heap)
    yield ("huge", "largest", 32, 1 << 20, heap)
    yield from (("phases", mode, 100_000, 8192, 1 << 30) for mode in ("thread", "mixed"))
    for mode, size in (("after_16", 8192), ("after_64", 1024), ("after_8192", 16)):
        yield ("shift", mode, 100_000, size, 1 << 30)
    for mode in ("twice", "tight"):
        yield from (("scarce", mode, 65_536, size, 65_536 * 2 * size) for size in (64, 1024))
    yield from (("scarce", mode, 65_536, 4096, 256 << 20) for mode in ("twice_mixed", "tight_mixed"))
    for mode in ("thread", "mixed"):
        yield from (("arena", mode, 100_000, size, heap) for size in (32, 128))
    yield ("registers", "kernel", 32, 16, 1 << 20)
    yield from (("initialisation", "heap", 32, 16, each << 30) for each in (1, 8, 32))
    for size in (64, 4096):
        yield from (("work_generation", "mixed", 1 << power, size, heap) for power in range(0, 21, 2))
    yield from (("memory_access", "uniform", 1 << 17, size, heap) for size in (16, 32, 64, 128))
    yield ("memory_access", "mixed", 1 << 17, 128, heap)
    graphs = (("delaunay", 1 << 20), ("coauthors", 227_320))
    yield from (("graph_init", name, vertices, 16, heap) for name, vertices in graphs)
    for sources in ("uniform", "window"):
        yield from (("graph_update", f"{name}_{sources}", vertices, 80_000, heap) for name, vertices in graphs)
    yield from (("trace", name, 4096, 64, heap) for name in ("graph_insertion", "particle_lists"))


def _run(design: Design, point: dict[str, Any], chance: random.Random) -> Record:
    case, size, threads = point["case"], point["size"], point["threads"]
    if case == "huge" and design.name.startswith("ouroboros"):
        return record(**point, status="failed", reason="the design serves requests of up to 8192 bytes")
    if not design.free and case in (
        "orders",
        "compaction",
        "growth",
        "graph_update",
        "churn",
        "trace",
        "arena",
        "phases",
        "scarce",
        "shift",
    ):
        return record(**point, status="failed", reason="the design has no individual free")
    if design.name == "xmalloc" and threads >= 100_000 and size >= 1024:
        return record(**point, status="crashed", reason="an illegal memory access was encountered (CUDA error 700)")
    if design.name == "cuda_malloc" and threads >= 1_000_000 and size >= 256:
        return record(**point, status="timeout", reason="killed after 60 s")
    if design.name == "reg_eff_cfm" and point["mode"] == "mixed" and chance.random() < 0.3:
        reason = f"{chance.randrange(1, 9)} blocks overlap others; the first: 0x7f00{chance.randrange(1 << 20):05x}"
        return record(**point, status="failed", reason=reason, verified=False)
    requests = 12 * threads
    made = record(**point, measures=_measures(design, point, chance), requests=requests)
    asked = threads * size
    made["memory"] |= {"requested_bytes": asked, "span_bytes": int(asked * design.waste), "metadata_bytes": 1 << 21}
    if case == "graph_update":
        made["graph"] = {
            "stand_in_of": "delaunay_n20", "vertices": threads, "edges": 6 * threads, "batch_edges": size // 8,
            "largest_degree": 26, "requested_bytes": 32 * threads,
        }  # fmt: skip
    if case == "fragmentation":
        waste = [design.waste * (1 + 0.3 * (design.waste - 1) * math.log1p(index)) for index in range(100)]
        own = [design.waste * (1 + chance.random() / 50) for _ in waste]
        found = {"range": own, "total_range": waste}
        made["series"] = {name: {"unit": "ratio", "values": values} for name, values in found.items()}
    if case == "phases":
        cost = [design.base * 1000 * (1 + index % 4) for index in range(10)]
        found = {
            "phase": ("us", cost),
            "refused": ("ratio", [min(1, index * (1 - design.with_size) / 20) for index in range(10)]),
        }
        made["series"] = {name: {"unit": unit, "values": values} for name, (unit, values) in found.items()}
    if case == "growth":
        cost = [design.base * (1 + (index / 90) ** 2 * design.with_threads) for index in range(150)]
        made["series"] = {"iteration": {"unit": "us", "values": cost}}
    return made


def _measures(design: Design, point: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    def noisy(value: float) -> float:
        return value * math.exp(chance.gauss(0, 0.04))

    def timed(value: float, **changes: Any) -> dict[str, Any]:
        return measure(noisy(value), **changes)

    case, mode, threads, size = point["case"], point["mode"], point["threads"], point["size"]
    base = 2 + design.base * (threads / 10_000) ** design.with_threads * max(size / 64, 1) ** design.with_size
    cost = base * {"warp": 0.8, "mixed": 1.3, "cold": 2.2, "shuffled": 1.5, "other_block": 1.2}.get(mode, 1.0)
    free = timed(0.6 * cost) if design.free else None
    share = min(1.0, max(0.05, 1.02 / design.waste) * min(1.0, size / 16))
    if case == "latency":
        median = noisy(300 * cost)
        tail: dict[str, Any] = {"unit": "cycles", "p95": 2.5 * median, "p99": 5 * median, "max": 20 * median}
        tail |= {"count": 500_000, "median_low": None, "median_high": None}
        return {"malloc": measure(median, **tail), "free": measure(median, **tail) if design.free else None}
    if case == "orders":
        return {"free": timed(0.6 * cost), **({"pair": timed(1.4 * cost)} if mode == "same_kernel" else {})}
    if case == "fragmentation":
        return {"range": single(noisy(design.waste)), "total_range": single(noisy(2 * design.waste))}
    if case == "out_of_memory":
        total = noisy(100 * cost)
        return {"share": single(share, better="higher"), "total": timed(total),
                "last_tenth": timed(total * (0.1 + 0.2 * design.with_size))}  # fmt: skip
    if case == "exhaustion":
        rate = threads / cost * 1e6
        return {"rate": timed(rate, unit="ops/s", better="higher"),
                "served": timed(share * rate, unit="ops/s", better="higher"), "refused": single(1 - share)}  # fmt: skip
    if case == "compaction":
        left = 1.0 if mode == "all_freed" else 0.99 ** (8192 / size)
        return {"regained": single(left, better="higher"), "given_back": single(left / 2, better="higher"),
                "trim": timed(50 * cost), "first_fill": timed(30 * cost), "fill": timed(20 * cost),
                "fresh": timed(20 * cost)}  # fmt: skip
    if case == "growth":
        return {"share": single(0.9 * share, better="higher"), "iteration": timed(cost),
                "slowdown": timed(1 + design.with_threads, unit="ratio")}  # fmt: skip
    if case == "huge":
        most = {"share": single(0.99 * share, better="higher")} if mode == "largest" else {}
        return {"malloc": timed(cost / 10), "free": timed(cost / 12) if design.free else None, **most}
    if case == "phases":
        return {"phase": timed(1000 * cost), "refused": single(1 - share), "share": single(share, better="higher")}
    if case == "shift":
        left = 0.0 if design.name == "scatter_alloc" and mode == "after_16" else share
        times = {"fill": timed(300 * cost) if left else None, "fresh": timed(100 * cost),
                 "slowdown": timed(3, unit="ratio") if left else None}  # fmt: skip
        return {"share": single(left, better="higher"), **times}
    if case == "arena":
        return {"time": timed(4 * cost)}
    if case == "scarce":
        return {"time": timed(50 * cost), "served": single(0.7 * share, better="higher"),
                "again": single(1, better="higher")}  # fmt: skip
    if case == "registers":
        code = {"unit": "bytes"}
        return {"malloc_registers": single(design.registers, unit="count"),
                "free_registers": single(design.registers * 0.7 // 1, unit="count"),
                "malloc_stack": single(32.0 * (design.registers > 60), **code), "free_stack": single(0, **code),
                "malloc_code": single(64.0 * design.registers, **code),
                "free_code": single(40.0 * design.registers, **code)}  # fmt: skip
    if case == "initialisation":
        heap = point["heap_bytes"] / (1 << 30)
        return {"construct": timed(100 * design.base * heap**0.5), "reset": timed(20 * design.base * heap**0.4),
                "metadata": single(design.registers * 2**16 * heap, unit="bytes")}  # fmt: skip
    if case == "work_generation":
        baseline = 25 + threads / 6_000
        return {"generate": timed(1.6 * cost), "baseline": timed(baseline),
                "ratio": timed(1.6 * cost / baseline, unit="ratio")}  # fmt: skip
    if case == "memory_access":
        packed = 4 + size / 8
        slow = 1 + 0.2 * (design.waste - 1)
        return {"write": timed(packed * slow), "read": timed(0.8 * packed * slow), "packed_write": timed(packed),
                "packed_read": timed(0.8 * packed), "write_ratio": timed(slow, unit="ratio"),
                "read_ratio": timed(slow, unit="ratio")}  # fmt: skip
    if case == "graph_init":
        return {"init": timed(cost), "range": single(design.waste)}
    if case == "graph_update":
        return {"insert": timed(cost / 4), "delete": timed(cost / 5),
                "applied": single(9990, unit="count"), "moved": single(2500, unit="count")}  # fmt: skip
    if case == "churn":
        return {"rate": timed(threads * 3e6 / cost, unit="ops/s", better="higher")}
    if case == "trace":
        return {"replay": timed(40 * cost), "rate": timed(1e9 / cost, unit="ops/s", better="higher")}
    floor = {"floor": timed(2 + threads / 200_000)} if case in ("throughput", "scaling") else {}
    return {"malloc": timed(cost), "free": free, **floor}
