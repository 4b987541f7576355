# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""cuda.core with warpheap: heaps in its kernels (`link`, `launch`), and its buffers from a pool (`PoolResource`)."""

from typing import Any

from warpheap.cuda_core.kernels import launch, link

__all__ = ["PoolResource", "launch", "link"]


def __getattr__(name: str) -> Any:
    """`PoolResource`, whose base class is cuda.core's: so the import of this module needs no cuda.core."""
    if name == "PoolResource":
        from warpheap.cuda_core.buffers import PoolResource

        return PoolResource
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
