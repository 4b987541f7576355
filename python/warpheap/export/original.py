# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Files with the names and columns of GPUMemManSurvey, the suite of Winter et al. (PPoPP 2021). Times are milliseconds.

Where that suite writes zeros for a case without a result, these files have empty fields; failures.csv tells why.
"""

from collections.abc import Callable, Iterable, Sequence

from warpheap.cases.base import GIB
from warpheap.export.table import Table, grouped, span, table_of_times
from warpheap.record import Record

_SIZE = "AllocationSize (in Byte)"
_RANGE = "AllocationRange (in Byte)"
_THREADS = "NumThreads"
_OPERATIONS = {"malloc": "alloc", "free": "free"}
_POINT = ("case", "allocator", "mode", "threads", "size", "heap_bytes")
_SMALLEST = 4  # bytes, of a random size


def tables(records: Sequence[Record]) -> list[Table]:
    """The files of the cases that the original suite has too."""
    made: list[Table] = []
    # Of two measurements of a point that with more rounds.
    ordered = sorted(records, key=lambda record: record["iterations"])
    records = list({tuple(record[field] for field in _POINT): record for record in ordered}.values())
    for (case,), own in grouped(records, "case").items():
        for (allocator,), group in grouped(own, "allocator").items():
            made += [each for each in _CASES.get(str(case), _none)(str(allocator), group) if each is not None]
    return made + _baseline(records)


_Tables = Iterable[Table | None]


def _none(allocator: str, records: Sequence[Record]) -> _Tables:
    return ()


def _throughput(allocator: str, records: Sequence[Record], prefix: str = "") -> _Tables:
    for (mode, threads), group in grouped(records, "mode", "threads").items():
        ordered = sorted(group, key=lambda record: record["size"])
        kind = prefix + ("warp_" if mode == "warp" else "") + ("perf_mixed" if mode == "mixed" else "perf")
        for measure, operation in _OPERATIONS.items():
            name = f"{kind}_{operation}_{allocator}_{threads}_{span(group, 'size')}.csv"
            if mode == "mixed":
                yield table_of_times(name, _RANGE, ordered, measure, lambda each: f"{_SMALLEST}-{each['size']}")
            else:
                yield table_of_times(name, _SIZE, ordered, measure, lambda each: each["size"])


def _latency(allocator: str, records: Sequence[Record]) -> _Tables:
    return _throughput(allocator, records, "cycles_")


def _scaling(allocator: str, records: Sequence[Record]) -> _Tables:
    for (mode, size), group in grouped(records, "mode", "size").items():
        ordered = sorted(group, key=lambda record: record["threads"])
        prefix = "warp_" if mode == "warp" else ""
        for measure, operation in _OPERATIONS.items():
            name = f"{prefix}scale_{operation}_{allocator}_{size}_{span(group, 'threads')}.csv"
            yield table_of_times(name, _THREADS, ordered, measure, lambda each: each["threads"])


def _fragmentation(allocator: str, records: Sequence[Record]) -> _Tables:
    uniform = [record for record in records if record["mode"] == "thread"]
    for (threads,), group in grouped(uniform, "threads").items():
        rows = []
        for record in sorted(group, key=lambda each: each["size"]):
            asked = record["threads"] * record["size"]
            series = record.get("series") or {}
            ranges = [series.get(name, {"values": []})["values"] for name in ("range", "total_range")]
            pairs = (round(value * asked) for both in zip(*ranges, strict=False) for value in both)
            rows.append([record["size"], *pairs])
        rounds = max(len(row) for row in rows) // 2
        yield Table(
            f"frag_{allocator}_{threads}_{span(group, 'size')}.csv", _SIZE + ",range, static range" * rounds, rows
        )


def _out_of_memory(allocator: str, records: Sequence[Record]) -> _Tables:
    uniform = [record for record in records if record["mode"] == "thread"]
    for (threads,), group in grouped(uniform, "threads").items():
        rows = [[each["size"], _whole_rounds(each)] for each in sorted(group, key=lambda each: each["size"])]
        yield Table(f"oom_{allocator}_{threads}_{span(group, 'size')}.csv", f"{_SIZE}, rounds", rows)


def _whole_rounds(record: Record) -> object:
    share = record["measures"].get("share")
    if share is None:
        return ""
    return int(share["median"] * record["heap_bytes"] // (record["threads"] * record["size"]))


def _registers(allocator: str, records: Sequence[Record]) -> _Tables:
    names = ("malloc_registers", "free_registers")
    found = [[record["measures"].get(name) for name in names] for record in records if record["status"] == "ok"]
    rows = [["" if measure is None else measure["median"] for measure in measures] for measures in found]
    return [Table(f"reg_{allocator}.csv", "Malloc-Kernel Registers, Free-Kernel Registers", rows)]


def _initialisation(allocator: str, records: Sequence[Record]) -> _Tables:
    for record in records:
        measure = record["measures"].get("construct") if record["timing_comparable"] else None
        if measure is not None:
            # The time is that of the wall clock; the original's second one, by events of the GPU, we do not take.
            row = [record["heap_bytes"], "", f"{measure['mean'] / 1000:.6g}"]
            header = f"{_SIZE}, mean (ms) GPU, mean (ms) CPU"
            yield Table(f"init_{allocator}_{record['heap_bytes'] / GIB:g}.csv", header, [row])


def _work_generation(allocator: str, records: Sequence[Record], measure: str = "generate") -> _Tables:
    for (size,), group in grouped(records, "size").items():
        ordered = sorted(group, key=lambda record: record["threads"])
        name = f"synth_{allocator}_{span(group, 'threads')}_{_SMALLEST}-{size}.csv"
        yield table_of_times(name, _THREADS, ordered, measure, lambda each: each["threads"])


def _memory_access(allocator: str, records: Sequence[Record], measure: str = "write") -> _Tables:
    for (mode, size), group in grouped(records, "mode", "size").items():
        ordered = sorted(group, key=lambda record: record["threads"])
        least = min(16, int(str(size))) if mode == "mixed" else size
        name = f"synth_write_{allocator}_{span(group, 'threads')}_{least}-{size}.csv"
        yield table_of_times(name, _THREADS, ordered, measure, lambda each: each["threads"])


def _baseline(records: Sequence[Record]) -> list[Table]:
    """The baselines, as the process of the first allocator measured them."""
    made: list[Table | None] = []
    for case, measure, of_case in (
        ("work_generation", "baseline", _work_generation),
        ("memory_access", "packed_write", _memory_access),
    ):
        own = [record for record in records if record["case"] == case and record["status"] == "ok"]
        for group in list(grouped(own, "allocator").values())[:1]:
            made += of_case("BaseLine", group, measure)
    return [each for each in made if each is not None]


_CASES: dict[str, Callable[[str, Sequence[Record]], _Tables]] = {
    "throughput": _throughput,
    "latency": _latency,
    "scaling": _scaling,
    "fragmentation": _fragmentation,
    "out_of_memory": _out_of_memory,
    "registers": _registers,
    "initialisation": _initialisation,
    "work_generation": _work_generation,
    "memory_access": _memory_access,
}
