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

from warpheap import device_code
from warpheap.errors import UsageError


def _package(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"warpheap.cupy needs {name} here, which cannot be imported ({error}): {install}") from error


def options() -> tuple[str, ...]:
    """Options of `cupy.RawModule` for sources that include <warpheap/device.hpp>."""
    return device_code.options()


def link(
    source: str, *, capability: tuple[int, int], line: str = "device", checked: bool = False, more: tuple[str, ...] = ()
) -> bytes:
    """The cubin of a source that calls the device library, for a compute capability such as (9, 0).

    `source` is CUDA C++. `line` is how it is linked, as `warpheap.device_code.libraries` tells; sources that include
    <warpheap/device_hot.hpp> have the line "hot", and are compiled with its options. `checked`: for checked heaps.
    `more`: folders to look for headers in. Needs cuda-core, and no GPU.
    """
    core = _package("cuda.core", "pip install 'cuda-core>=1.0' nvidia-cuda-nvrtc nvidia-nvjitlink")
    name = f"sm_{capability[0]}{capability[1]}"
    at_link = line != "device"
    wanted = core.ProgramOptions(
        std="c++20",
        arch=name,
        relocatable_device_code=True,
        link_time_optimization=at_link or None,
        include_path=[str(device_code.include()), *more],
    )
    own = core.Program(source, "c++", wanted).compile("ltoir" if at_link else "cubin")
    parts = [core.ObjectCode.from_fatbin(file.read_bytes()) for file in device_code.libraries(line, checked)]
    limit = 40 if at_link else None
    how = core.LinkerOptions(arch=name, link_time_optimization=at_link or None, max_register_count=limit)
    return bytes(core.Linker(own, *parts, options=how).link("cubin").code)


def linked_module(source: str, *, line: str = "device", checked: bool = False, more: tuple[str, ...] = ()) -> Any:
    """A `cupy.RawModule` of what `link` makes for the current device."""
    cupy = _package("cupy", "pip install cupy-cuda13x")
    digits = str(cupy.cuda.Device().compute_capability)
    cubin = link(source, capability=(int(digits[:-1]), int(digits[-1])), line=line, checked=checked, more=more)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linked.cubin"
        path.write_bytes(cubin)
        module = cupy.RawModule(path=str(path))
        module.compile()  # reads the file
        return module
