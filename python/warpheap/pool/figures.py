# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the pool's experiments, and what they say about the bars."""

import math
from collections.abc import Callable, Sequence

from warpheap.experiments.limits import Limit
from warpheap.experiments.page import Page
from warpheap.experiments.records import Record
from warpheap.pool.run import PAGE_NAME
from warpheap.report.chart import Bar, Bars, Chart, Line, Lost, Panel, Point
from warpheap.report.looks import Looks, looks_of_names

_CALLS = (("allocate", "allocate"), ("deallocate", "deallocate"))
_EACH = "Medians of batches; bars from the fastest to the slowest batch."
_TEXT = (
    "The experiments of Aknesil and Unat, MAM: a memory allocation manager for GPUs (2017), and more: what a call of a "
    "pool takes on the host. Each case of each subject had a process of its own."
)
# Threads that replay a recording at once.
_TOGETHER = 8
_PYTHON = "torch, cupy, rmm and python are called from Python: python is a call that does nothing."


def page_of(records: Sequence[Record]) -> Page:
    """The page for the records."""
    title = "Pools of device memory"
    return Page(title, "pool", _TEXT, looks_of(records), charts_of(records), limits_of(records), PAGE_NAME)


def looks_of(records: Sequence[Record]) -> Looks:
    """Colours and markers: in the order in which subjects were measured first, then of those that only failed."""
    measured = [record["subject"] for record in records if record["status"] == "ok"]
    return looks_of_names([*measured, *(record["subject"] for record in records if record["status"] != "absent")])


def charts_of(records: Sequence[Record]) -> list[Chart]:
    """All figures that the records have points for, in the order of the page."""
    return [
        chart
        for make in (_sizes, _fill, _live, _churn, _streams, _replay, _recording)
        if (chart := make(records)).panels
    ]


def _sizes(records: Sequence[Record]) -> Chart:
    panels = [_panel(records, "sizes", name, title, "size", "block size") for name, title in _CALLS]
    note = f"Up to 1,024 blocks of one size (128 where a call is slow), then taken back in the order they came. {_EACH}"
    return Chart("pool-sizes", "Time of a call against size", _with_lines(panels), f"{note} {_PYTHON}")


def _fill(records: Sequence[Record]) -> Chart:
    panels = [_panel(records, "fill", name, title, "size", "block size, to twice that") for name, title in _CALLS]
    clocks = [record["clock_ns"] for record in records if record["case"] == "fill" and record.get("clock_ns")]
    clock = f" Reading the clock, about {sorted(clocks)[len(clocks) // 2]:.0f} ns, is in each." if clocks else ""
    note = (
        "The paper's first experiment: blocks of random sizes from 1 B to 1 GiB until the memory is full, each call "
        f"timed alone; medians by power of two, without the spread of single calls.{clock}"
    )
    return Chart("pool-fill", "Time of a call against size, until full", _with_lines(panels), note)


def _live(records: Sequence[Record]) -> Chart:
    calls = (*_CALLS, ("replace_any", "any block replaced"))
    panels = [_panel(records, "live", name, title, "live", "live blocks") for name, title in calls]
    note = f"The paper's second experiment: with so many live blocks of 1 to 10 B, a thousand more. {_EACH} {_PYTHON}"
    return Chart("pool-live", "Time of a call against the number of live blocks", _with_lines(panels), note)


def _streams(records: Sequence[Record]) -> Chart:
    lines = _lines(records, "streams", "threads", lambda record: _point(record, "pairs_per_second", "threads", 1.0))
    panel = Panel("pairs of calls a second", lines, "ops/s", field="threads", x_label="threads", scale="rate")
    note = "The churn by several threads at once; stream_pool and cuda_malloc_async have a stream for each thread."
    return Chart("pool-streams", "Threads", _with_lines([panel]), note)


def _churn(records: Sequence[Record]) -> Chart:
    panels = [_bars(records, "churn", f"{name}_ns", title) for name, title in _CALLS]
    note = f"One thread, 4,096 live blocks of 256 B to 1 MiB, any 256 replaced at a time. {_EACH} {_PYTHON}"
    return Chart("pool-churn", "Random churn", [panel for panel in panels if panel.bars], note)


def _replay(records: Sequence[Record]) -> Chart:
    panel = _bars(records, "replay", "call_ns", "a call, both kinds")
    logs = ", ".join(dict.fromkeys(str(each["log"]).split("/")[-1] for each in records if "log" in each))
    note = f"All calls of {logs}, timed together. {_PYTHON}"
    return Chart("pool-replay", "Replay of a log", [panel] if panel.bars else [], note)


def _recording(records: Sequence[Record]) -> Chart:
    panels = []
    for log in _recorded(records):
        own = [record for record in records if record["case"] == "recording" and _name(record) in (log, "")]
        alone = [record for record in own if record.get("threads", 1) == 1]
        together = [record for record in own if record.get("threads") == _TOGETHER]
        panels.append(_bars(alone, "recording", "call_ns", f"{log}: a call, both kinds"))
        panels.append(_bars(together, "recording", "call_ns", f"{log}: {_TOGETHER} threads at once, a call"))
        for title, value_of in _RECORDED.items():
            values = ((record["subject"], value_of(record)) for record in alone)
            bars = [Bar(subject, Point(0.0, *[value] * 5)) for subject, value in values if value is not None]
            panels.append(Bars(f"{log}: {title}", bars, "", scale=title))
    note = (
        "Calls of `warpheap run --mode trace`, in their order on their streams, timed together by one thread; then "
        f"replayed by {_TOGETHER} threads at once, each on streams of its own, the time divided by the calls of all. "
        f"Pools keep their memory between repetitions. {_PYTHON}"
    )
    return Chart("pool-recording", "Replay of recordings", [panel for panel in panels if panel.bars], note)


def _recorded(records: Sequence[Record]) -> list[str]:
    """The names of the recordings that were replayed."""
    return list(dict.fromkeys(_name(each) for each in records if each["case"] == "recording" and _name(each)))


def _name(record: Record) -> str:
    """The name of a recording, without folders and ending; empty for a record that has none."""
    return str(record.get("log", "")).split("/")[-1].removesuffix(".calls")


def _over_live(record: Record) -> float | None:
    if record.get("peak_reserved_bytes") is None or record.get("peak_live_bytes") is None:
        return None
    return float(record["peak_reserved_bytes"] / record["peak_live_bytes"])


# What is told of a replay that has no unit, by its title.
_RECORDED: dict[str, Callable[[Record], float | None]] = {
    "reserved over live, at their peaks": _over_live,
    "failures within 1.1 of the peak live": lambda record: record.get("budget_failures"),
}


def _panel(records: Sequence[Record], case: str, name: str, title: str, field: str, label: str) -> Panel:
    lines = _lines(records, case, field, lambda record: _point(record, f"{name}_ns", field, 1e-3))
    # An axis of live blocks counts as one of threads does.
    return Panel(title, lines, "us", field="size" if field == "size" else "threads", x_label=label, scale=case)


def _lines(records: Sequence[Record], case: str, field: str, point_of: Callable[[Record], Point | None]) -> list[Line]:
    points: dict[str, list[Point]] = {}
    for record in records:
        if record["case"] == case and record["status"] == "ok" and field in record and (point := point_of(record)):
            points.setdefault(record["subject"], []).append(point)
    return [Line(subject, sorted(own, key=lambda point: point.x), list[Lost]()) for subject, own in points.items()]


def _point(record: Record, name: str, field: str, factor: float) -> Point | None:
    if record.get(name) is None:
        return None
    stem = name.removesuffix("_ns")
    ending = name[len(stem) :]
    middle = record[name] * factor
    least = (record.get(f"{stem}_least{ending}") or record[name]) * factor
    most = (record.get(f"{stem}_greatest{ending}") or record[name]) * factor
    low, high = (middle, middle) if record["case"] == "fill" else (least, most)
    return Point(float(record[field]) if field else 0.0, middle, low, high, least, most)


def _bars(records: Sequence[Record], case: str, name: str, title: str) -> Bars:
    bars = []
    for record in records:
        if record["case"] != case:
            continue
        if record["status"] == "ok":
            bars.append(Bar(record["subject"], _point(record, name, "", 1e-3)))
        elif record["status"] not in ("absent",):
            bars.append(Bar(record["subject"], None, record["status"], record["reason"]))
    known = {bar.allocator for bar in bars if bar.point is not None}
    return Bars(title, [bar for bar in bars if bar.point is not None or bar.allocator not in known], "us")


def _with_lines(panels: Sequence[Panel]) -> list[Panel]:
    return [panel for panel in panels if any(line.points for line in panel.lines)]


def limits_of(records: Sequence[Record]) -> list[Limit]:
    """What the project asks of the pool on the host of an H200, beside what was measured."""

    def value(case: str, subject: str, name: str, **place: int) -> float | None:
        wanted = {"case": case, "subject": subject, "status": "ok", **place}
        found = (each for each in records if all(each.get(field) == known for field, known in wanted.items()))
        return next((each[name] for each in found if each.get(name) is not None), None)

    def ratio(upper: float | None, lower: float | None) -> float | None:
        if upper is None or lower is None:
            return None
        return upper / lower if lower else math.inf if upper else 1.0

    def spread(name: str) -> float | None:
        own = [each for each in records if each["case"] == "sizes" and each["subject"] == "pool"]
        values = {each["size"]: each[name] for each in own if each.get(name) is not None}
        # Of a part of the range the title would say too much.
        return ratio(max(values.values()), min(values.values())) if {1, 1 << 30} <= set(values) else None

    def growth(name: str) -> float | None:
        return ratio(value("live", "pool", name, live=10**7), value("live", "pool", name, live=100))

    def threads(number: int) -> float | None:
        return value("streams", "stream_pool", "pairs_per_second", threads=number)

    def recorded(log: str, subject: str, name: str) -> float | None:
        own = [each for each in records if each["case"] == "recording" and each["status"] == "ok"]
        own = [each for each in own if _name(each) == log and each["subject"] == subject and each.get("threads") == 1]
        measured = (_over_live(each) if name == "over_live" else each.get(name) for each in own)
        return next((each for each in measured if each is not None), None)

    replays = []
    for log in _recorded(records):
        reserved = recorded(log, "stream_pool", "over_live")
        torch = ratio(reserved, recorded(log, "torch", "over_live"))
        failed = recorded(log, "stream_pool", "budget_failures")
        replays += [
            Limit(f"{log}, stream_pool, reserved over live", False, 1.05, "", reserved),
            Limit(f"{log}, reserved by stream_pool to reserved by torch", False, 1, "", torch),
            Limit(f"{log}, stream_pool, failures within 1.1 of the peak live", False, 0, "", failed),
        ]
    host_bytes = value("live", "pool", "host_bytes", live=10**7)
    return [
        Limit("churn, pool, allocate", False, 100, " ns", value("churn", "pool", "allocate_ns")),
        Limit("churn, pool, deallocate", False, 100, " ns", value("churn", "pool", "deallocate_ns")),
        Limit("churn, stream_pool, allocate", False, 150, " ns", value("churn", "stream_pool", "allocate_ns")),
        Limit("churn, stream_pool, deallocate", False, 150, " ns", value("churn", "stream_pool", "deallocate_ns")),
        Limit("1 B to 1 GiB, allocate, slowest to fastest", False, 1.5, "", spread("allocate_ns")),
        Limit("1 B to 1 GiB, deallocate, slowest to fastest", False, 1.5, "", spread("deallocate_ns")),
        Limit("10^7 live to 100, allocate", False, 3, "", growth("allocate_ns")),
        Limit("10^7 live to 100, deallocate", False, 3, "", growth("deallocate_ns")),
        Limit("10^7 live to 100, any block replaced", False, 3, "", growth("replace_any_ns")),
        Limit("host memory a segment, 10^7 live", False, 64, " B", None if host_bytes is None else host_bytes / 10**7),
        Limit("two threads on two streams to one", True, 1.6, "", ratio(threads(2), threads(1))),
        *replays,
    ]
