# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps in kernels of numba-cuda: a `warpheap.Heap` is an argument, and has `malloc`, `free` and `empty` there.

    import warpheap, warpheap.numba
    from numba import cuda

    @warpheap.numba.jit
    def kernel(heap, sums):
        i = cuda.grid(1)
        row = heap.empty(i % 7 + 1, np.float32)   # shape (n,), or (0,) if the heap is full
        ...
        heap.free(row)

    kernel[blocks, threads](heap, sums)

In a kernel:

* `heap.malloc(bytes)`: the address of a block of at least `bytes` bytes, aligned to 16, as a uint64; 0 if the heap
  cannot serve it.
* `heap.aligned_malloc(alignment, bytes)`: the same at a multiple of a power of two.
* `heap.empty(n, dtype)`: an array of shape (n,) in a block of its own, any contents; of shape (0,) if the heap cannot
  serve it, or if `n` is negative.
* `heap.free(block)`: gives back an array of `empty`, or an address of `malloc`; 0 is ignored.

Arrays that Numba makes itself, as `np.empty(n, np.float32)` in a kernel, come from the heap that `arrays_from` names,
if the kernel is made by `jit(arrays=True)`. Numba frees them when nothing refers to them any more.

    @warpheap.numba.jit(arrays=True)
    def kernel(sums): ...

    with warpheap.numba.arrays_from(heap):
        kernel[blocks, threads](sums)

Kernels with a heap are linked with the device library, so Numba cannot cache them on disk (`cache=True`). The library
is of the default design, and so is the heap.
"""

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from warpheap.device_code import handle_for, libraries, library
from warpheap.errors import packages_missing
from warpheap.heaps import Heap, HeapError

try:
    from cuda.bindings import driver
    from llvmlite import ir
    from numba import cuda
    from numba.cuda import config, types
    from numba.cuda.core.errors import TypingError
    from numba.cuda.cudadrv.linkable_code import Fatbin
    from numba.cuda.extending import intrinsic, models, overload_method, register_model, typeof_impl
    from numba.cuda.np.arrayobj import carray, make_array
    from numba.cuda.np.numpy_support import as_dtype
# Names that a newer NumPy or Numba lacks are attributes where Numba uses them as it is imported.
except (ImportError, AttributeError) as error:
    needed, command = "numba-cuda 0.30 with NumPy below 2.5", "pip install 'numba-cuda>=0.30' 'numpy<2.5'"
    raise packages_missing("warpheap.numba", needed, ("numba-cuda", "numba", "numpy"), error, command) from error

_WORD = types.uint64
_MOST_BYTES = 2**63 - 1


class HeapType(types.Type):
    """The type of a heap in a kernel, whose value is the address of the handle."""

    def __init__(self, checked: bool, line: str = "device") -> None:
        self.checked = checked
        self.line = line  # Numba keeps code by the types of arguments, and this says what it was linked with
        super().__init__(name=f"warpheap.Heap(checked={checked}, line={line})")


@typeof_impl.register(Heap)
def _type_of(heap: Heap, context: Any) -> HeapType:
    if heap.design != "warp_slab":
        raise ValueError(
            f"the heap is of the design '{heap.design}', and kernels of Numba are linked with 'warp_slab': make it "
            "with that, or take blocks by Heap.malloc before the launch"
        )
    return HeapType(heap.checked, line)


@register_model(HeapType)
class _HeapModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: HeapType) -> None:
        super().__init__(manager, kind, ir.IntType(64))


class _Slots:
    """The variables `wh_default_heap` of all loaded modules, and the heap of each GPU that they name.

    Invariant, as soon as a call is over: each variable has the handle of the heap that its GPU was given last and that
    is not forgotten, or 0. The caller has made current the GPU whose number it gives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[int, tuple[int, int]] = {}  # GPU and address of the variable, by the module's handle
        self._named: dict[int, list[Heap]] = {}  # by GPU, the latest last

    def loaded(self, module: Any) -> None:
        """Called by Numba before the first launch of a module that was linked with the file `malloc`."""
        device = cuda.get_current_device().id
        place = int(_must(driver.cuLibraryGetGlobal(_library_of(module), b"wh_default_heap")))
        with self._lock:
            _write(place, self._handle(device))
            self._places[int(_library_of(module))] = (device, place)

    def unloaded(self, module: Any) -> None:
        """Called by Numba when the module ends."""
        with self._lock:
            self._places.pop(int(_library_of(module)), None)

    def name(self, device: int, heap: Heap) -> None:
        """Let the modules of a GPU take blocks from `heap`. If the driver refuses, they take them from where they did.

        Raises `HeapError` then.
        """
        with self._lock:
            named = self._named.setdefault(device, [])
            named.append(heap)
            try:
                self._write_all(device)
            except BaseException:
                named.pop()
                with contextlib.suppress(HeapError):
                    self._write_all(device)
                raise

    def forget(self, device: int, heap: Heap) -> None:
        """Undo the latest `name` of a heap: modules take blocks from the latest heap that is left.

        Threads may forget their heaps in another order than they named them. Raises `HeapError` if the driver refuses.
        """
        with self._lock:
            named = self._named[device]
            latest = max(index for index, each in enumerate(named) if each is heap)
            del named[latest]
            self._write_all(device)

    def _write_all(self, device: int) -> None:
        """Write each variable that can be written; then raise the first `HeapError`, if there was one."""
        refused: HeapError | None = None
        for owner, place in self._places.values():
            if owner == device:
                try:
                    _write(place, self._handle(device))
                except HeapError as error:
                    refused = refused or error
        if refused is not None:
            raise refused

    def _handle(self, device: int) -> int:
        named = self._named.get(device)
        return 0 if not named or named[-1].closed else named[-1].handle


_slots = _Slots()


def _library_of(module: Any) -> Any:
    handle = module.handle
    return driver.CUlibrary(int(getattr(handle, "handle", handle)))


def _must(answer: tuple[Any, ...]) -> Any:
    """What a call of the driver returned beside its status."""
    if int(answer[0]) != 0:
        raise HeapError(f"the CUDA driver refused to name the heap of a kernel's arrays: {answer[0]!r}")
    return answer[1] if len(answer) > 1 else None


def _write(place: int, handle: int) -> None:
    word = ctypes.c_uint64(handle)
    _must(driver.cuMemcpyHtoD(place, ctypes.addressof(word), ctypes.sizeof(word)))


@contextlib.contextmanager
def arrays_from(heap: Heap) -> Iterator[None]:
    """Let the arrays of kernels of `jit(arrays=True)` come from `heap`, as long as the `with` lasts.

    It holds for the current GPU and for all threads of the program; of several that last, the latest holds. The heap is
    of the default design, not checked, and on that GPU; else `ValueError` is raised. It stays open up to the end of the
    `with`, which waits for that GPU, whichever is current by then. Without a heap, and when the heap is full, an array
    has no memory, and a kernel that writes to it ends with an error.
    """
    if _type_of(heap, None).checked:
        raise ValueError("the heap is checked, and arrays of Numba are linked for heaps that are not: make another one")
    device = cuda.get_current_device().id
    handle_for(heap, device)
    _slots.name(device, heap)
    try:
        yield
    finally:
        with cuda.gpus[device]:
            try:
                cuda.synchronize()
            except BaseException:
                # The fault of a kernel, which says more than the refusals that follow it.
                with contextlib.suppress(HeapError):
                    _slots.forget(device, heap)
                raise
            _slots.forget(device, heap)


class _HandsOverHeaps:
    """What Numba asks for each argument of a launch."""

    def prepare_args(self, kind: Any, value: Any, **others: Any) -> tuple[Any, Any]:
        """Return a heap as its handle, and all else as it is."""
        if not isinstance(kind, HeapType):
            return kind, value
        return _WORD, handle_for(value, cuda.get_current_device().id)


# For `cuda.jit(extensions=...)`: with it a kernel takes heaps as arguments.
extensions = [_HandsOverHeaps()]

# How kernels are linked: "device", "hot" or "whole", as `warpheap.device_code.libraries` tells. `jit` reads it, and so
# does each launch, for the types of heaps: a kernel is launched under the value that it was made under.
line = "device"


def jit(function: Callable[..., Any] | None = None, *, arrays: bool = False, **options: Any) -> Any:
    """`numba.cuda.jit` for kernels that take heaps; all other options are those of Numba.

    `arrays`: the kernel's own arrays come from the heap of `arrays_from`. This turns on Numba's runtime for arrays
    (CUDA_ENABLE_NRT), which holds for all kernels that Numba compiles from now on.
    """
    if function is None:
        return functools.partial(jit, arrays=arrays, **options)
    if not callable(function):
        raise TypeError(
            f"warpheap.numba.jit is given {function!r}: it takes the kernel's function and options by name, and Numba "
            "finds the types at the first launch"
        )
    if arrays:
        options["link"] = [*(options.get("link") or ()), *_code(False, line), _malloc_of_arrays()]
        config.CUDA_ENABLE_NRT = True
    options["extensions"] = [*(options.get("extensions") or ()), *extensions]
    if line != "device":
        options.setdefault("lto", True)  # LTO-IR becomes code at link time
    return cuda.jit(**options)(function)


# Numba links an object once, however many functions bring it along. Two objects of one file would clash, so each file
# is one object.
@functools.lru_cache
def _code(checked: bool, line: str) -> list[Any]:
    """The files of the device library that a kernel is linked with."""
    return [Fatbin(file.read_bytes(), name=file.name) for file in libraries("device" if checked else line, checked)]


@functools.lru_cache
def _malloc_of_arrays() -> Any:
    """The file by which Numba's own arrays come from a heap."""
    file = library("malloc")
    return Fatbin(file.read_bytes(), name=file.name, setup_callback=_slots.loaded, teardown_callback=_slots.unloaded)


@functools.lru_cache
def _functions(checked: bool, line: str) -> dict[str, Any]:
    """The functions of the device library, by name: what uses one is linked with it."""
    code = _code(checked, line)
    words = {"malloc": 2, "aligned_malloc": 3, "free": 2}
    return {
        name: cuda.declare_device(f"whn_{name}", _WORD(*(_WORD,) * count), link=code) for name, count in words.items()
    }


@intrinsic
def _handle(typing_context: Any, heap: Any) -> Any:
    return _WORD(heap), lambda context, builder, signature, arguments: arguments[0]


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(address), generate


@intrinsic
def _address_of(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return _WORD(array), generate


# Without `inline` Numba refuses functions that return arrays, unless its own runtime is on.
@overload_method(HeapType, "malloc", target="cuda", inline="always")
def _malloc(heap: Any, bytes: Any) -> Any:
    take = _functions(heap.checked, heap.line)["malloc"]

    def malloc(heap: Any, bytes: Any) -> Any:
        return take(_handle(heap), _WORD(bytes))

    return malloc


@overload_method(HeapType, "aligned_malloc", target="cuda", inline="always")
def _aligned_malloc(heap: Any, alignment: Any, bytes: Any) -> Any:
    take = _functions(heap.checked, heap.line)["aligned_malloc"]

    def aligned_malloc(heap: Any, alignment: Any, bytes: Any) -> Any:
        return take(_handle(heap), _WORD(alignment), _WORD(bytes))

    return aligned_malloc


@overload_method(HeapType, "empty", target="cuda", inline="always")
def _empty(heap: Any, n: Any, dtype: Any) -> Any:
    if not isinstance(dtype, types.DTypeSpec):
        raise TypingError(f"heap.empty takes a type of elements such as np.float32, and was given {dtype}")
    take = _functions(heap.checked, heap.line)["malloc"]
    item = as_dtype(dtype.dtype).itemsize
    most = _MOST_BYTES // item

    def empty(heap: Any, n: Any, dtype: Any) -> Any:
        count = types.intp(n)  # of one type with the 0 of a full heap
        # The bytes of a longer array would wrap around, to those of a block that is too small for it.
        address = take(_handle(heap), _WORD(count) * _WORD(item)) if 0 <= count <= most else _WORD(0)
        return carray(_pointer(address), (count if address != 0 else types.intp(0),), dtype)

    return empty


@overload_method(HeapType, "free", target="cuda", inline="always")
def _free(heap: Any, block: Any) -> Any:
    give = _functions(heap.checked, heap.line)["free"]
    if isinstance(block, types.Array):

        def free_array(heap: Any, block: Any) -> Any:
            give(_handle(heap), _address_of(block))

        return free_array

    def free(heap: Any, block: Any) -> Any:
        give(_handle(heap), _WORD(block))

    return free
