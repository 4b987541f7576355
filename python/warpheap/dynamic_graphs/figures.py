# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The figures: for each case a panel a graph, and in it a bar a system."""

from collections.abc import Callable, Sequence

from warpheap.dynamic_graphs.measure import REBUILD
from warpheap.dynamic_graphs.run import PAGE_NAME
from warpheap.experiments.limits import Limit
from warpheap.experiments.page import Page
from warpheap.experiments.records import Record
from warpheap.report.chart import Bar, Bars, Chart, Point
from warpheap.report.looks import looks_of_names

TEXT = (
    "Dynamic graphs on each heap. Times are medians from the call, with its batch in device memory, until its counts "
    "are known. The graphs are generated: a stand-in has the size and the degrees of the original, and not its edges. "
    "ouro_graph and cuda_alloc_graph are contiguous lists on an Ouroboros and on the toolkit's heap, faim_graph lists "
    "in pages of 64 bytes with a queue of pages."
)
_HOST = " These are times of the host backend, which runs threads one after the other: they mean nothing."

Read = Callable[[Record], Point | None]


def text_of(records: Sequence[Record]) -> str:
    """What there is to say before the figures."""
    return TEXT if all(each.get("timing_comparable", True) for each in records) else TEXT + _HOST


def page_of(records: Sequence[Record]) -> Page:
    """The page for the records."""
    charts = charts_of(records)
    looks = looks_of_names(name for chart in charts for name in chart.allocators())
    return Page("Dynamic graphs", "graph", text_of(records), looks, charts, limits_of(records), PAGE_NAME)


def charts_of(records: Sequence[Record]) -> list[Chart]:
    """All figures that the records have values for."""
    update = "Batches of random edges; the dashed line sorts all edges and the batch into new rows."
    made = [
        _chart(records, "init", "Initialisation from compressed sparse rows", "us", "init", time("time_us")),
        _chart(records, "memory", "Bytes of blocks for an edge", "bytes", "init", bytes_an_edge),
        _chart(records, "update-add", "Adding a batch of random edges", "us", "update", time("add_us"), update,
               REBUILD),
        _chart(records, "update-remove", "Removing that batch", "us", "update", time("remove_us")),
        _chart(records, "pressure-add", "Adding a batch to few sources", "us", "pressure", time("add_us")),
        _chart(records, "delete", "Removing edges of the graph", "us", "delete", time("remove_us")),
        _chart(records, "sliding", "A batch in and a batch out", "us", "sliding", time("time_us")),
        _chart(records, "expansion", "Batches added one after another", "us", "expansion", time("add_us")),
        _chart(records, "pagerank", "20 iterations of PageRank", "us", "pagerank", time("time_us"),
               "The dashed line is the same work on compressed sparse rows.", "csr"),
        _chart(records, "triangles", "Triangle count", "us", "triangles", time("time_us"),
               "The dashed line is the same work on compressed sparse rows.", "csr"),
    ]  # fmt: skip
    return [chart for chart in made if chart.panels]


def time(field: str) -> Read:
    """Reads a time of a record."""

    def read(record: Record) -> Point | None:
        times = record.get(field)
        if times is None:
            return None
        middle = times["median"]
        low, high = times.get("median_low") or middle, times.get("median_high") or middle
        return Point(0, middle, low, high, times.get("min") or middle, times.get("max") or middle)

    return read


def bytes_an_edge(record: Record) -> Point | None:
    """Reads what the blocks of the lists take."""
    if not record["edges"]:
        return None
    value = record["memory"]["block_bytes"] / record["edges"]
    return Point(0, value, value, value, value, value)


def graphs_of(records: Sequence[Record]) -> list[str]:
    """The graphs, in the order in which they were measured."""
    return list(dict.fromkeys(each["graph"] for each in records if each["status"] == "ok"))


def _chart(
    records: Sequence[Record], name: str, title: str, unit: str, case: str, read: Read, note: str = "", beside: str = ""
) -> Chart:
    panels = []
    for graph in graphs_of(records):
        own = [each for each in records if each.get("graph") == graph and each["case"] == case]
        bars = [_bar(each, read) for each in own]
        if any(bar.point for bar in bars):
            reference = _reference(records, graph, own, beside)
            name_beside = "" if reference is None else beside
            title_of_panel = _title(graph, own)
            panels.append(
                Bars(title_of_panel, bars, unit, scale=graph, reference=reference, reference_name=name_beside)
            )
    return Chart(name, title, panels, note)


def _title(graph: str, own: Sequence[Record]) -> str:
    # A stand-in may be made smaller than the original.
    return f"{graph}, {next(each['vertices'] for each in own if 'vertices' in each):,} vertices"


def _bar(record: Record, read: Read) -> Bar:
    if record["status"] == "ok" and (point := read(record)):
        return Bar(record["subject"], point)
    return Bar(record["subject"], None, record["status"], record.get("reason", "no value"))


def _reference(records: Sequence[Record], graph: str, own: Sequence[Record], beside: str) -> float | None:
    if beside == "csr":
        values = [each["csr_us"]["median"] for each in own if each["status"] == "ok"]
        return min(values, default=None)
    found = (each for each in records if each["case"] == beside and each.get("graph") == graph)
    return next((each["time_us"]["median"] for each in found if each["status"] == "ok"), None)


def limits_of(records: Sequence[Record]) -> list[Limit]:
    """What issue 33 asks for; bars of times only where times mean something."""
    judged = all(each.get("timing_comparable", True) for each in records)

    def worst(case: str, read: Callable[[Record], float], layouts: Sequence[str] = ("contiguous",)) -> float | None:
        own = [each for each in records if each["case"] == case and each["status"] == "ok"]
        return max((read(each) for each in own if each.get("layout") in layouts), default=None)

    def over(record: Record) -> float:
        return float(record["time_us"]["median"] / record["csr_us"]["median"])

    verified = [each["verified"] for each in records if "verified" in each]
    return [
        Limit("PageRank of contiguous lists over that of rows, most", False, 1.15 if judged else None, "x",
              worst("pagerank", over)),
        Limit("triangle count of contiguous lists over that of rows, most", False, 1.3 if judged else None, "x",
              worst("triangles", over)),
        Limit("initialisation by cuda_alloc_graph over that by warp_slab, least", True, 500 if judged else None, "x",
              _least_ratio(records, "init", "cuda_alloc_graph", "warp_slab")),
        Limit("blocks of ouro_graph (VA, VL) over those of faim_graph on roads, most", False, 0.5, "x",
              _most_memory(records)),
        Limit("cases that verification found wrong", False, 0, "",
              float(verified.count(False)) if verified else None),
    ]  # fmt: skip


def _least_ratio(records: Sequence[Record], case: str, slow: str, fast: str) -> float | None:
    times = {
        (each["graph"], each["subject"]): each["time_us"]["median"]
        for each in records
        if each["case"] == case and each["status"] == "ok"
    }
    ratios = [
        times[graph, slow] / times[graph, fast] for graph, name in times if name == fast and (graph, slow) in times
    ]
    return min(ratios, default=None)


def _most_memory(records: Sequence[Record]) -> float | None:
    """Bytes of blocks beside faimGraph's, which has pages of one size for lists of one or two edges."""
    roads = [
        each for each in records if each["case"] == "init" and each["status"] == "ok" and each["graph"].endswith("_osm")
    ]
    pages = {each["graph"]: each["memory"]["block_bytes"] for each in roads if each["subject"] == "faim_graph"}
    small = [each for each in roads if each["subject"].startswith(("ouro_graph_va", "ouro_graph_vl"))]
    ratios = [each["memory"]["block_bytes"] / pages[each["graph"]] for each in small if each["graph"] in pages]
    return max(ratios, default=None)
