# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps in kernels of cuda.core: sources that are compiled and linked with the device library, and their launch.

    import warpheap, warpheap.cuda_core
    from cuda.core import Device, LaunchConfig

    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = warpheap.cuda_core.link(SOURCE).get_kernel("kernel")
    with warpheap.Heap(1 << 30) as heap:
        warpheap.cuda_core.launch(stream, LaunchConfig(grid=400, block=256), kernel, heap, blocks, count)

where the kernel takes `const wh_device_heap* heap` of <warpheap/heap/device_library.h>, or after `line="hot"` and
<warpheap/device_hot.hpp> `const warpheap::heap_ref<>* heap`.
"""

import importlib
import operator
import re
from typing import Any

from warpheap import device_code
from warpheap.errors import UsageError
from warpheap.heaps import Heap

_INSTALL = "pip install 'cuda-core>=1.0' nvidia-cuda-nvrtc nvidia-nvjitlink"
# Headers of ours that include libcu++.
_NEEDS_CCCL = re.compile(r"<warpheap(/device|/device_hot)?\.hpp>")
_MOST_REGISTERS = 40  # for LTO-IR, which is optimised with the kernel


def _core() -> Any:
    try:
        return importlib.import_module("cuda.core")
    except ImportError as error:
        raise UsageError(f"cuda.core is needed here and cannot be imported ({error}): {_INSTALL}") from error


def link(
    source: str,
    *,
    capability: tuple[int, int] | None = None,
    line: str = "device",
    checked: bool = False,
    more: tuple[str, ...] = (),
) -> Any:
    """The `cuda.core.ObjectCode` of a source that calls the device library: machine code, ready to be loaded.

    `source` is CUDA C++. `capability`: of the GPU, such as (9, 0); None is that of the current device. `line` is how it
    is linked, as `warpheap.device_code.libraries` tells; sources that include <warpheap/device_hot.hpp> have the line
    "hot". `checked`: for checked heaps. `more`: folders to look for headers in, before the toolkit's. With a capability
    it needs no GPU. Raises `UsageError` if the device library, cuda.core or headers of CCCL are missing.
    """
    core = _core()
    if isinstance(more, str):
        raise TypeError(f"more is {more!r}: it is a tuple of folders, such as ({more!r},)")
    major, minor = _current_capability(core) if capability is None else _two_numbers(capability)
    libraries = device_code.libraries(line, checked)
    folders = [str(device_code.include()), *more]
    if not any(device_code.is_cccl(folder) for folder in more):
        cccl = device_code.find_cccl()
        if cccl is None and _NEEDS_CCCL.search(source):
            raise device_code.no_cccl()
        folders += [] if cccl is None else [str(cccl)]
    at_link = line != "device"
    wanted = core.ProgramOptions(
        std="c++20",
        arch=f"sm_{major}{minor}",
        relocatable_device_code=True,
        link_time_optimization=at_link or None,
        include_path=folders,
    )
    own = core.Program(source, "c++", wanted).compile("ltoir" if at_link else "cubin")
    parts = [core.ObjectCode.from_fatbin(file.read_bytes()) for file in libraries]
    how = core.LinkerOptions(
        arch=f"sm_{major}{minor}",
        link_time_optimization=at_link or None,
        max_register_count=_MOST_REGISTERS if at_link else None,
    )
    return core.Linker(own, *parts, options=how).link("cubin")


def _current_capability(core: Any) -> tuple[int, int]:
    try:
        major, minor = core.Device().compute_capability
    except Exception as error:  # cuda.core has several, and the driver's
        text = f"no GPU answers ({error}): name the capability to link for, such as capability=(9, 0)"
        raise UsageError(text) from error
    return major, minor


def _two_numbers(capability: Any) -> tuple[int, int]:
    try:
        major, minor = (operator.index(each) for each in capability)
    except (TypeError, ValueError) as error:
        raise TypeError(f"capability is {capability!r}: it is two numbers, such as (9, 0)") from error
    return major, minor


def launch(stream: Any, config: Any, kernel: Any, *arguments: Any) -> None:
    """`cuda.core.launch`, for kernels that take heaps: each `Heap` among the arguments goes as its handle.

    Raises `ValueError` for a heap that is closed, on the host, or on another GPU than the stream.
    """
    core = _core()
    device = int(stream.device.device_id)
    given = (device_code.handle_for(each, device) if isinstance(each, Heap) else each for each in arguments)
    core.launch(stream, config, kernel, *given)
