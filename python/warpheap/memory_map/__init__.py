# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a pool's addresses hold: a page of their own, and a snapshot for PyTorch's memory viewer.

with warpheap.Pool() as pool:
    ...
    pathlib.Path("pool.html").write_text(warpheap.memory_map.page(pool.snapshot()), encoding="utf-8")
"""

from warpheap.memory_map.page import page
from warpheap.memory_map.viewer import for_pytorch
from warpheap.memory_map.write import write

__all__ = ["for_pytorch", "page", "write"]
