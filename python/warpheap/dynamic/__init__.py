# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic graphs from Python, on a GPU or on the host, through the C interface <warpheap/graph/graph.h>.

`warpheap.Graph` is this package's class. docs/graph_python.md shows how it is used.
"""

from warpheap.dynamic.graph import Graph
from warpheap.dynamic.library import GraphError, NotConverged
from warpheap.dynamic.results import Csr, EdgeCounts, Memory, VertexCounts
from warpheap.native.arrays import DeviceArray

__all__ = ["Csr", "DeviceArray", "EdgeCounts", "Graph", "GraphError", "Memory", "NotConverged", "VertexCounts"]
