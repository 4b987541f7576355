# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled library of pools, as ctypes knows it."""

import ctypes
from ctypes import POINTER, c_char, c_int, c_int32, c_size_t, c_ssize_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from warpheap.native import library as native

ABI = 1
VARIABLE = "WARPHEAP_POOL_LIBRARY"

# Bits of the options.
PLAIN = 1
SHARED = 2

HANDLE_BYTES = 192


class PoolError(RuntimeError):
    """The library could not do what it was asked for; the message is the library's."""


class NotSupported(PoolError):
    """A capture of the stream was not begun for the pool, or the memory of the pool cannot be exported."""


class PoolOptions(ctypes.Structure):
    """How a pool is made."""

    _fields_ = (
        ("struct_bytes", c_uint64),
        ("reserve_bytes", c_uint64),
        ("initial_bytes", c_uint64),
        ("span_bytes", c_uint64),
        ("piece_bytes", c_uint64),
        ("flags", c_uint32),
        ("device", c_int32),
    )


# What a pool tells, in the order of the interface.
FIGURES = (
    "reserved_bytes",
    "committed_bytes",
    "peak_committed_bytes",
    "live_bytes",
    "peak_live_bytes",
    "live_blocks",
    "peak_live_blocks",
    "deferred_bytes",
    "stream_bytes",
    "private_bytes",
    "common_bytes",
    "allocations",
    "deallocations",
    "allocated_bytes",
    "deallocated_bytes",
    "failures",
    "streams",
    "captures",
    "gatherings",
    "waits",
)


class RawStatistics(ctypes.Structure):
    """What a pool has taken and handed out."""

    _fields_ = tuple((name, c_uint64) for name in ("struct_bytes", *FIGURES))


_POOL = c_void_p
_BLOCK = c_void_p
_STREAM = c_void_p
_CALLS: dict[str, tuple[Any, ...]] = {
    "make": (POINTER(PoolOptions), POINTER(c_void_p)),
    "end": (_POOL,),
    "of_device": (c_int32, POINTER(c_void_p)),
    "allocate": (_POOL, c_uint64, c_uint64, _STREAM, POINTER(c_void_p)),
    "deallocate": (_POOL, _BLOCK, _STREAM),
    "note_use": (_POOL, _BLOCK, _STREAM),
    "forget": (_POOL, _STREAM),
    "trim": (_POOL, c_uint64, POINTER(c_uint64)),
    "block_bytes": (_POOL, _BLOCK, POINTER(c_uint64)),
    "statistics_of": (_POOL, POINTER(RawStatistics)),
    "reset_peaks": (_POOL,),
    "snapshot": (_POOL, POINTER(c_char), c_uint64, POINTER(c_uint64)),
    # The last two are a function and its argument; from Python a stream belongs that is captured with the one named.
    "begin_capture": (_POOL, c_uint64, c_uint64, _STREAM, c_void_p, c_void_p),
    "end_capture": (_POOL, c_uint64, c_uint64),
    "release_capture": (_POOL, c_uint64, c_uint64, _STREAM),
    "limit": (_POOL, c_uint64),
    "allow_peer": (_POOL, c_int32),
    "export": (_POOL, _BLOCK, POINTER(c_char)),
    "import": (POINTER(c_char), c_int32, POINTER(c_void_p), POINTER(c_uint64)),
    "release_import": (_BLOCK,),
    "imports": (POINTER(c_uint64), POINTER(c_uint64)),
}
_ANSWERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "device_available": (c_uint32, ()),
    "device_count": (c_int32, ()),
    "device": (c_int32, (_POOL,)),
    "owns": (c_uint32, (_POOL, c_void_p)),
    "torch_malloc": (c_void_p, (c_ssize_t, c_int, _STREAM)),
    "torch_free": (None, (_BLOCK, c_ssize_t, c_int, _STREAM)),
    "cupy_malloc": (c_void_p, (c_void_p, c_size_t, c_int)),
    "cupy_free": (None, (c_void_p, _BLOCK, c_int)),
}
# What the numbers of `wh_pool_status` are raised as; all others as a PoolError.
_ERRORS: dict[int, type[Exception]] = {1: ValueError, 2: OverflowError, 3: MemoryError, 6: NotSupported}
INTERFACE = native.Interface("pool", "pools", VARIABLE, _CALLS, _ANSWERS, _ERRORS, PoolError, has_designs=False)


class Library(native.CLibrary):
    """A loaded library. Its functions are attributes without the prefix `wh_pool_`; a call that fails raises."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, INTERFACE, ABI)
        self.import_ = getattr(self, "import")  # which is a word of Python


LIBRARIES = native.Libraries(INTERFACE, Library)
find_library = LIBRARIES.find
load_library = LIBRARIES.load
load_for_gpu = LIBRARIES.load_for_gpu
