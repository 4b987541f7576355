# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that graphs take: ids of vertices, offsets of rows, and weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpheap.dynamic.library import ArraysOfGraph, Library
from warpheap.native.arrays import DeviceArray, Taken, hand_over, on_device, on_host, take_numbers

# What ids become that are no ids of 32 bits: a vertex that no graph has, so batches count it as invalid.
INVALID = 0xFFFFFFFF


def take_ids(library: Library | ArraysOfGraph, values: Any, name: str) -> Taken:
    """Ids of vertices: integers of 32 or 64 bits, on the host of any size. What is no id of 32 bits becomes INVALID."""
    found = on_device(library, values, name)
    if found is None:
        here = on_host(values, name)
        if here.size and here.dtype.kind not in "iu":
            raise TypeError(f"{name} is of {here.dtype}: ids are integers; convert it, as by astype('int32')")
        return hand_over(library, _narrow(here))
    if found.kind in ("i4", "u4"):
        return Taken(found.address, found.shape[0], found.owner)
    if found.kind in ("i8", "u8"):
        narrow = DeviceArray(library, found.shape[0], np.uint32)
        library.array_narrow(narrow.address, found.address, narrow.size)
        return Taken(narrow.address, narrow.size, (narrow, found.owner))
    raise TypeError(f"{name} is of '{found.kind}': ids on a GPU are int32, uint32 or int64; convert it")


def take_offsets(library: Library | ArraysOfGraph, values: Any, name: str) -> Taken:
    """Offsets of rows: integers of 64 bits, on the host of any size."""
    return take_numbers(library, values, name, "offsets")


def take_floats(library: Library | ArraysOfGraph, values: Any, name: str) -> Taken:
    """Numbers of 32-bit floating point, on the host any that can become such."""
    found = on_device(library, values, name)
    if found is None:
        here = on_host(values, name)
        if here.dtype.kind not in "iuf":
            raise TypeError(f"{name} is of {here.dtype}: it holds real numbers; convert it, as by astype('float32')")
        return hand_over(library, np.ascontiguousarray(here, dtype=np.float32))
    if found.kind != "f4":
        raise TypeError(f"{name} is of '{found.kind}': on a GPU it is float32; convert it first")
    return Taken(found.address, found.shape[0], found.owner)


def _narrow(ids: NDArray[Any]) -> NDArray[np.uint32]:
    if ids.dtype in (np.int32, np.uint32):
        return np.ascontiguousarray(ids).view(np.uint32)
    wide = ids if ids.dtype == np.uint64 else ids.astype(np.int64)
    return np.where((wide >= 0) & (wide < INVALID), wide, INVALID).astype(np.uint32)
