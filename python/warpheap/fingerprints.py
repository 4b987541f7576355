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


def fingerprint(root: Path, scope: str) -> str:
    """SHA-256, in hexadecimal digits, over the lines `<sha256>  <path>` of all files of a scope below `root`."""
    files = (path for folder in SCOPES[scope] for path in (root / folder).rglob("*") if path.is_file())
    names = sorted(path.relative_to(root).as_posix() for path in files)
    return of_lines(f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}" for name in names)


def of_lines(lines: Iterable[str]) -> str:
    """SHA-256, in hexadecimal digits, over some lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
