# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of graph files: each names the file, the place in it and what to do."""

from pathlib import Path
from typing import NoReturn

from warpheap.errors import UsageError

# Ids of vertices have 32 bits in the programs that take the graphs. The largest id is a marker there.
MOST_VERTICES = 2**32 - 1


class GraphFileError(UsageError):
    """A graph file cannot be read; the message names the file, the place and the remedy."""


def refuse(path: Path, place: int | str | None, what: str, remedy: str) -> NoReturn:
    """Raises the error for `path`. `place` is the number of a line from 1 on, words such as `byte 17`, or None."""
    where = f"{path}" if place is None else f"{path}:{place}" if isinstance(place, int) else f"{path}, {place}"
    raise GraphFileError(f"{where}: {what}; {remedy}")


def check_vertex_count(path: Path, place: int | str | None, vertices: int, remedy: str) -> None:
    """Refuses a number of vertices that is negative or has no ids of 32 bits."""
    if vertices < 0:
        refuse(path, place, f"the number of vertices is {vertices}", "write a number from 0 on")
    if vertices > MOST_VERTICES:
        what = f"{vertices:,} vertices are too many for ids of 32 bits"
        refuse(path, place, what, remedy)
