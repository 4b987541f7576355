# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that publish counters, and stop where a test looks at them."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import environment

from warpheap.watch.board import BYTES, FOLDER_VARIABLE, MAGIC, Place, Row
from warpheap.watch.look import Look, look
from warpheap.watch.owners import find_owner, process_space

_BEGIN = """
import ctypes, json, os, subprocess, sys, threading, time
import warpheap
MEBIBYTE = 1 << 20
def make(**options):
    return warpheap.Pool(backend="host", **{"reserve_bytes": 1 << 28, **options})
def pause(*said):
    print(json.dumps(said), flush=True)
    sys.stdin.readline()
"""


class Process:
    """A program that says a line, and goes on when it is told to."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        self.popen = popen

    def said(self) -> str:
        """The next line that the program prints."""
        assert self.popen.stdout is not None
        return self.popen.stdout.readline()

    def go_on(self) -> None:
        """Lets the program go on from its pause."""
        assert self.popen.stdin is not None
        self.popen.stdin.write("\n")
        self.popen.stdin.flush()

    def end(self) -> tuple[int, str]:
        """Lets it go on to its end; returns its exit code and what it printed last."""
        out, _ = self.popen.communicate("\n" * 20, timeout=60)
        return self.popen.returncode, out


@contextmanager
def started(command: list[Any], where: Path, **more: str) -> Iterator[Process]:
    """A program whose counters are in the folder; it is ended with the `with`."""
    variables = {**environment(), FOLDER_VARIABLE: str(where), **more}
    words = [str(word) for word in command]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=variables, text=True, **pipes) as popen:  # type: ignore[call-overload]
        try:
            yield Process(popen)
        finally:
            popen.kill()


def script(text: str) -> list[Any]:
    """The command of a Python program that uses pools; `pause` is where it stops."""
    return [sys.executable, "-c", _BEGIN + textwrap.dedent(text)]


def rows(now: Look, process: int) -> list[Row]:
    """The rows of a process."""
    return [each.row for found in now.processes if found.process == process for each in found.counters.values()]


def rows_of(where: Path, process: int) -> list[Row]:
    """The rows that a process shows now."""
    return rows(look(where), process)


def place_of_this(where: Path, number: int = 0, **other: int) -> Place:
    """Where a board of this process would be."""
    owner = find_owner(os.getpid())
    assert owner is not None
    named = {"user": os.geteuid(), "space": process_space(), "process": owner.process, "start": owner.start}
    named = {**named, "stack": owner.stack, **other}
    name = "warpheap-{user}-{space}-{process}-{start}-{stack:x}".format(**named)
    return Place(where / f"{name}-{number}", number=number, **named)


def content(place: Place, shown: tuple[tuple[int, ...], ...] = (), **other: Any) -> bytes:
    """A board as the libraries write it. A row has 16 words."""
    header: dict[str, Any] = {
        "magic": MAGIC, "version": 1, "bytes": BYTES, "offset": 256, "row_bytes": 128, "rows": 30,
        "process": place.process, "start": place.start, "source": 2, "detail": b"cuda", "unshown": 0, **other,
    }  # fmt: skip
    made = bytearray(BYTES)
    at = 0
    for value in header.values():
        size = 16 if isinstance(value, bytes) else 8
        made[at : at + size] = value.ljust(16, b"\0") if isinstance(value, bytes) else value.to_bytes(8, sys.byteorder)
        at += size
    for slot, words in enumerate(shown):
        for number, word in enumerate(words):
            where = 256 + 128 * slot + 8 * number
            made[where : where + 8] = word.to_bytes(8, sys.byteorder)
    return bytes(made)
