# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Words of a command line, lines of a message and tables, as text that every file and terminal can hold."""

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path


def quoted(words: Iterable[str]) -> str:
    """A command that a shell reads as these words. Bytes that are no UTF-8 are written as `$'\\xe9'`."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        plain = (0x20 <= byte < 0x7F and byte not in b"'\\" for byte in os.fsencode(word))
        escaped = (chr(byte) if kept else f"\\x{byte:02x}" for byte, kept in zip(os.fsencode(word), plain, strict=True))
        return f"$'{''.join(escaped)}'"
    return shlex.quote(word)


def one_line(text: str) -> str:
    """The text with a space for each run of line breaks, and without other characters that a terminal obeys."""
    joined = " ".join(text.splitlines())
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in joined)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown with a line of heads."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def where_to_report(record: Path, problem: ImportError, *command: object) -> str:
    """The message that a package is missing for the report, and the command that makes it where the package is.

    A machine that measures may lack what plots; its record is whole all the same.
    """
    made_by = quoted(["python3", "-m", "warpheap", *map(str, command)])
    return f"The measurements are in {record}. For the report {problem.name} is missing here; where it is: {made_by}"
