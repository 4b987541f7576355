# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of Winter, Parger, Mlakar and Steinberger (PPoPP 2021), from our record."""

from dataclasses import dataclass, replace

from warpheap.cases.base import FIXED_SIZE
from warpheap.cases.graph_init import COAUTHORS, DELAUNAY
from warpheap.cases.graph_update import BATCH
from warpheap.report import data, ranking
from warpheap.report.chart import Bars, Chart, Panel
from warpheap.report.claims import FAMILIES, OURS
from warpheap.report.lines import bars_of, panel_of, with_reference
from warpheap.report.record_set import RecordSet
from warpheap.units import show_bytes, show_count


@dataclass(frozen=True)
class Figure:
    """One figure of the paper: what it plots, and at which number of threads or size."""

    number: str
    what: str
    case: str
    mode: str
    measure: str
    field: str  # of the x axis
    at: int  # of the other field
    reference: str = ""  # the measure that is the baseline
    second_machine: bool = False

    @property
    def label(self) -> str:
        """What it plots, and at which number of threads or size."""
        return self.what if self.case in _NAMED_IN_FULL else f"{self.what}, {_at(self)}"

    @property
    def reference_name(self) -> str:
        """What the baseline is."""
        return "the same bytes in a packed array" if self.case == "memory_access" else "prefix sum and one allocation"


@dataclass(frozen=True)
class Missing:
    """A figure that the record has no points for."""

    number: str
    what: str
    why: str


FIGURES = (
    Figure("9a", "thread-based allocation", "throughput", "thread", "malloc", "size", 10_000),
    Figure("9b", "thread-based deallocation", "throughput", "thread", "free", "size", 10_000),
    Figure("9c", "thread-based allocation", "throughput", "thread", "malloc", "size", 100_000),
    Figure("9d", "thread-based deallocation", "throughput", "thread", "free", "size", 100_000),
    Figure("9e", "as 9c on another machine", "throughput", "thread", "malloc", "size", 100_000, second_machine=True),
    Figure("9f", "as 9d on another machine", "throughput", "thread", "free", "size", 100_000, second_machine=True),
    Figure("9g", "warp-based allocation", "throughput", "warp", "malloc", "size", 10_000),
    Figure("9h", "mixed allocation", "throughput", "mixed", "malloc", "size", 100_000),
    Figure("10a", "allocation scaling", "scaling", "thread", "malloc", "threads", 16),
    Figure("10b", "allocation scaling", "scaling", "thread", "malloc", "threads", 64),
    Figure("10c", "allocation scaling", "scaling", "thread", "malloc", "threads", 512),
    Figure("10d", "allocation scaling", "scaling", "thread", "malloc", "threads", 8192),
    Figure("10e", "deallocation scaling", "scaling", "thread", "free", "threads", 16),
    Figure("10f", "deallocation scaling", "scaling", "thread", "free", "threads", 64),
    Figure("10g", "deallocation scaling", "scaling", "thread", "free", "threads", 512),
    Figure("10h", "deallocation scaling", "scaling", "thread", "free", "threads", 8192),
    Figure("11a", "address range of a round", "fragmentation", "thread", "range", "size", 100_000),
    Figure("11b", "heap that was handed out", "out_of_memory", "thread", "share", "size", 100_000),
    Figure("11c", "work generation, 4 to 64 B", "work_generation", "mixed", "generate", "threads", 64, "baseline"),
    Figure("11d", "work generation, 4 to 4096 B", "work_generation", "mixed", "generate", "threads", 4096, "baseline"),
    Figure("11e", "write, uniform", "memory_access", "uniform", "write", "size", 1 << 17, "packed_write"),
    Figure("11e", "write, mixed", "memory_access", "mixed", "write", "size", 1 << 17, "packed_write"),
    Figure("11f", "making a graph", "graph_init", "delaunay", "init", "threads", FIXED_SIZE),
    Figure("11f", "making a skewed graph", "graph_init", "coauthors", "init", "threads", FIXED_SIZE),
    Figure("11g", "inserting, any source", "graph_update", "delaunay_uniform", "insert", "threads", BATCH),
    Figure("11g", "inserting, 100 sources", "graph_update", "delaunay_window", "insert", "threads", BATCH),
    Figure("11g", "deleting, any source", "graph_update", "delaunay_uniform", "delete", "threads", BATCH),
    Figure("11g", "deleting, 100 sources", "graph_update", "delaunay_window", "delete", "threads", BATCH),
)  # fmt: skip

_GROUPS = {
    "9": "Figure 9: allocation and deallocation against size",
    "10": "Figure 10: scaling with threads",
    "11": "Figure 11: memory, work generation, access and graphs",
}
STAND_INS = "Figures 11f and 11g are of generated graphs, which stand for delaunay_n20 and coAuthorsCiteseer."
NOTE = (
    "Each panel plots what the figure of that number plots, here with medians of our own measurement; the paper plots "
    "means. A figure is shown only if the record has the paper's own number of threads or size. A "
    "family has one hue, as in the paper; the hues are ours. Times are of the whole kernel. Where a record has many "
    f"designs, the figures show {OURS} and one of each family of the paper: the one with the fewest runs without a "
    "result, and among these the fastest."
)
# Lines that can be told apart in one panel.
_MANY = 12


_NO_RECORDS = RecordSet()
# The vertices of the paper's graphs, by mode: a record may have smaller ones, too.
_VERTICES = {
    "delaunay": DELAUNAY, "coauthors": COAUTHORS, "delaunay_uniform": DELAUNAY, "delaunay_window": DELAUNAY,
}  # fmt: skip
# Cases whose figures are told apart by their words.
_NAMED_IN_FULL = ("work_generation", "graph_init", "graph_update")


def charts(records: RecordSet, others: RecordSet = _NO_RECORDS) -> tuple[list[Chart], list[Missing]]:
    """The figures of one machine, and those that it has no points for; `others` are records of a second machine."""
    panels: dict[str, list[Panel | Bars]] = {group: [] for group in _GROUPS}
    missing = []
    shown = {False: _few(records), True: _few(others)}
    for figure in FIGURES:
        source = shown[figure.second_machine]
        panel = _panel(figure, source)
        if panel is not None:
            panels[figure.number.rstrip("abcdefgh")].append(panel)
        elif figure.second_machine and not others:
            missing.append(Missing(figure.number, figure.what, "needs the record of a second GPU: merge two"))
        else:
            missing.append(Missing(figure.number, figure.what, _why(figure, source)))
    drawn = [Chart(f"paper-{group}", _GROUPS[group], own) for group, own in panels.items() if own]
    return drawn, missing


def _few(records: RecordSet) -> RecordSet:
    """Of many designs the default and one of each family, the same in all figures."""
    own = records.where(case="throughput") or records.where(case="scaling")
    if len(records.allocators) <= _MANY or not own:
        return records
    found = ranking.scores(ranking.field_of(own), own, ("malloc", "free"))
    chosen = {OURS}
    for members in FAMILIES.values():
        if there := [name for name in members if name in found]:
            chosen.add(min(there, key=lambda name: found[name].order))
    return records.only(lambda each: each["allocator"] in chosen)


def _panel(figure: Figure, records: RecordSet) -> Panel | Bars | None:
    other = "threads" if figure.field == "size" else "size"
    own = records.where(case=figure.case, mode=figure.mode)
    measures = own.measures
    if figure.measure not in measures:
        return None
    own = own.where(**{other: figure.at})
    if figure.mode in _VERTICES:
        own = own.where(threads=_VERTICES[figure.mode])
    # A record that several presets made has heaps of several sizes; the paper's are the largest.
    own = own.where(heap_bytes=max(own.values("heap_bytes"), default=0))
    if not any(data.measure(each, figure.measure) for each in own):
        return None
    title = f"as Figure {figure.number}: {figure.label}"
    places = own.values(figure.field)
    if len(places) == 1:
        title += f", {show_bytes(places[0]) if figure.field == 'size' else _counted(figure, places[0])}"
        panel: Panel | Bars = bars_of(own, figure.measure, measures[figure.measure], title)
    else:
        panel = panel_of(own, figure.field, figure.measure, measures[figure.measure], title)
    if figure.reference:
        panel = with_reference(panel, own, figure.reference, figure.reference_name)
    # Each pair of the paper's figures that is compared shares its axis.
    return replace(panel, scale=f"{figure.case} {figure.field}" + isinstance(panel, Bars) * " bars")


def _at(figure: Figure) -> str:
    return _counted(figure, figure.at) if figure.field == "size" else show_bytes(figure.at)


def _counted(figure: Figure, threads: int) -> str:
    """The record's number of threads, as what it counts in that figure."""
    what = "vertices" if figure.mode in _VERTICES else "warps" if figure.mode == "warp" else "threads"
    return f"{show_count(threads)} {what}"


def _why(figure: Figure, records: RecordSet) -> str:
    own = records.where(case=figure.case, mode=figure.mode)
    if not own:
        return f"case {figure.case}, mode {figure.mode} is not in the record"
    if all(not each["timing_comparable"] for each in own):
        return "times of the host backend mean nothing"
    if not own.where(**{"threads" if figure.field == "size" else "size": figure.at}):
        return f"case {figure.case}, mode {figure.mode} was not run at {_at(figure)}"
    if figure.mode in _VERTICES and not own.where(threads=_VERTICES[figure.mode]):
        return f"case {figure.case}, mode {figure.mode} was not run at {_counted(figure, _VERTICES[figure.mode])}"
    return f"no run of case {figure.case}, mode {figure.mode} has a result for it"
