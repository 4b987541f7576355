# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled library of heaps, as ctypes knows it."""

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from warpheap.native import library as native

ABI = 1
VARIABLE = "WARPHEAP_HEAP_LIBRARY"

CHECKED, PLAIN, KEEPS_STACK_LIMIT = 1, 2, 4


class HeapError(RuntimeError):
    """The library could not do what it was asked for; the message is the library's."""


class NotSupported(HeapError):
    """The design of the heap cannot do what it was asked for."""


class _Sized(ctypes.Structure):
    """A structure of the interface, which begins with its own size."""

    def __init__(self, *values: Any) -> None:
        super().__init__(ctypes.sizeof(self), *values)


class HeapOptions(_Sized):
    """How a heap is made."""

    _fields_ = (
        ("struct_bytes", c_uint64),
        ("bytes", c_uint64),
        ("design", c_char_p),
        ("flags", c_uint32),
        ("device", c_int32),
        ("reserve_bytes", c_uint64),
    )


class RawStatistics(_Sized):
    """What a heap has taken and handed out."""

    _fields_ = (
        ("struct_bytes", c_uint64),
        ("size_bytes", c_uint64),
        ("reserved_bytes", c_uint64),
        ("committed_bytes", c_uint64),
        ("metadata_bytes", c_uint64),
        ("live_bytes", c_uint64),
    )


class RawFault(_Sized):
    """The first fault that a checked heap saw."""

    _fields_ = (
        ("struct_bytes", c_uint64),
        ("kind", c_uint32),
        ("thread_index", c_uint32),
        ("block_index", c_uint64),
        ("pointer", c_uint64),
        ("bytes", c_uint64),
        ("text", c_char * 256),
    )


# Arrays are addresses of device memory, which ctypes passes on as numbers.
_ARRAY = c_void_p
_HEAP = c_void_p
_CALLS: dict[str, tuple[Any, ...]] = {
    "array_make": (_HEAP, c_uint64, POINTER(c_void_p)),
    "array_copy": (_ARRAY, _ARRAY, c_uint64),
    "array_widen": (_HEAP, _ARRAY, _ARRAY, c_uint64),
    "await_stream": (_HEAP, c_uint64),
    "create": (POINTER(HeapOptions), POINTER(c_void_p)),
    "grow": (_HEAP, c_uint64),
    "relocate": (_HEAP, c_uint64, POINTER(c_int64)),
    "reset": (_HEAP,),
    "trim": (_HEAP, POINTER(c_uint64)),
    "restore": (_HEAP,),
    "statistics_of": (_HEAP, POINTER(RawStatistics)),
    "first_fault": (_HEAP, POINTER(RawFault)),
    "clear_fault": (_HEAP,),
    "malloc": (_HEAP, _ARRAY, _ARRAY, c_uint64),
    "free": (_HEAP, _ARRAY, c_uint64),
}
_ANSWERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "device_available": (c_uint32, ()),
    "device_count": (c_int32, ()),
    "current_device": (c_int32, ()),
    "array_end": (None, (_ARRAY,)),
    "destroy": (None, (_HEAP,)),
    "handle": (c_uint64, (_HEAP,)),
    "design": (c_char_p, (_HEAP,)),
    "device": (c_int32, (_HEAP,)),
    "flags": (c_uint32, (_HEAP,)),
}
# What the numbers of `wh_heap_status` are raised as; all others as a HeapError.
_ERRORS: dict[int, type[Exception]] = {1: ValueError, 2: OverflowError, 3: MemoryError, 6: NotSupported}
INTERFACE = native.Interface("heap", "heaps", VARIABLE, _CALLS, _ANSWERS, _ERRORS, HeapError)


class Library(native.CLibrary):
    """A loaded library. Its functions are attributes without the prefix `wh_heap_`; a call that fails raises."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, INTERFACE, ABI)


class ArraysOfHeap:
    """The functions for arrays, as `warpheap.native.arrays` calls them, on the device of one heap."""

    def __init__(self, library: Library, heap: int) -> None:
        self.backend = library.backend
        self.uses_device_arrays = library.uses_device_arrays
        self.array_copy = library.array_copy
        self.array_end = library.array_end
        self._library = library
        self._heap = heap

    def array_make(self, size: int, place: Any) -> None:
        """Set what `place` points to, to `size` bytes of memory of the device."""
        self._library.array_make(self._heap, size, place)

    def array_widen(self, to: int, source: int, count: int) -> None:
        """Write `count` numbers of 32 bits as those of 64."""
        self._library.array_widen(self._heap, to, source, count)

    def await_stream(self, stream: int) -> None:
        """Wait for what a stream of the device was given."""
        self._library.await_stream(self._heap, stream)

    def array_device(self) -> int:
        """Number of the device."""
        return int(self._library.device(self._heap))


LIBRARIES = native.Libraries(INTERFACE, Library)
find_library = LIBRARIES.find
load_library = LIBRARIES.load
