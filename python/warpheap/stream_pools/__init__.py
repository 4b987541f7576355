# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Pools in stream order from Python, on a GPU or on the host, through the C interface <warpheap/pool/pool.h>.

`warpheap.Pool` is this package's class. docs/pool_python.md shows how it is used, and how frameworks take their memory
from it.
"""

from warpheap.stream_pools.imported import ImportedBlock
from warpheap.stream_pools.library import NotSupported, PoolError
from warpheap.stream_pools.pool import Pool
from warpheap.stream_pools.results import Segment, Snapshot, Statistics

__all__ = ["ImportedBlock", "NotSupported", "Pool", "PoolError", "Segment", "Snapshot", "Statistics"]
