# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ sources of this folder, compiled against the PyTorch that is there and kept for the next time."""

import hashlib
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from warpheap import device_code
from warpheap.errors import UsageError

VARIABLE = "WARPHEAP_CACHE"
HERE = Path(__file__).parent
# What each source is compiled from, beside <warpheap/pool/pool.h>, and the libraries of PyTorch that it uses.
SOURCES = {
    "allocator": (
        ("allocator.cpp", "block_figures.hpp", "device_blocks.hpp", "message.hpp", "pool_functions.hpp"),
        ("c10_cuda", "torch_cuda"),
    ),
    "symbols": (("symbols.cpp", "message.hpp", "pool_functions.hpp"), ()),
}


def build(name: str) -> Path:
    """The compiled library of a source, "allocator" or "symbols".

    It is compiled once for each version of PyTorch and of the sources, into the folder that the environment variable
    WARPHEAP_CACHE names, or else into the user's cache. Several processes may do so at once. Raises `UsageError` that
    says what is missing, or the compiler's first errors.
    """
    torch = importlib.import_module("torch")
    folder = cache_folder() / f"{torch.__version__}-{_digest(torch, name)}"
    file = folder / f"wh_torch_{name}.so"
    if not file.is_file():
        _compile(name, file)
    return file


def cache_folder() -> Path:
    """Where compiled libraries are kept."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) / "torch"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpheap" / "torch"


def cuda_include() -> Path:
    """The folder of CUDA's headers: of a toolkit, or of the packages that PyTorch brings along."""
    home = importlib.import_module("torch.utils.cpp_extension").CUDA_HOME
    folders = [Path(home) / "include"] if home else []
    for entry in sys.path:
        folders += sorted(Path(entry).glob("nvidia/*/include"))
    found = next((folder for folder in folders if (folder / "cuda_runtime_api.h").is_file()), None)
    if found is None:
        raise UsageError(
            "warpheap.torch compiles a source, and cuda_runtime_api.h was not found: set CUDA_HOME to a toolkit, or "
            "use warpheap.torch.mem_pool() or install('symbols')"
        )
    return found


def _digest(torch: Any, name: str) -> str:
    state = hashlib.sha256(f"{torch.version.cuda} {os.uname().machine}".encode())
    for file in (*(HERE / source for source in SOURCES[name][0]), _header()):
        state.update(file.read_bytes())
    return state.hexdigest()[:16]


def _header() -> Path:
    return device_code.include() / "warpheap" / "pool" / "pool.h"


def _compile(name: str, file: Path) -> None:
    extension = importlib.import_module("torch.utils.cpp_extension")
    if not extension.is_ninja_available():
        raise UsageError(
            "warpheap.torch compiles a source with ninja, which was not found: pip install ninja, or use "
            "warpheap.torch.mem_pool()"
        )
    sources, libraries = SOURCES[name]
    includes = [str(device_code.include())]
    if libraries:
        includes.append(str(cuda_include()))
    # Compiled in a folder of its own and moved: a file of that name is always a whole one, and a build that was killed
    # leaves no lock for which the next one would wait.
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(dir=file.parent)
    except OSError as error:
        raise UsageError(
            f"the cache of compiled sources cannot be written ({error}): name another folder with {VARIABLE}"
        ) from error
    try:
        extension.load(
            file.stem,
            [str(HERE / sources[0])],
            extra_cflags=["-std=c++20", "-O2"],
            extra_ldflags=[f"-l{each}" for each in libraries],
            extra_include_paths=includes,
            build_directory=folder,
            with_cuda=False,
            is_python_module=False,
        )
        made = next(Path(folder).glob(f"{file.stem}*.so"), None)
        if made is None:
            raise RuntimeError(f"error: the compiler ran and left no {file.stem}*.so")
        made.replace(file)
    except (RuntimeError, OSError) as error:
        lines = [line for line in str(error).splitlines() if "error" in line.lower()] or [str(error)]
        raise UsageError(
            f"{sources[0]} does not compile against this PyTorch; a C++20 compiler is needed, which CXX names. "
            "warpheap.torch.mem_pool() needs none. " + " | ".join(lines[:3])
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
