# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What `--resume` keeps of an earlier run of the same state: the programs that came to their end in it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.gpu.result import Head, Result, read_head, read_lines

# What both runs have to share. The list of programs belongs to the state, unless another folder was built.
_SHARED = ("evidence", "sources", "device", "driver", "scale", "filter", "partial", "programs")
_HOW_TO_GO_ON = "Leave --resume out, or name another folder"
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
    total: float = 0.0  # seconds of the whole earlier run, if it came to its end
    again: dict[str, str] = field(default_factory=dict)  # programs that run again, and how each ended before

    def kept(self, name: str) -> bool:
        """True if a program runs no more, since its results are kept."""
        return name in self.seconds

    def first_line(self, head: Head, running: Collection[str]) -> Head:
        """The first line of the file that holds both runs; `head` is that of the later one, which runs `running`."""
        if not self.started:
            return head
        again = {name: status for name, status in self.again.items() if name in running}
        part = {"started": head.started, "jobs": head.jobs, "again": again}
        return replace(head, started=self.started, jobs=self.jobs, resumed=(*self.resumed, part))


def earlier_run(path: Path, head: Head) -> Earlier:
    """The run that `path` holds, for a run that begins with `head`.

    A program is kept if none of its results is `missed` or `timeout`. It is kept, too, if one is `failed` or `crashed`,
    since a fault stays what it is. Raises `UsageError` if the file is of another state, machine, scale or filter, or
    does not begin as a run does.
    """
    own = asdict(head)
    refuse_another(path, {name: own[name] for name in _SHARED})
    lines = read_lines(path)
    if not lines:
        return Earlier()
    first = lines[0]
    results = [Result(**line) for line in lines if line.get("kind") in ("test", "memcheck")]
    end: dict[str, Any] = lines[-1] if lines[-1].get("kind") == "end" else {}
    faulty = {each.program for each in results if each.status in _STAYS}
    again = {name: status for name, status in _unfinished(results).items() if name not in faulty}
    if results and _is_cut(path):
        last = results[-1]
        if last.program in faulty:
            reason = "its results were cut when the run was killed"
            results.append(Result(last.kind, last.program, last.program, "missed", 0.0, reason))
        else:
            again.setdefault(last.program, "interrupted")
    kept = [each for each in results if each.program not in again]
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


def refuse_another(path: Path, wanted: Mapping[str, Any]) -> None:
    """Raise `UsageError` if the run that `path` holds has another value for a name of `wanted`, or cannot be read."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    first = read_head(path)
    if not first:
        raise UsageError(f"--resume: {path} does not begin with the line of a run. {_HOW_TO_GO_ON}")
    if not first.get("evidence"):
        raise UsageError(f"--resume: {path} does not name the state of its sources. {_HOW_TO_GO_ON}")
    for name, value in wanted.items():
        found = first.get(name, "")
        if (tuple(found) if name == "programs" else found) != value:
            what = "other programs" if name == "programs" else f"another {name}: '{found}', and this run has '{value}'"
            raise UsageError(f"--resume: {path} is of {what}. {_HOW_TO_GO_ON}")
