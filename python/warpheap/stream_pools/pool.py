# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`Pool`: device memory that the host takes and gives back in the order of streams."""

import ctypes
import operator
import threading
from collections import Counter
from ctypes import byref, c_uint64, c_void_p
from typing import Any, Self

from warpheap.native.arguments import byte_count, device_number, stream_number, whole_number
from warpheap.native.made_object import MadeObject
from warpheap.stream_pools import library as lib
from warpheap.stream_pools.results import Snapshot, Statistics

# By the address of the pool, since several objects stand for the pool of a device, and the number of the stream.
_forgets: Counter[tuple[int, int]] = Counter()
_forgets_lock = threading.Lock()


class Pool(MadeObject):
    """A pool in the memory of a GPU or of the host, which hands out blocks in the order of streams.

    A block is for work on the stream that it was taken for, and is given back while work that the stream was given
    still uses it: the pool hands it to another stream only after that work. A stream can be the number of a
    `cudaStream_t`, or a stream of cuda.core, CuPy, PyTorch or Numba; None stands for the default stream. Any thread can
    call a pool at any time, but for `close`, which comes after all other calls.
    """

    _kind = "pool"
    _library: lib.Library

    def __init__(
        self,
        device: int | None = None,
        *,
        reserve_bytes: int = 0,
        initial_bytes: int = 0,
        span_bytes: int = 0,
        piece_bytes: int = 0,
        plain: bool = False,
        shared: bool = False,
        backend: str | None = None,
    ) -> None:
        """A pool of its own, on the GPU with the number `device`; None is the current one.

        `reserve_bytes`: addresses to reserve, as far as the pool can grow; 0: twice the device's memory.
        `initial_bytes`: memory to take at once. `span_bytes`: the most that a stream takes at once, unless a
        block needs more; 0: 32 MiB. `piece_bytes`: the pool takes memory and gives it back in pieces of this
        size; 0: 32 MiB. `plain`: memory that is not mapped, all of it taken at once. `shared`: as `plain`, and
        other processes can map it: for `export`; say by `reserve_bytes` how much. `backend`: "cuda" or "host";
        None takes a GPU if the library for it is built and a GPU answers.

        Raises `ValueError` for what cannot be right, `OverflowError` for more bytes than addresses, `MemoryError` or
        `PoolError` if the machine refuses, and `UsageError` if the library is not built.
        """
        options = lib.PoolOptions(
            ctypes.sizeof(lib.PoolOptions),
            byte_count(reserve_bytes, "reserve_bytes", 0),
            byte_count(initial_bytes, "initial_bytes", 0),
            byte_count(span_bytes, "span_bytes", 0),
            byte_count(piece_bytes, "piece_bytes", 0),
            lib.PLAIN * bool(plain) | lib.SHARED * bool(shared),
            -1 if device is None else device_number(device),
        )
        library = lib.load_library(backend)
        made = c_void_p()
        library.make(byref(options), byref(made))
        self._use(library, made, library.end)

    @classmethod
    def of_device(cls, device: int | None = None, *, backend: str | None = None) -> Self:
        """The pool that the process has in common for a GPU; None is the current one.

        The first call for a GPU makes it. PyTorch, CuPy, Numba and cuda.core take from this pool unless they are given
        another. It lives as long as the process, so `close` only lets this object go.
        """
        number = -1 if device is None else device_number(device)
        library = lib.load_library(backend)
        found = c_void_p()
        library.of_device(number, byref(found))
        pool = cls.__new__(cls)
        pool._use(library, found, None)
        return pool

    def _use(self, library: lib.Library, found: c_void_p, end: Any) -> None:
        self._device = int(library.device(self._hold(library, found, end)))
        # Looked up once: frameworks call these often.
        self._take = library.allocate
        self._give = library.deallocate

    # --- What the pool is ---------------------------------------------------------------------------------------------

    @property
    def device(self) -> int:
        """Number of the pool's device, from 0 on."""
        return self._device

    @staticmethod
    def device_count(backend: str | None = None) -> int:
        """Number of devices that pools can be made on."""
        return int(lib.load_library(backend).device_count())

    def statistics(self) -> Statistics:
        """What the pool has taken and handed out."""
        raw = lib.RawStatistics(ctypes.sizeof(lib.RawStatistics))
        self._library.statistics_of(self._open(), byref(raw))
        return Statistics(**{name: getattr(raw, name) for name in lib.FIGURES})

    def reset_peaks(self) -> None:
        """Make each peak what its figure is now."""
        self._library.reset_peaks(self._open())

    def snapshot(self) -> Snapshot:
        """All segments of the pool, in the order of their addresses. `warpheap.memory_map` draws them."""
        return Snapshot.read(self._snapshot_text())

    def _snapshot_text(self) -> bytes:
        pool = self._open()
        needed = c_uint64()
        self._library.snapshot(pool, None, 0, byref(needed))
        while True:
            # Other threads may make the text longer meanwhile.
            room = needed.value + 4096
            text = ctypes.create_string_buffer(room)
            try:
                self._library.snapshot(pool, text, room, byref(needed))
                return text.value
            except ValueError:
                if needed.value <= room:
                    raise

    # --- Blocks -------------------------------------------------------------------------------------------------------

    def allocate(self, bytes: int, stream: Any = None, alignment: int = 0) -> int:
        """Take a block of at least `bytes` bytes for work on `stream`; returns its address.

        `alignment`: a power of two that the address is a multiple of, at least 256. No bytes are a block of 256. The
        contents are anything. Raises `MemoryError` if nothing that is free can hold the block, and `NotSupported` for a
        stream that is being captured without `begin_capture`.
        """
        block = c_void_p()
        self._take(
            self._open(),
            byte_count(bytes, "bytes", 0),
            byte_count(alignment, "alignment", 0),
            stream_number(stream),
            byref(block),
        )
        assert block.value is not None
        return block.value

    def deallocate(self, block: int, stream: Any = None) -> None:
        """Take a block back, after all work that `stream` was given so far; 0 is ignored.

        Work of other streams that uses the block either comes before that, or was noted by `note_use`. Raises
        `ValueError` for an address at which no live block begins.
        """
        self._give(self._open(), _address(block), stream_number(stream))

    def note_use(self, block: int, stream: Any) -> None:
        """Note that work of `stream` uses a block: its memory is handed out again only after that work."""
        self._library.note_use(self._open(), _address(block), stream_number(stream))

    def forget(self, stream: Any) -> None:
        """Forget a stream that is about to be destroyed. Its blocks stay, and are given back on another."""
        pool, number = self._open(), stream_number(stream)
        self._library.forget(pool, number)
        with _forgets_lock:
            _forgets[pool, number] += 1

    def _count_forgets(self, stream: Any) -> int:
        """How often streams with this number were forgotten: the number may be that of another stream afterwards."""
        return _forgets[self._open(), stream_number(stream)]

    def trim(self, keep_bytes: int = 0) -> int:
        """Give memory that no block lies in back to the machine, but keep at least `keep_bytes`.

        Returns how many bytes were given back. Waits for the work that used that memory.
        """
        given_back = c_uint64()
        self._library.trim(self._open(), byte_count(keep_bytes, "keep_bytes", 0), byref(given_back))
        return given_back.value

    def limit(self, most_bytes: int | None) -> None:
        """Let the pool take no more memory while it has `most_bytes`; None: no limit but its addresses.

        What it has above that it keeps until `trim`. Before a request fails for the limit, whole pieces of free memory
        go where they make it fit, after the work that used them. Raises `ValueError` for a pool with `plain` or
        `shared`, which has all its memory already.
        """
        most = (1 << 64) - 1 if most_bytes is None else byte_count(most_bytes, "most_bytes", 0)
        self._library.limit(self._open(), most)

    def block_bytes(self, block: int) -> int:
        """Size of the live block that begins at an address, rounding included; 0 if no live block begins there."""
        found = c_uint64()
        self._library.block_bytes(self._open(), _address(block), byref(found))
        return found.value

    def export(self, block: int) -> bytes:
        """Name a live block for other processes of the same machine and user; the pool was made with `shared=True`.

        What is returned can be sent to them as it is; `warpheap.ImportedBlock` takes it there. It is good as long as
        the block is live: keep the block until the others have released it. Raises `ValueError` for an address at
        which no live block begins, and `NotSupported` for any other pool.
        """
        handle = ctypes.create_string_buffer(lib.HANDLE_BYTES)
        self._library.export(self._open(), _address(block), handle)
        return handle.raw

    def allow_peer(self, device: int) -> None:
        """Let another GPU reach all blocks, those that are handed out later too.

        Raises `PoolError` for a GPU that is not there, or that cannot reach this one's memory.
        """
        self._library.allow_peer(self._open(), device_number(device))

    def owns(self, address: int) -> bool:
        """True if an address lies in the range of the pool."""
        return bool(self._library.owns(self._open(), _address(address)))

    # --- Captures -----------------------------------------------------------------------------------------------------

    def begin_capture(self, name: tuple[int, int], stream: Any) -> None:
        """Let blocks for `stream` come from private memory that a graph can use each time it runs, until `end_capture`.

        Called before or after the stream's own capture begins. `name`: two numbers of 64 bits. Graphs of one name share
        the private memory, so they run one after another. Streams that are captured together with `stream` belong to
        it.
        """
        first, second = _name(name)
        self._library.begin_capture(self._open(), first, second, stream_number(stream), None, None)

    def end_capture(self, name: tuple[int, int]) -> None:
        """End what `begin_capture` began. The private memory is kept for the graph."""
        self._library.end_capture(self._open(), *_name(name))

    def release_capture(self, name: tuple[int, int], stream: Any = None) -> None:
        """Release the private memory of one `begin_capture`, when its graph is not run any more.

        After the last one the memory is for all streams, after all work that `stream` was given so far.
        """
        first, second = _name(name)
        self._library.release_capture(self._open(), first, second, stream_number(stream))

    # --- The life of a pool -------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the pool and all its blocks, after the work that its streams were given; once more does nothing."""
        super().close()

    def __repr__(self) -> str:
        if self.closed:
            return "Pool(closed)"
        return f"Pool({self.backend} {self._device}{'' if self._end is not None else ', of the process'})"


def _address(value: Any) -> int:
    return whole_number(value, "the block", 2**64 - 1, "an address, as allocate returns it")


def _name(value: Any) -> tuple[int, int]:
    try:
        first, second = (operator.index(each) for each in value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the name of a capture is {value!r}: it is two numbers, such as (1, 0)") from error
    if not (0 <= first < 2**64 and 0 <= second < 2**64):
        raise ValueError(f"the name of a capture is {value!r}: its numbers have 64 bits and no sign")
    return first, second
