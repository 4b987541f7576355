# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""One line of tests.jsonl or memcheck.jsonl. docs/survey.md describes them."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

STATUSES = ("ok", "failed", "timeout", "crashed", "skipped")
FAULTS = ("failed", "timeout", "crashed")


@dataclass(frozen=True)
class Result:
    """How one test, or one program under the checker, ended."""

    kind: str  # build, test or memcheck
    program: str
    name: str
    status: str
    seconds: float
    reason: str = ""


class ResultFile:
    """Results on disk, each as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.results: list[Result] = []
        self._path = path
        path.write_text("", encoding="utf-8")

    def add(self, result: Result) -> None:
        """Keeps a result."""
        self.results.append(result)
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def count(results: Iterable[Result]) -> dict[str, int]:
    """How many ended in each way."""
    numbers = dict.fromkeys(STATUSES, 0)
    for result in results:
        numbers[result.status] += 1
    return numbers
