# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What `--resume` keeps of an earlier run of the same state: the programs that came to their end in it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.gpu.result import Head, Result, read_lines

# What both runs have to share. The list of programs belongs to the state, unless another folder was built.
_SHARED = ("evidence", "sources", "device", "driver", "scale", "filter", "partial", "programs")
# Words of a program that was not run to its end, unless a part of it had a fault of its own, which stays.
_UNFINISHED = ("missed", "timeout")
_STAYS = ("failed", "crashed")


@dataclass(frozen=True)
class Earlier:
    """An earlier run that is gone on with; all of it is empty where a run begins anew."""

    started: str = ""  # of its first part, UTC
    jobs: int = 0  # of its first part
    resumed: tuple[dict[str, Any], ...] = ()  # how it was gone on with before
    results: tuple[Result, ...] = ()  # of the programs that are kept
    seconds: dict[str, float] = field(default_factory=dict)  # of those programs
    total: float = 0.0  # seconds of the whole earlier run
    again: dict[str, str] = field(default_factory=dict)  # programs that run again, and how each ended before

    def kept(self, name: str) -> bool:
        """True if a program runs no more, since its results are kept."""
        return name in self.seconds

    def first_line(self, head: Head) -> Head:
        """The first line of the file that holds both runs; `head` is that of the later run."""
        if not self.started:
            return head
        part = {"started": head.started, "jobs": head.jobs, "again": self.again}
        return replace(head, started=self.started, jobs=self.jobs, resumed=(*self.resumed, part))


def earlier_run(path: Path, head: Head) -> Earlier:
    """The run that `path` holds, for a run that begins with `head`.

    A program is kept if none of its results is `missed` or `timeout`. It is kept, too, if one is `failed` or `crashed`,
    since a fault stays what it is. Raises `UsageError` if the file is of another state, machine, scale or filter.
    """
    lines = read_lines(path)
    if not lines or lines[0].get("kind") != "run":
        return Earlier()
    first = lines[0]
    _refuse_another(path, first, head)
    results = [Result(**line) for line in lines if line.get("kind") in ("build", "test", "memcheck")]
    end: dict[str, Any] = lines[-1] if lines[-1].get("kind") == "end" else {}
    faulty = {each.program for each in results if each.status in _STAYS}
    again = {name: status for name, status in _unfinished(results).items() if name not in faulty}
    if results and results[-1].program not in faulty and _is_cut(path):
        again.setdefault(results[-1].program, "interrupted")  # its last lines are missing
    kept = [each for each in results if each.kind != "build" and each.program not in again]
    seconds = {each.program: 0.0 for each in kept}
    for each in kept:
        seconds[each.program] += each.seconds
    seconds |= {name: value for name, value in end.get("programs", {}).items() if name in seconds}
    return Earlier(
        first.get("started", ""),
        first.get("jobs", 0),
        tuple(first.get("resumed", ())),
        tuple(kept),
        seconds,
        end.get("seconds", 0.0),
        again,
    )


def _is_cut(path: Path) -> bool:
    """True if the file ends within a line: the run was killed while it wrote the results of its last program."""
    return not path.read_bytes().endswith(b"\n")


def _unfinished(results: Iterable[Result]) -> dict[str, str]:
    again: dict[str, str] = {}
    for each in results:
        if each.status in _UNFINISHED and again.get(each.program) != "timeout":
            again[each.program] = each.status
    return again


def _refuse_another(path: Path, first: dict[str, Any], head: Head) -> None:
    own = asdict(head)
    for name in _SHARED:
        found, wanted = first.get(name, ""), own[name]
        if (tuple(found) if name == "programs" else found) != wanted:
            what = "other programs" if name == "programs" else f"another {name}: '{found}', and this run has '{wanted}'"
            raise UsageError(f"--resume: {path} is of {what}. Leave --resume out, or name another folder")
