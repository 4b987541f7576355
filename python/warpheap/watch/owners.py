# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, as /proc tells of them."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Owner:
    """A process that runs."""

    process: int
    start: int  # clock ticks from the machine's start to the process's
    stack: int  # where its stack begins; 0 if the kernel does not tell


def find_owner(process: int) -> Owner | None:
    """The process with that number; None if it has ended, or has ended and waits for its parent."""
    try:
        text = (PROC / str(process) / "stat").read_bytes()
    except OSError:
        return None
    # The program's name is in brackets, and may hold brackets and blanks. The state is the first word after it.
    words = text[text.rfind(b")") + 1 :].split()
    if len(words) < 26 or words[0] in (b"Z", b"X"):
        return None
    return Owner(process, int(words[19]), int(words[25]))


def command_of(process: int) -> list[str]:
    """The words that the process was started with; none if it has ended."""
    try:
        text = (PROC / str(process) / "cmdline").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(word) for word in text.rstrip(b"\0").split(b"\0") if word]


def user_of(process: int) -> int | None:
    """The number of the user that the process belongs to; None if it has ended."""
    try:
        return (PROC / str(process)).stat().st_uid
    except OSError:
        return None


def user_name(user: int) -> str:
    """The name of a user, or its number if it has none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def process_space() -> int:
    """The number of this process's namespace of process numbers; 0 if the kernel does not tell."""
    try:
        return (PROC / "self" / "ns" / "pid").stat().st_ino
    except OSError:
        return 0
