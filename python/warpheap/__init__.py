# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""warpheap: heaps for kernels, pools in stream order, dynamic graphs, and the survey of GPU memory allocators."""

import importlib
from typing import Any

__version__ = "0.1.0"


# Public names, and the modules that have them.
_PUBLIC = {
    "Graph": "dynamic",
    "Heap": "heaps",
    "ImportedBlock": "stream_pools",
    "Pool": "stream_pools",
    "cmake": "device_code",
    "include": "device_code",
}


def __getattr__(name: str) -> Any:
    # The root is the lowest layer, so that nothing is loaded which a command does not need: the public names come from
    # above when somebody asks for them.
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"warpheap.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'warpheap' has no attribute '{name}'")
