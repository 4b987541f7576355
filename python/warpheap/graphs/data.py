# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Real graphs that Debian's packages ship, with what is known of them (`./run graph --fetch-data` gets them)."""

import os
from dataclasses import dataclass
from pathlib import Path

FOLDER_VARIABLE = "WARPHEAP_GRAPH_DATA"
_BUILD = Path(__file__).resolve().parents[3] / "build" / "data"
_GRAPH_TOOL = "python3-graph-tool/usr/lib/python3/dist-packages/graph_tool/collection/{}.gt.gz"
_METIS = "libmetis-doc/usr/share/doc/libmetis-dev/examples/graphs/{}.graph"


@dataclass(frozen=True)
class RealGraph:
    """A graph of the data packages. The figures are those of its undirected form without loops and repeats."""

    name: str
    file: str  # below the folder of the data
    vertices: int
    edges: int
    max_degree: int
    isolated: int | None  # None: not known
    triangles: int


def _of_graph_tool(name: str, vertices: int, edges: int, most: int, isolated: int, triangles: int) -> RealGraph:
    return RealGraph(name, _GRAPH_TOOL.format(name), vertices, edges, most, isolated, triangles)


def _of_metis(name: str, vertices: int, edges: int, most: int, triangles: int) -> RealGraph:
    return RealGraph(name, _METIS.format(name), vertices, edges, most, None, triangles)


REAL_GRAPHS = (
    _of_graph_tool("karate", 34, 78, 17, 0, 45),
    _of_graph_tool("dolphins", 62, 159, 12, 0, 95),
    _of_graph_tool("lesmis", 77, 254, 36, 0, 467),
    _of_graph_tool("polbooks", 105, 441, 25, 0, 560),
    _of_graph_tool("adjnoun", 112, 425, 49, 0, 284),
    _of_graph_tool("football", 115, 613, 12, 0, 810),
    _of_graph_tool("serengeti-foodweb", 161, 591, 74, 0, 26),
    _of_graph_tool("celegansneural", 297, 2_148, 134, 0, 3_241),
    _of_graph_tool("polblogs", 1_490, 16_715, 351, 266, 101_043),
    _of_graph_tool("netscience", 1_589, 2_742, 34, 128, 3_764),
    _of_graph_tool("power", 4_941, 6_594, 19, 0, 651),
    _of_graph_tool("hep-th", 8_361, 15_751, 50, 751, 13_302),
    _of_graph_tool("astro-ph", 16_706, 121_251, 360, 660, 756_019),
    _of_graph_tool("cond-mat", 16_726, 47_594, 107, 462, 68_040),
    _of_graph_tool("as-22july06", 22_963, 48_436, 2_390, 0, 46_873),
    _of_graph_tool("cond-mat-2003", 31_163, 120_029, 202, 703, 232_994),
    _of_graph_tool("email-Enron", 36_692, 183_831, 1_383, 0, 727_044),
    _of_graph_tool("pgp-strong-2009", 39_796, 197_150, 1_696, 0, 1_146_500),
    _of_graph_tool("cond-mat-2005", 40_421, 175_693, 278, 844, 378_063),
    _of_metis("4elt", 7_434, 43_031, 17, 80_590),
    _of_metis("copter2", 55_476, 352_238, 44, 584_982),
    _of_metis("mdual", 258_569, 513_132, 4, 21_635),
)


def data_folder() -> Path:
    """The folder of the data packages: the variable WARPHEAP_GRAPH_DATA, else build/data of the checkout."""
    given = os.environ.get(FOLDER_VARIABLE)
    return Path(given) if given else _BUILD


def find_real_graph(graph: RealGraph) -> Path | None:
    """The file of a real graph, or None if the packages were not fetched."""
    path = data_folder() / graph.file
    return path if path.is_file() else None
