# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`Heap`: memory of which kernels take blocks, and to which they give them back."""

from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any

import numpy as np

from warpheap.heaps import library as lib
from warpheap.heaps.results import KINDS, Fault, Statistics
from warpheap.native.arguments import byte_count, design_name, device_number
from warpheap.native.arrays import address_of, make, take_numbers
from warpheap.native.made_object import MadeObject

_UNKNOWN = 2**64 - 1


class Heap(MadeObject):
    """A heap in the memory of a GPU or of the host, with `malloc` and `free` inside kernels.

    Kernels that are linked with the device library take `handle`, a number: `warpheap.numba` and `warpheap.cupy` show
    how. From Python, `malloc` and `free` work on whole arrays, in one launch each. Blocks outlive kernels, and end with
    the heap: by `reset`, `close` or the end of a `with`. Threads may share a heap: one call waits for another. No
    kernel uses the heap while it grows, moves, is reset, trimmed or closed.
    """

    _kind = "heap"
    _library: lib.Library

    def __init__(
        self,
        bytes: int,
        design: str = "warp_slab",
        checked: bool = False,
        device: int | None = None,
        *,
        plain: bool = False,
        reserve_bytes: int = 0,
        raise_stack_limit: bool = True,
        backend: str | None = None,
    ) -> None:
        """A heap whose blocks lie in `bytes` bytes.

        `design`: one of `Heap.designs()`. `checked`: find what kernels do wrong with blocks, see `first_fault`.
        `device`: the number of the GPU, by default the current one. `plain`: memory that is not mapped; a small heap
        takes less of a GPU so, and cannot grow. `reserve_bytes`: addresses, as far as the heap can grow; by default as
        much as the device has memory. `raise_stack_limit`: raise the device's limit for the stack of a thread by what
        calls of the heap need. `backend`: "cuda" or "host"; None takes a GPU if the library for it is built and a GPU
        answers.

        Raises `ValueError` for what cannot be right, `OverflowError` for more bytes than addresses, `NotSupported` for
        a design that cannot be checked, and `HeapError` or `MemoryError` if the machine refuses the memory.
        """
        size = byte_count(bytes, "bytes", 1)
        design_bytes = design_name(design)
        library = lib.load_library(backend)
        flags = lib.CHECKED * bool(checked) | lib.PLAIN * bool(plain)
        flags |= lib.KEEPS_STACK_LIMIT * (not raise_stack_limit)
        options = lib.HeapOptions(
            size,
            design_bytes,
            flags,
            -1 if device is None else device_number(device),
            byte_count(reserve_bytes, "reserve_bytes", 0),
        )
        made = c_void_p()
        library.create(byref(options), byref(made))
        address = self._hold(library, made, library.destroy)
        self._arrays = lib.ArraysOfHeap(library, address)
        self._size = size
        self._design = design
        self._checked = bool(checked)
        self._device = int(library.device(address))
        self._handle = int(library.handle(address))

    @staticmethod
    def designs(backend: str | None = None) -> list[str]:
        """The names of designs that heaps can have."""
        return list(lib.load_library(backend).designs)

    @staticmethod
    def device_count(backend: str | None = None) -> int:
        """Number of devices that heaps can be made on."""
        return int(lib.load_library(backend).device_count())

    # --- What the heap is ---------------------------------------------------------------------------------------------

    @property
    def handle(self) -> int:
        """Address of the heap's handle in device memory, which kernels take as a number of 64 bits without a sign.

        It stays the same as long as the heap is open, and follows the heap when that moves.
        """
        self._open()
        return self._handle

    @property
    def size(self) -> int:
        """Bytes in which blocks lie: what was asked for when the heap was made, grew or moved."""
        return self._size

    @property
    def design(self) -> str:
        """The design's name."""
        return self._design

    @property
    def checked(self) -> bool:
        """True if the heap finds what kernels do wrong with blocks."""
        return self._checked

    @property
    def device(self) -> int:
        """Number of the heap's device, from 0 on."""
        return self._device

    def statistics(self) -> Statistics:
        """What the heap has taken and handed out, in bytes. While kernels use the heap, live bytes are a guess."""
        with self._lock:
            raw = lib.RawStatistics()
            self._library.statistics_of(self._open(), byref(raw))
        live = None if raw.live_bytes == _UNKNOWN else raw.live_bytes
        return Statistics(raw.size_bytes, raw.reserved_bytes, raw.committed_bytes, raw.metadata_bytes, live)

    def first_fault(self) -> Fault | None:
        """The first fault since the heap was made or reset, or `clear_fault`; None if the use was right.

        Raises `NotSupported` for a heap that is not checked.
        """
        with self._lock:
            heap = self._open()
            if not self._checked:
                raise lib.NotSupported("the heap records no faults: make it with checked=True")
            raw = lib.RawFault()
            self._library.first_fault(heap, byref(raw))
        if raw.kind == 0:
            return None
        text = raw.text.decode(errors="replace")
        kind = KINDS[raw.kind - 1]
        return Fault(kind, raw.thread_index, raw.block_index, raw.pointer, raw.bytes or None, text)

    def clear_fault(self) -> None:
        """Forget the first fault, so that the next one is kept."""
        with self._lock:
            self._library.clear_fault(self._open())

    # --- Blocks -------------------------------------------------------------------------------------------------------

    def malloc(self, sizes: Any) -> Any:
        """Take a block for each element of `sizes`, in one launch.

        `sizes`: bytes of each block, integers in an array of shape (n,): NumPy's or a sequence, or on a GPU anything
        with `__cuda_array_interface__` or `__dlpack__`. Returns the addresses, uint64 of shape (n,): NumPy's on the
        host, `DeviceArray` on a GPU. An address is 0 where the heap could not serve the size, and for a size of 0.
        """
        with self._lock:
            heap = self._open()
            taken = take_numbers(self._arrays, sizes, "sizes", "sizes")
            blocks = make(self._arrays, taken.size, np.uint64)
            self._library.malloc(heap, taken.address, address_of(blocks), taken.size)
            return blocks

    def free(self, blocks: Any) -> None:
        """Give back the blocks at the addresses `blocks`, an array as `malloc` takes and returns; 0 is ignored."""
        with self._lock:
            heap = self._open()
            taken = take_numbers(self._arrays, blocks, "blocks", "addresses")
            self._library.free(heap, taken.address, taken.size)

    # --- The whole heap -----------------------------------------------------------------------------------------------

    def grow(self, bytes: int) -> None:
        """Hand out up to `bytes` bytes, at the same addresses: blocks and the handle stay valid.

        A smaller figure than now changes nothing. Raises `OverflowError` if the heap has too few addresses.
        """
        size = byte_count(bytes, "bytes", 0)
        with self._lock:
            self._library.grow(self._open(), size)
            self._size = max(self._size, size)

    def relocate(self, bytes: int) -> int:
        """Move the heap to a place of `bytes` bytes, at least its present size; for one that cannot grow so far.

        Returns by how many bytes each block moved: addresses of blocks are to be replaced. The handle stays valid.
        """
        distance = c_int64()
        size = byte_count(bytes, "bytes", 0)
        with self._lock:
            self._library.relocate(self._open(), size, byref(distance))
            self._size = size
        return distance.value

    def reset(self) -> None:
        """Take all blocks back."""
        with self._lock:
            self._library.reset(self._open())

    def trim(self) -> int:
        """Give memory that no block lies in back to the machine, until `restore`. Returns how many bytes."""
        given_back = c_uint64()
        with self._lock:
            self._library.trim(self._open(), byref(given_back))
        return given_back.value

    def restore(self) -> None:
        """Take all memory again that `trim` gave back."""
        with self._lock:
            self._library.restore(self._open())

    def __repr__(self) -> str:
        if self.closed:
            return "Heap(closed)"
        checked = ", checked" if self._checked else ""
        return f"Heap({self._size} bytes, {self._design}{checked}, {self.backend} {self._device})"
