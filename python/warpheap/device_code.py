# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels are compiled and linked with: the headers, and the files of <warpheap/heap/device_library.h>."""

import functools
import importlib.util
import os
import shutil
from pathlib import Path

from warpheap.errors import UsageError, unknown_name
from warpheap.fingerprints import fingerprint
from warpheap.heaps import Heap
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


def is_cccl(folder: str | Path) -> bool:
    """True for a folder with the headers of libcu++, which <warpheap/device.hpp> includes."""
    return all((Path(folder) / name).is_file() for name in ("cuda/atomic", "cuda/std/cstdint", "nv/target"))


def find_cccl() -> Path | None:
    """The folder of CCCL's headers, or None.

    It is looked for in the toolkit that CUDA_HOME or CUDA_PATH names, in the packages nvidia-cuda-cccl and cuda-cccl of
    this Python, and in the toolkit of nvcc.
    """
    toolkits = [Path(named) for name in ("CUDA_HOME", "CUDA_PATH") if (named := os.environ.get(name))]
    folders = [toolkit / "include" / part for toolkit in toolkits for part in ("cccl", "")]
    folders += [
        each for root in _namespace("nvidia") for part in ("include/cccl", "include") for each in root.glob(f"*/{part}")
    ]
    folders += [root / "cccl" / "headers" / "include" for root in _namespace("cuda")]
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is not None:
        folders += [Path(nvcc).resolve().parents[1] / "include" / part for part in ("cccl", "")]
    return next((folder for folder in folders if is_cccl(folder)), None)


def no_cccl() -> UsageError:
    """The error for headers of CCCL that are not there."""
    return UsageError(
        "the headers of CCCL (libcu++) were not found, which <warpheap/device.hpp> includes: pip install "
        "nvidia-cuda-cccl, or set CUDA_HOME to a CUDA toolkit, or name their folder among the folders of headers"
    )


def _namespace(name: str) -> list[Path]:
    """The folders of a namespace package, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module of that name was put in place, as by a test
        spec = None
    return [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]


def handle_for(heap: Heap, device: int) -> int:
    """The number that a kernel on GPU `device` takes for a heap. Raises `ValueError` if it could not use that heap."""
    if heap.backend != "cuda":
        raise ValueError("the heap is on the host, and kernels run on a GPU: make it with backend='cuda'")
    if heap.device != device:
        raise ValueError(
            f"the heap is on GPU {heap.device}, and the kernel is launched on GPU {device}: launch it there, or make "
            f"the heap with device={device}"
        )
    return heap.handle


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
