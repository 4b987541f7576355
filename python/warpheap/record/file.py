# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records on disk."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.record.parse import NotJsonError, ParseError, parse
from warpheap.record.schema import Key, Record, RecordError, key, validate
from warpheap.record.upgrade import upgrade

RECORD_NAME = "survey.jsonl"


def record_at(path: Path) -> Path:
    """The record that a user names: a file, or a folder of a survey, whose record lies in it."""
    return path / RECORD_NAME if path.is_dir() else path


# How the driver's records begin, and so each line of a file of ours.
_BEGINNING = '{"schema": '


class RecordFile:
    """A record on disk. Each line is on disk before the next case starts, so an interruption costs the case in hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[Key, Record] = {}

    @classmethod
    def open(cls, path: Path) -> "RecordFile":
        """The record at `path`, or an empty one. A last line that was cut short is dropped, any other fault raises."""
        file = cls(path)
        if path.exists():
            for record in read_records(path):
                file._records[key(record)] = record
            file._rewrite()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()  # a folder that cannot be written is told before the first case runs, not after it
        return file

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def find(self, wanted: Key) -> Record | None:
        """The record of that key."""
        return self._records.get(wanted)

    def append(self, record: Record) -> None:
        """Adds a valid record, in place of one with its key."""
        replaces = key(validate(record)) in self._records
        self._records[key(record)] = record
        if replaces:
            self._rewrite()
            return
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_line(record))
            stream.flush()
            os.fsync(stream.fileno())

    def extend(self, records: Iterable[Record]) -> None:
        """Adds valid records, each in place of one with its key: an interruption leaves all of them on disk, or none.

        One write for all: to replace records one by one writes the whole file for each.
        """
        added = {key(validate(each)): each for each in records}
        if all(self._records.get(own) == each for own, each in added.items()):
            return
        before = self._records
        self._records = before | added
        try:
            self._rewrite()
        except BaseException:
            self._records = before
            raise

    def set_aside(self, keep: Callable[[Record], bool], name: str) -> int:
        """Moves records that `keep` refuses to the file `name` beside this one; returns how many."""
        others = [record for record in self if not keep(record)]
        if others:
            with (self.path.parent / name).open("a", encoding="utf-8") as stream:
                stream.writelines(_line(record) for record in others)
            self._records = {key(record): record for record in self if keep(record)}
            self._rewrite()
        return len(others)

    def _rewrite(self) -> None:
        write_records(self.path, self)


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Writes JSON lines in place of what `path` holds. An interruption leaves the old file or the new one."""
    write_text(path, (_line(record) for record in records))


def read_lines(path: Path) -> list[Any]:
    """The objects of a file of JSON lines. A last line without its end is dropped if it is cut short."""
    return [each for _, each in read_numbered(path)]


def read_numbered(path: Path) -> list[tuple[int, Any]]:
    """As `read_lines`, with the number of each line. Raises `UsageError` that names the first line that is no JSON."""
    try:
        text = _decoded(path.read_bytes())
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is no text file of JSON lines") from problem
    objects = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() == "":
            continue
        try:
            objects.append((number, parse(line)))
        except ParseError as problem:
            if number == len(lines) and isinstance(problem, NotJsonError) and (objects or _begins_record(line)):
                break  # the writer was killed, or the disk was full, in the middle of its last line
            raise UsageError(f"{path}, line {number}: {problem}") from problem
    return objects


def _decoded(text: bytes) -> str:
    """The letters of a text; the last one is left out if it was cut short."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as problem:
        if problem.reason != "unexpected end of data":
            raise
        return text[: problem.start].decode("utf-8")


def _begins_record(line: str) -> bool:
    """True for the beginning of a record; what else may be the only line of a file is not ours to drop."""
    return line.startswith(_BEGINNING) or _BEGINNING.startswith(line)


def read_records(path: Path) -> list[Record]:
    """The records of a file, in the present schema. Raises `UsageError` that names the first invalid line."""
    records = []
    for number, each in read_numbered(path):
        try:
            records.append(validate(upgrade(each)))
        except RecordError as problem:
            raise UsageError(f"{path}, line {number}: {problem}") from problem
    return records
