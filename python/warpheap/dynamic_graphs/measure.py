# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured: each system on each graph in a process of its own, which is heard while it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap import process, project
from warpheap.errors import UsageError
from warpheap.experiments.check import Needs, validate
from warpheap.experiments.driver import SECONDS_TO_ANSWER, Driver
from warpheap.experiments.records import Record, without_result
from warpheap.record import ParseError, RecordError, parse

DRIVER = Driver(
    "warpheap_graph_bench", ("--case", "init", "--vertices", "1000", "--iterations", "1", "--heap-bytes", "67108864")
)

# A rebuild does not depend on the system: it is measured with the first one of each graph.
REBUILD = "rebuild"
_GRAPH = ("graph", "vertices")
_CHANGES = ("batch_edges", "time_us")
NEEDS: Needs = {
    "init": (*_GRAPH, "edges", "time_us", "memory"),
    "update": (*_GRAPH, *_CHANGES, "add_us", "remove_us"),
    "pressure": (*_GRAPH, *_CHANGES, "add_us", "remove_us"),
    "delete": (*_GRAPH, *_CHANGES, "add_us", "remove_us"),
    "sliding": (*_GRAPH, *_CHANGES),
    "expansion": (*_GRAPH, *_CHANGES, "add_us"),
    "pagerank": (*_GRAPH, "time_us", "csr_us"),
    "triangles": (*_GRAPH, "time_us", "csr_us", "triangles"),
    REBUILD: (*_GRAPH, *_CHANGES),
}
CASES = tuple(NEEDS)

# The graphs of the paper in its order, by the names of the originals; the driver generates what stands for them.
STAND_INS = (
    "luxembourg_osm", "coAuthorsCiteseer", "coAuthorsDBLP", "ldoor", "audikw_1", "delaunay_n20", "rgg_n_2_20_s0",
    "hugetric-00000", "delaunay_n23", "germany_osm", "nlpkkt120", "nlpkkt200", "nlpkkt240", "europe_osm",
)  # fmt: skip

# What the driver generates under names of their own.
GENERATORS = ("rmat", "uniform", "barabasi_albert", "delaunay", "geometric", "grid", "dual", "roads", "stencil")


@dataclass(frozen=True)
class Preset:
    """What the options start from. No systems: all that the driver has; no vertices: those of the original."""

    systems: tuple[str, ...]
    graphs: tuple[str, ...]
    vertices: int | None
    batch: int
    iterations: int
    heap_bytes: int
    verify: bool


PRESETS = {
    "quick": Preset(
        ("warp_slab", "ouro_graph_va_p", "ouro_graph_vl_p", "faim_graph", "cuda_alloc_graph"),
        ("luxembourg_osm", "coAuthorsCiteseer", "delaunay_n20", "hugetric-00000"),
        10_000, 10_000, 3, 1 << 30, True,
    ),
    "paper": Preset((), STAND_INS, None, 100_000, 10, 16 << 30, False),
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What one command measures."""

    systems: Sequence[str]
    graphs: Sequence[str]
    cases: Sequence[str]
    vertices: int | None
    batch: int
    iterations: int
    heap_bytes: int
    time_limit: float  # seconds, of one system on one graph
    verify: bool = False

    def words(self, system: str, graph: str, cases: Sequence[str]) -> list[str]:
        """The driver's words for one process."""
        words = ["--system", system, "--graph", graph, "--case", ",".join(cases), "--batch", str(self.batch),
                 "--iterations", str(self.iterations), "--heap-bytes", str(self.heap_bytes)]  # fmt: skip
        if self.vertices is not None:
            words += ["--vertices", str(self.vertices)]
        return [*words, "--verify"] if self.verify else words


def known_systems(backend: str) -> list[str] | None:
    """The systems of a driver that is built from the sources that are here; None without sources."""
    backends = ("cuda", "host") if backend == "auto" else (backend,)
    designs = list(dict.fromkeys(name for each in backends for name in project.registered_designs(each) or ()))
    if not designs:
        return None
    ouro_graphs = [name.replace("ouroboros", "ouro_graph") for name in designs if name.startswith("ouroboros_")]
    return [*designs, *ouro_graphs, "faim_graph", *(["cuda_alloc_graph"] if "cuda_malloc" in designs else [])]


def systems_of(program: Path) -> list[str]:
    """The systems that a driver has. Raises `UsageError` if it does not answer."""
    outcome = process.run([program, "--systems"], SECONDS_TO_ANSWER)
    if outcome.timed_out or outcome.exit_code != 0:
        raise UsageError(f"{program} does not list its systems: {outcome.describe_end()}")
    return outcome.stdout.split()


def measure(program: Path, plan: Plan, keep: Callable[[Record], None]) -> None:
    """Runs the driver for each graph and system, and gives each record to `keep`.

    A process that does not end in time, or ends badly without saying so, is a record, too.
    """
    for graph in plan.graphs:
        for system in plan.systems:
            cases = [case for case in plan.cases if case != REBUILD or system == plan.systems[0]]
            if cases:
                _measure_one(program, plan, (system, graph), cases, keep)


def _measure_one(
    program: Path, plan: Plan, of: tuple[str, str], cases: Sequence[str], keep: Callable[[Record], None]
) -> None:
    system, graph = of
    heard: list[Record] = []

    def hear(line: str) -> None:
        try:
            record = validate(parse(line), NEEDS)
        except ParseError:
            return  # the end of a line that a killed process did not finish
        except RecordError as problem:
            record = _lost(system, graph, "driver", "failed", f"a record breaks the format: {problem}")
        heard.append(record)
        keep(record)

    outcome = process.follow([str(program), *plan.words(system, graph, cases)], plan.time_limit, hear)
    if not outcome.timed_out and outcome.exit_code == 0:
        return
    # The driver goes on after a case that failed and that it has told of itself, and ends with 1.
    done = {each["case"] for each in heard}
    if not outcome.timed_out and outcome.exit_code == 1 and done >= set(cases):
        return
    case = next((each for each in cases if each not in done), "driver")
    status = "timeout" if outcome.timed_out else "failed"
    keep(_lost(system, graph, case, status, outcome.describe_end()))


def _lost(system: str, graph: str, case: str, status: str, reason: str) -> Record:
    shown = f"stand-in of {graph}" if graph in STAND_INS else graph  # as the driver names it
    return {**without_result(case, system, status, reason), "graph": shown}


def name_of(record: Record) -> str:
    """The point in words."""
    return f"{record['case']} {record['subject']} on {record.get('graph', 'a graph')}"
