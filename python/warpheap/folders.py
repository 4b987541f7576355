# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of results, each of which one command at a time writes into."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from warpheap.errors import UsageError

# Folders that a command of this process holds, by device and number: what it calls may write there, too.
_own: set[tuple[int, int]] = set()


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Makes `folder` and holds it: within this context no other command that holds it can begin.

    A command that holds the folder may call another one that holds it. A lock ends with its process, however that ends.
    A file system without locks lets everybody in. Raises `UsageError` if another command holds the folder, and if it
    cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as problem:
        raise UsageError(f"--out: {folder} cannot be written: {problem.strerror}") from problem
    status = os.fstat(place)
    folder_number = (status.st_dev, status.st_ino)
    is_ours = folder_number in _own
    try:
        if not is_ours and not _locked(place):
            raise UsageError(f"--out: another command writes into {folder}; wait for its end, or name another folder")
        _own.add(folder_number)
        yield
    finally:
        if not is_ours:
            _own.discard(folder_number)
        os.close(place)


def _locked(place: int) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks here
        return True
    return True
