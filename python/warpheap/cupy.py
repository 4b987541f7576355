# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps in kernels of CuPy: options for `RawModule`, and modules that are linked with the device library.

A kernel that includes <warpheap/device.hpp> is compiled whole, once for each card, since CuPy keeps it on disk:

    module = cupy.RawModule(code=SOURCE, options=warpheap.cupy.options(), backend="nvrtc")
    module.get_function("kernel")((blocks,), (threads,), (numpy.uint64(heap.handle), ...))

where SOURCE takes `const warpheap::heap_ref<>* heap`. One that includes <warpheap/device_hot.hpp> or calls the `wh_`
functions of <warpheap/heap/device_library.h> is linked, in a fraction of the time:

    module = warpheap.cupy.linked_module(SOURCE)

Arrays of CuPy go to `Heap.malloc` and `Heap.free` as they are, and what `malloc` returns becomes one by
`cupy.asarray`, without a copy.
"""

import importlib
import tempfile
from pathlib import Path
from typing import Any

from warpheap import cuda_core, device_code
from warpheap.errors import UsageError


def options() -> tuple[str, ...]:
    """Options of `cupy.RawModule` for sources that include <warpheap/device.hpp>."""
    return device_code.options()


def linked_module(source: str, *, line: str = "device", checked: bool = False, more: tuple[str, ...] = ()) -> Any:
    """A `cupy.RawModule` of what `warpheap.cuda_core.link` makes of a source for the current device."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        raise UsageError(f"CuPy is needed here and cannot be imported ({error}): pip install cupy-cuda13x") from error
    digits = str(cupy.cuda.Device().compute_capability)
    capability = (int(digits[:-1]), int(digits[-1]))
    linked = cuda_core.link(source, capability=capability, line=line, checked=checked, more=more)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linked.cubin"
        path.write_bytes(bytes(linked.code))
        module = cupy.RawModule(path=str(path))
        module.compile()  # reads the file
        return module
