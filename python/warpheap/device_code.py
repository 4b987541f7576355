# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels are compiled and linked with: the headers, and the files of <warpheap/heap/device_library.h>."""

import functools
import os
from pathlib import Path

from warpheap.errors import UsageError, unknown_name
from warpheap.fingerprints import fingerprint
from warpheap.project import find_installed, find_sources, library_folders

VARIABLE = "WARPHEAP_DEVICE_LIBRARY"
# Ways to link, and the files that each takes.
LINES = {"device": ("device",), "hot": ("hot", "cold"), "whole": ("whole",)}
_CHECKED = ("device_checked",)
_COMMAND = "cmake --preset host && cmake --build --preset host --target warpheap_device"


def include() -> Path:
    """The folder of the headers, for `-I`."""
    return _sources("headers") / "include"


def cmake() -> Path:
    """The folder of the CMake package, for `-D warpheap_DIR=`: `find_package(warpheap)` then finds this installation.

    Raises `UsageError` in a checkout, which has no CMake package.
    """
    installed = find_installed()
    if installed is None:
        raise UsageError(
            "a checkout has no CMake package: give its folder to add_subdirectory, or install one by "
            "'cmake --install build/PRESET --prefix DIR' and name DIR/lib/cmake/warpheap"
        )
    return installed / "lib" / "cmake" / "warpheap"


def _sources(what: str) -> Path:
    sources = find_sources()
    if sources is None:
        raise UsageError(f"the {what} of warpheap were not found: work in the checkout, or install a wheel")
    return sources


def options() -> tuple[str, ...]:
    """Options with which a runtime compiler (NVRTC) reads <warpheap/device.hpp>; it needs libcu++ beside."""
    return ("-std=c++20", f"-I{include()}")


def hot_options() -> tuple[str, ...]:
    """Options for <warpheap/device_hot.hpp>, whose code is then linked with `library("cold")`."""
    return (*options(), "-rdc=true")


def library(name: str) -> Path:
    """The file `warpheap_NAME.fatbin` of the device library.

    It is looked for in the folder that the environment variable WARPHEAP_DEVICE_LIBRARY names, or else in the wheel's
    or in the checkout's builds. A file that was made of other sources than the headers here is passed over, since code
    of one state would read the memory of another. Raises `UsageError` that says what to build.
    """
    named = os.environ.get(VARIABLE)
    folders = [Path(named)] if named else library_folders(("cuda-bench", "cuda", "host"))
    file = f"warpheap_{name}.fatbin"
    there = [folder for folder in folders if (folder / file).is_file()]
    found = next((folder / file for folder in there if _is_current(folder)), None)
    if found is not None:
        return found
    if there:
        where = f"{there[0] / file} is of other sources than the headers in {include()}"
    else:
        where = f"{VARIABLE} names {named}, which has no {file}" if named else f"{file} was not found"
    raise UsageError(f"{where}. nvcc makes it in the checkout: {_COMMAND}. Or name its folder with {VARIABLE}.")


def _is_current(folder: Path) -> bool:
    """True if the device library in a folder is of the sources that this package has."""
    try:
        of_library = (folder / "warpheap_device.fingerprint").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return of_library == _fingerprint_of(_sources("headers"))


@functools.lru_cache
def _fingerprint_of(sources: Path) -> str:
    return fingerprint(sources, "device")


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
