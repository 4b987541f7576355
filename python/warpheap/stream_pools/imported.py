# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`ImportedBlock`: a block of another process's pool, mapped into this one."""

from ctypes import byref, c_char, c_uint64, c_void_p
from typing import Any

from warpheap.native.arguments import device_number
from warpheap.native.made_object import MadeObject
from warpheap.stream_pools import library as lib


class ImportedBlock(MadeObject):
    """A block that another process of the same machine and user exported by `Pool.export`.

    `close`, or the end of a `with`, releases it, after the work of this process that uses it is done. The other process
    keeps the block until then. Nothing orders the work of the two: they tell each other when work is done.

    On a GPU `cupy.asarray(block)` and `torch.as_tensor(block)` are its bytes without a copy, on the host
    `numpy.asarray(block)`; such an array is not used after `close`.
    """

    _kind = "imported block"

    def __init__(self, handle: bytes, device: int | None = None, *, backend: str | None = None) -> None:
        """Map the block that `handle` names, which is what `Pool.export` returned.

        `device`: the number of the GPU that is to use it; None is the one that the memory is of. `backend`: that of the
        pool, "cuda" or "host"; None takes a GPU if the library for it is built and a GPU answers.

        Raises `TypeError` for what is no bytes, `ValueError` for bytes that are no handle, that are of another backend,
        or of this same process, and `PoolError` or `MemoryError` if the memory is gone or cannot be mapped.
        """
        if not isinstance(handle, bytes | bytearray | memoryview):
            raise TypeError(f"handle is of type {type(handle).__name__}: give the bytes that Pool.export returned")
        given = bytes(handle)
        if len(given) != lib.HANDLE_BYTES:
            raise ValueError(
                f"handle has {len(given)} bytes, and Pool.export returns {lib.HANDLE_BYTES}: give it whole"
            )
        number = -1 if device is None else device_number(device)
        library = lib.load_library(backend)
        block, size = c_void_p(), c_uint64()
        library.import_((c_char * lib.HANDLE_BYTES).from_buffer_copy(given), number, byref(block), byref(size))
        self._bytes = size.value
        self._hold(library, block, library.release_import)

    @property
    def address(self) -> int:
        """Where the block begins in this process."""
        return self._open()

    @property
    def bytes(self) -> int:
        """Size of the block, its rounding included."""
        return self._bytes

    def _interface(self, backend: str, name: str) -> dict[str, Any]:
        if self._library.backend != backend:
            raise AttributeError(name)
        return {"shape": (self._bytes,), "typestr": "|u1", "data": (self._open(), False), "version": 3}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._interface("host", "__array_interface__")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface("cuda", "__cuda_array_interface__")

    def __repr__(self) -> str:
        return "ImportedBlock(closed)" if self.closed else f"ImportedBlock({self.backend}, {self._bytes} bytes)"
