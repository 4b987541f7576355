# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""warpheap: dynamic graphs in the memory of a GPU, and the survey of GPU memory allocators."""

import importlib
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The root is the lowest layer, so that nothing is loaded which a command does not need: the public class comes from
    # above when somebody asks for it.
    if name == "Graph":
        return importlib.import_module("warpheap.dynamic").Graph
    raise AttributeError(f"module 'warpheap' has no attribute '{name}'")
