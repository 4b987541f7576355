# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What calls of a graph return besides arrays."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EdgeCounts:
    """What came of a batch, in directed edges: an undirected graph counts both directions. `offered` is the sum."""

    offered: int = 0
    added: int = 0
    present: int = 0
    removed: int = 0
    absent: int = 0
    repeated: int = 0
    loops: int = 0
    refused: int = 0
    invalid: int = 0


@dataclass(frozen=True)
class VertexCounts:
    """What came of a removal of vertices; `removed_edges` are directed ones."""

    removed: int = 0
    invalid: int = 0
    removed_edges: int = 0


@dataclass(frozen=True)
class Memory:
    """Memory of a graph, in bytes. None stands for what the heap's design does not tell."""

    live_bytes: int
    block_bytes: int
    record_bytes: int
    scratch_bytes: int
    heap_committed_bytes: int | None
    heap_live_bytes: int | None


@dataclass(frozen=True)
class Csr:
    """A graph in compressed sparse rows: `indices[indptr[v]:indptr[v + 1]]` are the neighbours of `v`, ascending.

    NumPy arrays on the host, `DeviceArray` on a GPU: `indptr` of int64, `indices` of int32, `weights` of float32.
    """

    indptr: Any
    indices: Any
    weights: Any | None = None
