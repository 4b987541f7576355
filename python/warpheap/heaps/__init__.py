# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps from Python, on a GPU or on the host, through the C interface <warpheap/heap/heap.h>.

`warpheap.Heap` is this package's class. docs/python.md shows how it is used.
"""

from warpheap.heaps.heap import Heap
from warpheap.heaps.library import HeapError, NotSupported
from warpheap.heaps.results import Fault, Statistics
from warpheap.native.arrays import DeviceArray

__all__ = ["DeviceArray", "Fault", "Heap", "HeapError", "NotSupported", "Statistics"]
