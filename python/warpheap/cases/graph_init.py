# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Making a dynamic graph: one thread a vertex asks for the block of its list and copies the list.

It runs over stand-ins of two graphs of the survey. Threads are the vertices; `paper` has those of the originals.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "delaunay": "stand-in of delaunay_n20: 6 neighbours in the mean, even",
    "coauthors": "stand-in of coAuthorsCiteseer: 7 neighbours in the mean, skewed",
}

# The vertices of the originals.
DELAUNAY = 1 << 20
COAUTHORS = 227_320

_ALL = tuple(MODES)
_HOST = (Axes(_ALL, (4096,), heaps=(16 * MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=30),)

PRESETS: dict[str, Preset] = {
    "quick": {"cuda": (Axes(_ALL, (1 << 16,), most_iterations=20, time_limit=15),)},
    "default": {
        "cuda": (Axes(("delaunay",), (1 << 16, DELAUNAY)), Axes(("coauthors",), (1 << 16, COAUTHORS))),
        "host": _HOST,
    },
    "paper": {
        "cuda": (
            Axes(("delaunay",), (DELAUNAY,), time_limit=300),
            Axes(("coauthors",), (COAUTHORS,), time_limit=300),
        ),
    },
    "full": {
        "cuda": (
            Axes(("delaunay",), (1 << 12, 1 << 16, DELAUNAY, 1 << 23), time_limit=300),
            Axes(("coauthors",), (1 << 12, 1 << 16, COAUTHORS, 1 << 20), time_limit=300),
        ),
        "host": _HOST,
    },
}

CASE = Case(
    name="graph_init",
    order=13,
    modes=MODES,
    presets=PRESETS,
    axes=("threads", "heap"),
    blocks_per_thread=0,
)
