# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Where the sources are, and what was built from them: in a checkout, or beside a package that a wheel brought."""

import re
from collections.abc import Iterable
from pathlib import Path

from warpheap.errors import UsageError

# Build folders that can hold the driver of a backend, the best for measuring first.
_DRIVER_FOLDERS = {"cuda": ("cuda-bench", "cuda"), "host": ("host",)}


# What a wheel brings along: the files that the driver is built from, laid out as in the checkout, and beside them what
# `cmake --install` makes.
_TREE = Path(__file__).resolve().parent / "tree"


def find_installed() -> Path | None:
    """The folder of sources and libraries that this package's wheel brought along; None in a checkout."""
    return _TREE if (_TREE / "CMakePresets.json").is_file() else None


def find_sources() -> Path | None:
    """The folder with include/, src/ and benchmarks/: the wheel's, or else the checkout."""
    return find_installed() or find_checkout()


def library_folders(presets: Iterable[str]) -> list[Path]:
    """Folders that can hold compiled libraries: the wheel's, or else those of the checkout's builds."""
    if (installed := find_installed()) is not None:
        return [installed / "lib"]
    checkout = find_checkout()
    return [] if checkout is None else [checkout / "build" / preset / "lib" for preset in presets]


def find_checkout() -> Path | None:
    """The checkout that we stand in or were started from: the folder with CMakePresets.json and benchmarks/."""
    for start in (Path.cwd(), Path(__file__).resolve()):
        for folder in (start, *start.parents):
            if (folder / "CMakePresets.json").is_file() and (folder / "benchmarks").is_dir():
                return folder
    return None


def find_built_driver(backend: str) -> Path | None:
    """The driver of `backend` that was built in the checkout."""
    checkout = find_checkout()
    if checkout is None:
        return None
    for folder in _DRIVER_FOLDERS[backend]:
        program = checkout / "build" / folder / "bin" / f"warpheap_bench_{backend}"
        if program.is_file():
            return program
    return None


def footprint_folders() -> list[Path]:
    """Where the checkout's builds leave what the registers case reads."""
    checkout = find_checkout()
    return [] if checkout is None else [checkout / "build" / name / "footprints" for name in _DRIVER_FOLDERS["cuda"]]


def no_driver(backend: str) -> UsageError:
    """The error for a driver that is not there."""
    preset = _DRIVER_FOLDERS[backend][0]
    where = " where a GPU answers and nvcc is on the PATH" if backend == "cuda" else ""
    return UsageError(
        f"no benchmark driver for the {backend} backend was found. In the checkout, './run survey' builds and runs it"
        f"{where}; by hand: cmake --preset {preset} && cmake --build --preset {preset}. Or name one with --driver PATH."
    )


def registered_designs(backend: str = "cuda") -> list[str] | None:
    """The designs of the registry that run on the backend, in its order; None without sources.

    Some are listed for one backend alone.
    """
    sources = find_sources()
    registry = None if sources is None else sources / "include" / "warpheap" / "designs" / "registry.def"
    if registry is None or not registry.is_file():
        return None
    macro = f"WARPHEAP_(?:{backend.upper()}_)?DESIGN"
    return re.findall(rf"^{macro}\((\w+),", registry.read_text(encoding="utf-8"), re.MULTILINE)


def shipped_traces() -> list[str] | None:
    """The traces that the driver brings along; None without sources."""
    sources = find_sources()
    if sources is None:
        return None
    return sorted(path.stem for path in (sources / "benchmarks" / "trace").glob("*.trace"))
