# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers in text, parsed as a whole; lines are counted only where an error is to be told."""

import gzip
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warpheap.graphs.trouble import refuse

# Whole or floating numbers, as the caller of `parse` asked for.
Numbers = NDArray[Any]

GZIP = b"\x1f\x8b"


def load(path: Path) -> bytes:
    """The bytes of a file, unpacked if they are those of gzip, whatever its name."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        refuse(path, None, f"cannot be read: {problem.strerror}", "check the path")
    if not data.startswith(GZIP):
        if path.suffix == ".gz":
            refuse(path, None, "is named .gz and is not packed by gzip", "rename it, or fetch it again")
        return data
    try:
        return gzip.decompress(data)
    except EOFError:
        refuse(path, None, "ends in the middle of its gzip data", "fetch it again: it was cut off")
    except (gzip.BadGzipFile, zlib.error) as problem:
        refuse(path, None, f"is damaged: {problem}", "fetch it again")


@dataclass(frozen=True)
class Words:
    """The words of a text, and where they are; comments are left out."""

    path: Path
    text: NDArray[np.uint8]  # with spaces in place of comments
    lines: NDArray[np.int64]  # of each word the line that it is in, from 1 on
    comment_lines: NDArray[np.int64]  # numbers of the lines that are comments
    line_count: int

    def first_of_line(self) -> NDArray[np.bool_]:
        """True for each word that is the first of its line."""
        first = np.ones(len(self.lines), bool)
        first[1:] = self.lines[1:] != self.lines[:-1]
        return first

    def line(self, number: int) -> str:
        """The text of a line, from 1 on, shortened for a message."""
        line = bytes(self.text).split(b"\n")[number - 1].decode("utf-8", errors="replace").strip()
        return line if len(line) <= 60 else line[:57] + "..."


def find_words(path: Path, data: bytes, comments: bytes, first_line: int = 1) -> Words:
    """The words of `data`, separated by blanks. Lines that begin with a character of `comments` are left out.

    `first_line` is the number that the file gives to the first line of `data`; what lies before it is told as it is.
    """
    text = np.frombuffer(data, np.uint8)
    blank = text <= 32
    ends = np.flatnonzero(text == 10)
    starts = np.flatnonzero(~blank & np.concatenate(([True], blank[:-1])))
    # The line of a word is the number of line ends before it.
    lines = np.searchsorted(ends, starts) + first_line
    first = np.ones(len(starts), bool)
    first[1:] = lines[1:] != lines[:-1]
    is_comment = first & np.isin(text[starts], np.frombuffer(comments, np.uint8))
    comment_lines = lines[is_comment]
    if len(comment_lines):
        text = text.copy()
        bounds = np.concatenate((ends, [len(text)]))
        for start, number in zip(starts[is_comment], comment_lines, strict=True):
            text[start : bounds[number - first_line]] = 32
        lines = lines[~np.isin(lines, comment_lines)]
    count = len(ends) + (len(text) > 0 and text[-1] != 10)
    return Words(path, text, lines, comment_lines, first_line + int(count) - 1)


def parse(words: Words, kind: type[np.int64] | type[np.float64], remedy: str) -> Numbers:
    """The number that each word is. Refuses a word that is no number of `kind`, and what is not finite."""
    numbers = _numbers(bytes(words.text), kind)
    if len(numbers) == len(words.lines) and bool(np.isfinite(numbers).all()):
        return numbers
    _refuse_word(words, kind, remedy)


def _numbers(text: bytes, kind: type[np.int64] | type[np.float64]) -> Numbers:
    """As many numbers as there are before the first word that is no number."""
    if not text.strip():
        return np.zeros(0, kind)
    with warnings.catch_warnings():
        # An older NumPy warns of a word that is no number, and gives what lies before it.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return np.fromstring(text, kind, sep=" ")
        except ValueError:
            return np.zeros(0, kind)


def _refuse_word(words: Words, kind: type[np.int64] | type[np.float64], remedy: str) -> NoReturn:
    """Refuses the first word that is no number of `kind`."""
    shown = bytes(words.text).decode("utf-8", errors="replace").split()
    for word, line in zip(shown, words.lines, strict=False):
        try:
            good = np.isfinite(kind(float(word)) if kind is np.float64 else int(word)) and "_" not in word
        except (ValueError, OverflowError):
            good = False
        if not good:
            what = "number" if kind is np.float64 else "whole number"
            refuse(words.path, int(line), f"'{word[:40]}' is no {what}", remedy)
    refuse(words.path, None, "holds characters that no number has", remedy)


def table(words: Words, columns: int, what: str, remedy: str) -> NDArray[np.bool_]:
    """Checks that each line that has words has `columns` of them. Returns which words are the first of a line."""
    first = words.first_of_line()
    starts = np.flatnonzero(first)
    lengths = np.diff(np.concatenate((starts, [len(first)])))
    wrong = np.flatnonzero(lengths != columns)
    if len(wrong):
        line = int(words.lines[starts[wrong[0]]])
        refuse(words.path, line, f"has {lengths[wrong[0]]} columns and not {columns}, {what}", remedy)
    return first


def check_ids(path: Path, ids: Numbers, lines: NDArray[np.int64], lowest: int, vertices: int) -> None:
    """Checks that ids are whole and from `lowest` to `lowest + vertices - 1`; `lines` has the line of each."""
    highest = lowest + vertices - 1
    wrong = (ids < lowest) | (ids > highest)
    if ids.dtype == np.float64:
        wrong |= ids != np.floor(ids)
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    refuse_id(path, int(lines[at]), ids[at].item(), lowest, vertices)


def refuse_id(path: Path, place: int | str, wrong: float, lowest: int, vertices: int) -> NoReturn:
    """Refuses an id that is not one of `vertices` ids from `lowest` on."""
    if wrong != int(wrong):
        refuse(path, place, f"{wrong} is no id of a vertex", "write a whole number")
    shown = int(wrong)
    if shown < 0:
        refuse(path, place, f"{shown} is negative, and ids are from {lowest} on", "remove the line, or number anew")
    if shown < lowest:
        refuse(path, place, f"{shown} is no id here, where ids are from {lowest} on", "add 1 to all ids")
    remedy = "raise the number of vertices, or remove the line"
    refuse(path, place, f"{shown} is above {lowest + vertices - 1}, the largest id of {vertices} vertices", remedy)
