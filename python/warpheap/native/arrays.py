# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out: NumPy's on the host, and on a GPU whatever has `__cuda_array_interface__` or `__dlpack__`.

Arrays of a GPU are read where they lie. What is given for a GPU and lies on the host is copied there.
"""

from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from warpheap.native import dlpack
from warpheap.native.ends import end_with


class ArrayLibrary(Protocol):
    """What makes arrays in device memory: a compiled library, or that on a device of its own."""

    @property
    def backend(self) -> str:
        """Where arrays are: "cuda" or "host"."""

    @property
    def uses_device_arrays(self) -> bool:
        """True if arrays are in memory of a GPU."""

    @property
    def array_make(self) -> Any:
        """Call with bytes and a pointer to the address."""

    @property
    def array_copy(self) -> Any:
        """Call with two addresses, where to and where from, and bytes."""

    @property
    def array_end(self) -> Any:
        """Call with the address."""

    @property
    def array_widen(self) -> Any:
        """Call with two addresses and a count: numbers of 32 bits become those of 64."""

    @property
    def await_stream(self) -> Any:
        """Call with a stream."""

    def array_device(self) -> int:
        """Return the number of the device."""


class DeviceArray:
    """An array of one dimension in device memory of the GPU with the number `device`, which it owns.

    Any library that knows `__cuda_array_interface__` or DLPack takes it without a copy: `cupy.asarray(a)`,
    `torch.from_dlpack(a)`, `jax.dlpack.from_dlpack(a)`. `to_numpy` copies it to the host.
    """

    def __init__(self, library: ArrayLibrary, size: int, dtype: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.size = size
        self._library = library
        self.device = library.array_device()
        place = c_void_p()
        library.array_make(size * self.dtype.itemsize, byref(place))
        self.address: int = place.value or 0
        end_with(self, library.array_end, self.address)

    @property
    def shape(self) -> tuple[int]:
        """Number of elements, in a tuple."""
        return (self.size,)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"DeviceArray({self.size} x {self.dtype}, device {self.device})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray is neither copied nor pickled, since it owns memory that ends once: hand on the array "
            "itself, or a copy on the host, which to_numpy() makes"
        )

    def to_numpy(self) -> NDArray[Any]:
        """A copy of the elements on the host."""
        values = np.empty(self.size, self.dtype)
        self._library.array_copy(values.ctypes.data, self.address, values.nbytes)
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in device memory comes to the host by a copy: leave copy=False out")
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._library.backend != "cuda":
            raise AttributeError("__cuda_array_interface__")
        # Each call of the library ends when its results are there, so no stream need be waited for.
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address if self.size else 0, False),
            "version": 3,
            "strides": None,
            "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.CUDA, self.device) if self._library.backend == "cuda" else (dlpack.CPU, 0)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("a DeviceArray is handed on where it lies: leave dl_device and copy out, or use to_numpy")
        return dlpack.export(self, self.address, self.size, self.dtype, self.__dlpack_device__())


@dataclass(frozen=True)
class Taken:
    """An array as the library reads it. As long as `owner` is there, so is its memory."""

    address: int
    size: int
    owner: object


NOTHING = Taken(0, 0, None)


def is_array(value: object) -> bool:
    """True for what holds its elements in one piece of memory, on whichever machine."""
    return any(hasattr(value, name) for name in ("__array_interface__", "__cuda_array_interface__", "__dlpack__"))


def make(library: ArrayLibrary, size: int, dtype: Any) -> Any:
    """An array for the library to write: `DeviceArray` on a GPU, NumPy's on the host."""
    return DeviceArray(library, size, dtype) if library.uses_device_arrays else np.empty(size, dtype)


def address_of(array: Any) -> int:
    """Address of the first element of what `make` made."""
    return array.address if isinstance(array, DeviceArray) else int(array.ctypes.data)


def to_host(array: Any) -> NDArray[Any]:
    """What `make` made, as an array of NumPy."""
    return array.to_numpy() if isinstance(array, DeviceArray) else array


def take_numbers(library: ArrayLibrary, values: Any, name: str, what: str) -> Taken:
    """Integers of 64 bits without a sign, on the host of any size; `what` they are, for messages."""
    found = on_device(library, values, name)
    if found is None:
        here = on_host(values, name)
        if here.size and here.dtype.kind not in "iu":
            raise TypeError(f"{name} is of {here.dtype}: {what} are integers; convert it, as by astype('int64')")
        if here.dtype.kind == "i" and here.size and here.min() < 0:
            raise ValueError(f"{name} has the negative number {here.min()}: {what} are not negative")
        return hand_over(library, np.ascontiguousarray(here, dtype=np.uint64))
    if found.kind in ("i8", "u8"):
        return Taken(found.address, found.shape[0], found.owner)
    if found.kind in ("i4", "u4"):
        wide = DeviceArray(library, found.shape[0], np.uint64)
        library.array_widen(wide.address, found.address, wide.size)
        return Taken(wide.address, wide.size, (wide, found.owner))
    raise TypeError(f"{name} is of '{found.kind}': {what} on a GPU are int64 or int32; convert it first")


def on_host(values: Any, name: str) -> NDArray[Any]:
    """An array of one dimension of NumPy."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} has a mask: give an array whose elements all count, as by compressed()")
    try:
        here = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise TypeError(f"{name} is no array of numbers: {error}") from error
    _require_one_dimension(name, here.shape)
    return here


def hand_over(library: ArrayLibrary, here: NDArray[Any]) -> Taken:
    """An array of the host, or its copy on the GPU of the library."""
    if not library.uses_device_arrays:
        return Taken(here.ctypes.data, here.size, here)
    there = DeviceArray(library, here.size, here.dtype)
    library.array_copy(there.address, here.ctypes.data, here.nbytes)
    return Taken(there.address, there.size, there)


def _require_one_dimension(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 1:
        raise ValueError(f"{name} has the shape {shape}: give an array of one dimension")


def on_device(library: ArrayLibrary, values: Any, name: str) -> dlpack.Layout | None:
    """The layout of an array in device memory, ready for the default stream; None for what is on the host."""
    if isinstance(values, np.ndarray | np.generic | list | tuple):
        return None
    found: dlpack.Layout | None
    if isinstance(values, DeviceArray):
        _require_device(library, name, (dlpack.CUDA, values.device))
        found = dlpack.Layout(values.address, values.shape, None, values.dtype.str[1:], values)
    else:
        # Where the array lies, which __cuda_array_interface__ does not say.
        place = values.__dlpack_device__() if hasattr(values, "__dlpack_device__") else None
        place = None if place is None else (int(place[0]), int(place[1]))
        found = _by_cuda_interface(library, values, name, place)
        if found is None and place is not None and place[0] != dlpack.CPU and hasattr(values, "__dlpack__"):
            _require_device(library, name, place)
            found = dlpack.read(values, dlpack.DEFAULT_STREAM)
    if found is None:
        return None
    _require_one_dimension(name, found.shape)
    if found.strides is not None and found.shape[0] > 1 and found.strides[0] != 1:
        raise ValueError(
            f"{name} has a stride of {found.strides[0]} elements: on a GPU elements lie one after another; "
            "copy it, as by cupy.ascontiguousarray or .contiguous()"
        )
    return found


def _require_device(library: ArrayLibrary, name: str, place: tuple[int, int] | None) -> None:
    """Refuse an array that kernels of the library cannot read. `place`: as DLPack has it; None where nobody says."""
    kind, number = (dlpack.CUDA_MANAGED, 0) if place is None else place
    if kind not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        raise TypeError(f"{name} lies on a device of DLPack's type {kind}: it is to be on the host or CUDA")
    if not library.uses_device_arrays:
        raise TypeError(f"{name} is in memory of a GPU and what takes it is on the host: make that with backend='cuda'")
    if kind == dlpack.CUDA and number != library.array_device():
        raise ValueError(f"{name} lies on GPU {number}, and this works on GPU {library.array_device()}: copy it there")


def _by_cuda_interface(
    library: ArrayLibrary, values: Any, name: str, place: tuple[int, int] | None
) -> dlpack.Layout | None:
    interface: dict[str, Any] | None = getattr(values, "__cuda_array_interface__", None)
    if interface is None:
        return None
    _require_device(library, name, place)
    if interface.get("mask") is not None:
        raise TypeError(f"{name} has a mask: give an array whose elements all count")
    kind = str(interface["typestr"])
    if kind[:1] == ">":
        raise TypeError(f"{name} is big-endian: convert it first")
    item = int(kind[2:])
    shape = tuple(int(size) for size in interface["shape"])
    strides = interface.get("strides")
    # A stride that is no whole number of elements becomes one of 0, which is refused as any other.
    in_elements = None if strides is None else tuple(each // item if each % item == 0 else 0 for each in strides)
    stream: SupportsIndex | None = interface.get("stream")
    if stream is not None:
        library.await_stream(int(stream))
    return dlpack.Layout(int(interface["data"][0] or 0), shape, in_elements, kind[1:], values)
