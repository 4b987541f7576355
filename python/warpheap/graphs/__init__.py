# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs from files: readers of the common formats, and compressed sparse rows for the programs in C++.

docs/graphs_data.md describes the formats and the errors.
"""

from warpheap.graphs.csr_file import read_csr, write_csr
from warpheap.graphs.graph import Graph
from warpheap.graphs.read import read_graph
from warpheap.graphs.trouble import GraphFileError

__all__ = ["Graph", "GraphFileError", "read_csr", "read_graph", "write_csr"]
