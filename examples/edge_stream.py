# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A stream of edges, and PageRank after each batch from the ranks of the batch before: see docs/graph_python.md."""

# [guide]
import networkx
import numpy as np

import warpheap

edges, ranks = list(networkx.karate_club_graph().edges()), None
with warpheap.Graph(34) as graph:
    for first in range(0, len(edges), 13):
        graph.add_edges_from(edges[first : first + 13])
        ranks = graph.pagerank(nstart=ranks)
        found = f"{graph.number_of_edges()} edges, version {graph.version}, {graph.triangle_count()} triangles"
        print(f"{found}: vertex {np.argmax(np.asarray(ranks))} ranks first")
