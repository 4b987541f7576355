# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels are compiled and linked with: the headers, and the files of <warpheap/heap/device_library.h>."""

import os
from pathlib import Path

from warpheap.errors import UsageError, unknown_name
from warpheap.project import find_checkout

VARIABLE = "WARPHEAP_DEVICE_LIBRARY"
# Ways to link, and the files that each takes.
LINES = {"device": ("device",), "hot": ("hot", "cold"), "whole": ("whole",)}
_CHECKED = ("device_checked",)
_COMMAND = "cmake --preset host && cmake --build --preset host --target warpheap_device"


def include() -> Path:
    """The folder of the headers, for `-I`."""
    checkout = find_checkout()
    if checkout is None:
        raise UsageError("the headers of warpheap were not found: work in the checkout, or name its include/ yourself")
    return checkout / "include"


def options() -> tuple[str, ...]:
    """Options with which a runtime compiler (NVRTC) reads <warpheap/device.hpp>; it needs libcu++ beside."""
    return ("-std=c++20", f"-I{include()}")


def hot_options() -> tuple[str, ...]:
    """Options for <warpheap/device_hot.hpp>, whose code is then linked with `library("cold")`."""
    return (*options(), "-rdc=true")


def library(name: str) -> Path:
    """The file `warpheap_NAME.fatbin` of the device library.

    It is looked for in the folder that the environment variable WARPHEAP_DEVICE_LIBRARY names, or else in the
    checkout's builds. Raises `UsageError` that says what to build.
    """
    named = os.environ.get(VARIABLE)
    checkout = find_checkout()
    folders = [Path(named)] if named else []
    if not named and checkout is not None:
        folders = [checkout / "build" / preset / "lib" for preset in ("cuda-bench", "cuda", "host")]
    file = f"warpheap_{name}.fatbin"
    found = next((folder / file for folder in folders if (folder / file).is_file()), None)
    if found is None:
        where = f"{VARIABLE} names {named}, which has no {file}" if named else f"{file} was not found"
        raise UsageError(f"{where}. nvcc makes it in the checkout: {_COMMAND}. Or name its folder with {VARIABLE}.")
    return found


def libraries(line: str = "device", checked: bool = False) -> list[Path]:
    """The files to link kernels with, in one of the ways of `LINES`; for checked heaps those are of one way only.

    "device": machine code, which links at once. "hot": the hot part is inlined at link time, in a second, and kernels
    run faster. "whole": all is optimised with the kernel, in seconds.
    """
    if line not in LINES:
        raise unknown_name("line", line, LINES)
    if checked and line != "device":
        raise UsageError(f"line is '{line}', and checked heaps are linked by 'device' only")
    return [library(name) for name in (_CHECKED if checked else LINES[line])]
