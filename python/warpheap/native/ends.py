# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a compiled library that ends with an object of Python."""

import os
import weakref
from collections.abc import Callable
from typing import Any


def end_with(owner: Any, end: Callable[[int], Any], address: int) -> Callable[[], Any]:
    """Call `end(address)` once: when `owner` ends, when the process does, or before by a call of what is returned.

    A child that was forked off never calls it: the library and the driver do not work there, and the memory is the
    parent's.
    """
    return weakref.finalize(owner, _end_in, os.getpid(), end, address)


def _end_in(process: int, end: Callable[[int], Any], address: int) -> None:
    if os.getpid() == process:
        end(address)
