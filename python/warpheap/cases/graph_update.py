# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Updating a dynamic graph: a kernel that inserts a batch of edges, and one that deletes them again.

It runs over stand-ins of two graphs of the survey, with sources among all vertices (its range 0) and in a window of 100
vertices that moves on (its range 100). Threads are the vertices, and the size is that of a batch, 8 bytes an edge.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset
from warpheap.cases.graph_init import COAUTHORS, DELAUNAY

MODES = {
    "delaunay_uniform": "stand-in of delaunay_n20, sources among all vertices",
    "delaunay_window": "stand-in of delaunay_n20, sources among 100 vertices",
    "coauthors_uniform": "stand-in of coAuthorsCiteseer, sources among all vertices",
    "coauthors_window": "stand-in of coAuthorsCiteseer, sources among 100 vertices",
}

# 10,000 edges, as the survey's settings have it; its text has 100,000.
BATCH = 80_000

_ALL = tuple(MODES)
_EVEN = ("delaunay_uniform", "delaunay_window")
_SKEWED = ("coauthors_uniform", "coauthors_window")
_HOST = (Axes(_ALL, (4096,), (BATCH,), (16 * MIB,), iterations=1, most_iterations=1, warmup=1, time_limit=30),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(("delaunay_uniform", "coauthors_window"), (1 << 16,), (BATCH,), most_iterations=20, time_limit=15),
        ),
    },
    "default": {
        "cuda": (Axes(_EVEN, (DELAUNAY,), (BATCH,)), Axes(_SKEWED, (COAUTHORS,), (BATCH,))),
        "host": _HOST,
    },
    "paper": {
        "cuda": (
            Axes(_EVEN, (DELAUNAY,), (BATCH,), iterations=100, time_limit=300),
            Axes(_SKEWED, (COAUTHORS,), (BATCH,), iterations=100, time_limit=300),
        ),
    },
    "full": {
        "cuda": (
            Axes(_EVEN, (1 << 16, DELAUNAY), (BATCH, 10 * BATCH, 100 * BATCH), iterations=100, time_limit=300),
            Axes(_SKEWED, (1 << 16, COAUTHORS), (BATCH, 10 * BATCH, 100 * BATCH), iterations=100, time_limit=300),
        ),
        "host": _HOST,
    },
}

CASE = Case(
    name="graph_update",
    order=14,
    modes=MODES,
    presets=PRESETS,
    blocks_per_thread=0,
    baselines=("applied", "moved"),
)
