# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What `--resume` keeps of an earlier run of the same state: the programs that came to their end in it.

A fault stays, since a fault that is rare must not be repeated until it hides. Examples in Python are the exception:
they depend on packages, which belong to no state. The first line of the file tells the faults that they replace.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.gpu.build import is_script
from warpheap.gpu.result import Head, Result, read_head, read_lines

# What both runs have to share. The list of programs belongs to the state, unless another folder was built.
_SHARED = ("evidence", "sources", "device", "driver", "scale", "filter", "partial", "programs")
_HOW_TO_GO_ON = "Leave --resume out, or name another folder"
# How a program ended, the first of these that one of its results has. The first two are faults of its own, and the next
# two say that it did not come to its end.
_ENDS = ("crashed", "failed", "timeout", "missed", "skipped", "ok")
_STAYS = _ENDS[:2]
_UNFINISHED = _ENDS[2:4]


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
    faults: tuple[Result, ...] = ()  # of those programs

    def kept(self, name: str) -> bool:
        """True if a program runs no more, since its results are kept."""
        return name in self.seconds

    def first_line(self, head: Head, running: Collection[str]) -> Head:
        """The first line of the file that holds both runs; `head` is that of the later one, which runs `running`."""
        if not self.started:
            return head
        part: dict[str, Any] = {
            "started": head.started,
            "jobs": head.jobs,
            "again": {name: status for name, status in self.again.items() if name in running},
        }
        if faults := [_told(each) for each in self.faults if each.program in running]:
            part["faults"] = faults
        return replace(head, started=self.started, jobs=self.jobs, resumed=(*self.resumed, part))


def earlier_run(path: Path, head: Head, there: Collection[str] = ()) -> Earlier:
    """The run that `path` holds, for a run that begins with `head`, with the programs `there`.

    A program runs again if it had no turn or no time, and no fault. An example in Python that was not ok runs again,
    too, if it is `there`. All others are kept. Raises `UsageError` if the file is of another state, machine, scale or
    filter, or does not begin as a run does.
    """
    own = asdict(head)
    refuse_another(path, {name: own[name] for name in _SHARED})
    lines = read_lines(path)
    if not lines:
        return Earlier()
    first = lines[0]
    results = [Result(**line) for line in lines if line.get("kind") in ("test", "memcheck")]
    end: dict[str, Any] = lines[-1] if lines[-1].get("kind") == "end" else {}
    again = _again(results, {name for name in there if head.what == "tests" and is_script(Path(name))})
    if results and _is_cut(path):
        last = results[-1]
        if last.program not in again and _ended(results, last.program) in _STAYS:
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
        tuple(each for each in results if each.program in again and each.status in _STAYS),
    )


def _is_cut(path: Path) -> bool:
    """True if the file ends within a line: the run was killed while it wrote the results of its last program."""
    return not path.read_bytes().endswith(b"\n")


def _again(results: Sequence[Result], repeatable: Collection[str]) -> dict[str, str]:
    """The programs that run again, and how each had ended."""
    again = {}
    for name in dict.fromkeys(each.program for each in results):
        ended = _ended(results, name)
        if ended in _UNFINISHED or (name in repeatable and ended != "ok"):
            again[name] = ended
    return again


def _ended(results: Sequence[Result], program: str) -> str:
    own = {each.status for each in results if each.program == program}
    return next(status for status in _ENDS if status in own)


def _told(fault: Result) -> dict[str, str]:
    """A fault as the first line of the file tells it."""
    return {"program": fault.program, "name": fault.name, "status": fault.status, "reason": fault.reason}


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
