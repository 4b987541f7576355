# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records of an experiment: JSON lines with a case, a subject and a status."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError, unknown_name
from warpheap.experiments.check import Needs, validate
from warpheap.record import RecordError, read_numbered
from warpheap.units import words_of

Record = dict[str, Any]


def read(path: Path, needs: Needs) -> list[Record]:
    """The records of a file that an earlier run has left. Raises `UsageError` that names the first invalid line.

    `needs` names for each case the fields that a record of status ok must have.
    """
    if not path.is_file():
        raise UsageError(f"{path} is not there: measure first, without --no-measure")
    records = []
    for number, each in read_numbered(path):
        try:
            records.append(validate(each, needs))
        except RecordError as problem:
            raise UsageError(f"{path}, line {number}: {problem}") from problem
    return records


def without_result(case: str, subject: str, status: str, reason: str) -> Record:
    """The record of what was not measured."""
    return {"case": case, "subject": subject, "status": status, "reason": reason}


def something_failed(records: Sequence[Record]) -> bool:
    """True if what was begun did not end well; what was left out is no failure."""
    return any(record["status"] in ("failed", "timeout") for record in records)


def chosen(text: str | None, option: str, names: Sequence[str]) -> list[str]:
    """The names that an option lists, each once; all if it is not given.

    Raises `UsageError` for an unknown name and for a list without one, such as that of an empty variable of a shell.
    """
    if text is None:
        return list(names)
    wanted = list(dict.fromkeys(words_of(text)))
    for word in wanted or [text]:
        if word not in names:
            raise unknown_name(option, word, names)
    return wanted
