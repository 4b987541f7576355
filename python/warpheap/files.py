# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Text files: always UTF-8, whatever the locale, and whole or not there."""

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

# Some file systems take no name of more than 255 bytes, with ending and draft.
_LONGEST_NAME = 120


class FileNames:
    """Names of the files of one folder, made of names that come from a record, which anybody can have written."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """A name of letters, digits and `-_.` for `name`: it leads out of no folder, and no two are alike."""
        safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).lstrip(".-")[:_LONGEST_NAME] or "file"
        made, count = safe, 1
        # Some file systems do not tell large letters from small ones.
        while made.lower() in self._taken:
            count += 1
            made = f"{safe}-{count}"
        self._taken.add(made.lower())
        return made


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An `OSError` names `path`, which the user asked for, in place of a draft."""
    try:
        yield
    except OSError as problem:
        problem.filename = str(path)
        raise


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Writes a text, or its parts, in place of what `path` holds. An interruption leaves the old file or the new one.

    What is no file, such as a pipe or /dev/stdout, is written to and stays; a link leads on to where it led.
    What is no character, such as a byte of a file's name that is no UTF-8, is written as `\\udcXX`.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        with _naming(path), path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as device:
            device.writelines([text] if isinstance(text, str) else text)
        return
    path = Path(os.path.realpath(path))
    # A name by chance, for a new file only: neither the user's files nor the draft of a killed process are in the way.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.draft")
    with _naming(path):
        stream = draft.open("x", encoding="utf-8", errors="backslashreplace", newline="\n")
    with stream:
        try:
            stream.writelines([text] if isinstance(text, str) else text)
            stream.flush()
            draft.replace(path)
        except BaseException:
            draft.unlink()
            raise


def check_writable(*paths: Path) -> None:
    """Raises `OSError` if `write_text` could not write one of them; makes the folders that they are to be in.

    For what is written after hours of measuring: a folder that is full or not ours is told before.
    """
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        trial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.draft")
        try:
            with _naming(path):
                trial.write_bytes(b"trial")
        finally:
            trial.unlink(missing_ok=True)
