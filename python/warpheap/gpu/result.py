# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of tests.jsonl and memcheck.jsonl: a run's head, its results, its end. docs/records.md describes them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.record import ParseError, parse
from warpheap.record.check import is_number, is_text

STATUSES = ("ok", "failed", "timeout", "crashed", "missed", "skipped")
# `missed` had no turn, so nothing is known of it; `skipped` is the word of the test itself.
FAULTS = ("failed", "timeout", "crashed", "missed")


@dataclass(frozen=True)
class Result:
    """How one test, or one program under the checker, ended."""

    kind: str  # build, test or memcheck
    program: str
    name: str
    status: str
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class Head:
    """The first line of a file: what was run, of which state, on which machine. Empty text: not known."""

    what: str  # tests or memcheck
    evidence: str  # fingerprint of what CUDA tests are made of
    sources: str  # fingerprint of what a measurement is about
    device: str
    driver: str
    nvcc: str
    started: str  # UTC
    scale: str  # WARPHEAP_TEST_SCALE in force
    programs: tuple[str, ...] = ()  # all that are expected, sorted
    filter: str = ""  # the filter of GoogleTest; empty: everything
    partial: str = ""  # why the run cannot be known to be whole; empty: it can
    jobs: int = 0  # programs side by side; of the first part, if the run was gone on with
    resumed: tuple[dict[str, Any], ...] = ()  # each time that the run was gone on with: when, and for which programs


class ResultFile:
    """Results on disk, each as soon as it is known.

    `begin` replaces the file that lies at `path`, all at once: an interruption leaves the old file or the new one.
    Until `end`, the file has no last line that says it is whole. Raises `UsageError` where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[Result] = []
        self.seconds: dict[str, float] = {}  # of each program, its start included

    def begin(self, head: Head, kept: Iterable[Result] = (), seconds: Mapping[str, float] | None = None) -> None:
        """Start the file with its first line and what is `kept` of an earlier run, whose programs took `seconds`."""
        optional = ("filter", "partial", "jobs", "resumed")
        line = {name: value for name, value in asdict(head).items() if value or name not in optional}
        self.results = list(kept)
        self.seconds = dict(seconds or {})
        write_text(self.path, (_text(each) for each in [{"kind": "run"} | line, *map(asdict, self.results)]))

    def add(self, result: Result) -> None:
        """Keep a result."""
        self.results.append(result)
        self._write(asdict(result))

    def add_program(self, results: Iterable[Result], seconds: float) -> None:
        """Keep the results of one program, which ran for `seconds`."""
        added = list(results)
        self.results += added
        self._write(*map(asdict, added))  # at once, so that a killed run leaves all of them, none, or half a line
        for result in added:
            if result.status != "missed":
                self.seconds[result.program] = round(seconds, 3)

    def end(self, seconds: float) -> None:
        """Write the last line: the run came to its end after `seconds`."""
        counts = count(self.results)
        self._write({"kind": "end", "seconds": round(seconds, 1), "counts": counts, "programs": self.seconds})

    def _write(self, *lines: Mapping[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write("".join(map(_text, lines)))
        except OSError as problem:
            raise UsageError(f"{self.path} cannot be written: {problem.strerror}") from problem


def _text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"


def count(results: Iterable[Result]) -> dict[str, int]:
    """How many ended in each way."""
    numbers = dict.fromkeys(STATUSES, 0)
    for result in results:
        numbers[result.status] += 1
    return numbers


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file that a run has left. Lines that are no results are left out; no file has none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")  # a killed process may have cut a letter
    except OSError:
        return []
    objects = []
    for line in text.splitlines():
        try:
            objects.append(parse(line))
        except ParseError:
            continue  # the end of a line that a killed process did not finish
    return [each for each in objects if isinstance(each, dict) and _is_sound(each)]


def _is_sound(line: dict[str, Any]) -> bool:
    """True unless a line says that it is a result or an end, and lacks what such a line has."""
    if line.get("kind") in ("build", "test", "memcheck"):
        known = {name: value for name, value in line.items() if name in Result.__dataclass_fields__}
        texts = (line.get("program"), line.get("name"), line.get("reason", ""))
        return (
            len(known) == len(line)
            and all(map(is_text, texts))
            and line.get("status") in STATUSES
            and is_number(line.get("seconds"))
        )
    if line.get("kind") == "end":
        programs = line.get("programs")
        times = [line.get("seconds", 0), *(programs.values() if isinstance(programs, dict) else ())]
        return isinstance(programs, dict) and all(map(is_number, times))
    if line.get("kind") == "run":
        return all(isinstance(line.get(name, []), list) for name in ("programs", "resumed"))
    return True


def read_head(path: Path) -> dict[str, Any]:
    """The first line of a file that a run has left; empty for a file without one."""
    lines = read_lines(path)[:1]
    return lines[0] if lines and lines[0].get("kind") == "run" else {}


def read_seconds(path: Path) -> dict[str, float]:
    """The seconds of each program in a file that a run has left: those of its end, else the sum over its results."""
    lines = read_lines(path)
    seconds: dict[str, float] = {}
    for line in lines:
        if line.get("kind") in ("test", "memcheck") and line["status"] != "missed":
            seconds[line["program"]] = seconds.get(line["program"], 0.0) + float(line["seconds"])
    if lines and lines[-1].get("kind") == "end":
        seconds.update(lines[-1]["programs"])
    return seconds
