# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory of CUDA from pools of warpheap, in three depths.

* `install()`: all tensors are blocks of the pool that the process has for each GPU (`warpheap.Pool.of_device`), with
  PyTorch's statistics, graphs and errors. A C++ source is compiled at the first use, against the PyTorch that is there.
* `install("symbols")`: all tensors, through the two functions that PyTorch takes by name. Less is served.
* `mem_pool()`: a `torch.cuda.MemPool` for some tensors; PyTorch keeps its own allocator over blocks of the pool.
  Nothing is compiled.

docs/pool_python.md has a table of what is served and what is refused in each.
"""

import ctypes
import importlib
import threading
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError, unknown_name
from warpheap.stream_pools import Pool
from warpheap.stream_pools.library import Library, load_for_gpu
from warpheap.torch.extension import build

DEPTHS = ("full", "symbols")

_installed: str | None = None
_lock = threading.Lock()  # held while the allocator of the process is looked at and changed
_kept: list[Any] = []  # PyTorch has addresses of functions in what is here
_of_mem_pools: list[Any] = []  # the allocator of all `mem_pool`s, once there is one


def install(depth: str = "full") -> None:
    """Let all tensors of CUDA in this process be blocks of warpheap's pools; called before CUDA is used.

    `depth`: "full" or "symbols", as the module tells. A second call with the same depth does nothing. Raises
    `UsageError` if PyTorch has used CUDA before, if no GPU answers, or if what is needed is missing; PyTorch's own
    allocator then stays.
    """
    global _installed
    if depth == "mem_pool":
        raise UsageError("a MemPool serves some tensors, so it is not installed: use warpheap.torch.mem_pool()")
    if depth not in DEPTHS:
        raise unknown_name("depth", depth, DEPTHS)
    with _lock:
        if _installed == depth:
            return
        if _installed is not None:
            raise UsageError(f"depth '{_installed}' is installed, and PyTorch keeps it as long as the process lives")
        torch = _torch()
        if torch.cuda.is_initialized():
            raise UsageError(
                "PyTorch has used CUDA already, with its own allocator: call warpheap.torch.install() first"
            )
        library = _library()
        if depth == "full":
            _call(_load(build("allocator")), "wh_torch_install", library)
        else:
            _install_symbols(torch, library)
        _installed = depth


def installed() -> str | None:
    """The depth that `install` installed; None if PyTorch has its own allocator."""
    return _installed


def mem_pool(**options: Any) -> Any:
    """A `torch.cuda.MemPool` whose memory PyTorch takes from the pool of each GPU; `options` are those of MemPool.

    `with torch.cuda.use_mem_pool(warpheap.torch.mem_pool()): ...` takes the tensors from it that this thread makes
    within. PyTorch's own allocator cuts the memory into tensors, so everything of it works. Raises `UsageError` if
    `install` was called, or if no GPU answers.
    """
    if _installed is not None:
        raise UsageError(
            f"depth '{_installed}' is installed, so all tensors are of warpheap's pools: no MemPool is needed"
        )
    torch = _torch()
    with _lock:
        if not _of_mem_pools:
            names = ("wh_pool_torch_malloc", "wh_pool_torch_free")
            _of_mem_pools.append(torch.cuda.memory.CUDAPluggableAllocator(str(_library().path), *names))
    return torch.cuda.MemPool(_of_mem_pools[0].allocator(), **options)


def pool(device: int | None = None) -> Pool:
    """The pool that tensors of a GPU are of; None is warpheap's current GPU."""
    return Pool.of_device(device, backend="cuda")


def _torch() -> Any:
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise UsageError(
            f"warpheap.torch needs PyTorch, which cannot be imported ({error}): pip install torch"
        ) from error
    if torch.version.cuda is None:
        raise UsageError(f"PyTorch {torch.__version__} is built without CUDA: install one that is built with it")
    return torch


def _library() -> Library:
    return load_for_gpu("tensors of CUDA")


def _load(file: Path) -> ctypes.CDLL:
    """An extension that was compiled, now or in an earlier process."""
    try:
        return ctypes.CDLL(str(file))
    except OSError as error:
        raise UsageError(f"{file} does not fit this PyTorch ({error}): remove it, and it is compiled anew") from error


def _call(own: ctypes.CDLL, name: str, library: Library) -> None:
    """Call a function of an extension that takes the path of the library of pools and returns what went wrong."""
    function = getattr(own, name)
    function.restype = ctypes.c_char_p
    function.argtypes = (ctypes.c_char_p,)
    wrong = function(str(library.path).encode())
    if wrong is not None:
        raise _refused(wrong.decode(errors="replace"))


def _refused(text: str) -> UsageError:
    first_line = text.strip().partition("\n")[0]  # frames of the stack follow
    return UsageError(f"PyTorch did not take the allocator: {first_line or 'it does not say why'}")


def _install_symbols(torch: Any, library: Library) -> None:
    file = build("symbols")
    own = _load(file)
    _call(own, "wh_torch_open", library)
    allocator = torch.cuda.memory.CUDAPluggableAllocator(str(file), "wh_torch_malloc", "wh_torch_free")
    for setter, name in (("set_record_stream_fn", "wh_torch_record_stream"), ("set_reset_fn", "wh_torch_empty_cache")):
        getattr(allocator.allocator(), setter)(ctypes.cast(getattr(own, name), ctypes.c_void_p).value)
    try:
        torch.cuda.memory.change_current_allocator(allocator)
    except RuntimeError as error:  # another one was installed
        raise _refused(str(error)) from error
    _kept.extend((own, allocator))
