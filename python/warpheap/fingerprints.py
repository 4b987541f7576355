# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of sources: the ones that cmake/fingerprint.cmake computes, where there need be no CMake."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

# Folders of each scope. A test holds them and the digest against CMake's.
SCOPES: Mapping[str, tuple[str, ...]] = {
    "sources": ("include", "src", "benchmarks"),
    "device": ("include", "src/device"),
}
# What says how the sources are compiled, beside them.
_BUILD_FILES = ("CMakeLists.txt", "CMakePresets.json")
_BUILD_FOLDERS = ("cmake",)


def fingerprint(root: Path, scope: str) -> str:
    """SHA-256, in hexadecimal digits, over the lines `<sha256>  <path>` of all files of a scope below `root`."""
    return _of_files(root, (path for folder in SCOPES[scope] for path in (root / folder).rglob("*")))


def build_fingerprint(root: Path) -> str:
    """SHA-256, in hexadecimal digits, over the lines `<sha256>  <path>` of CMake's files below `root`.

    These are CMakeLists.txt, CMakePresets.json and all files of the folder cmake; one that is not there has no line.
    """
    named = (root / name for name in _BUILD_FILES)
    return _of_files(root, (*named, *(path for folder in _BUILD_FOLDERS for path in (root / folder).rglob("*"))))


def _of_files(root: Path, paths: Iterable[Path]) -> str:
    names = sorted(path.relative_to(root).as_posix() for path in paths if path.is_file())
    return of_lines(f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}" for name in names)


def of_lines(lines: Iterable[str]) -> str:
    """SHA-256, in hexadecimal digits, over some lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
