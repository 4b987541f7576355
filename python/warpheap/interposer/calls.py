# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of `warpheap run --mode trace`, as events; docs/run.md has the format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warpheap.errors import UsageError

FIRST_LINE = "warpheap driver calls 1"
TAKEN, GIVEN, REFUSED, UNKNOWN = "+", "-", "!", "?"
KINDS = ("device", "managed", "stream", "host", "physical")
# A block that comes again with one of these calls was given back, and the driver refused it.
FREES = ("cuMemFree_v2", "cuMemFreeAsync", "cuMemFreeAsync_ptsz", "cuMemFreeHost", "cuMemRelease")


@dataclass(frozen=True)
class Event:
    """A block that was taken or given back, or a call that the driver refused."""

    nanoseconds: int  # of a clock that starts anywhere
    process: int
    thread: int
    what: str  # TAKEN, GIVEN, REFUSED or UNKNOWN
    call: str
    stream: int
    block: int = 0  # of TAKEN and GIVEN; blocks of a process count from 1
    bytes: int = 0  # of TAKEN and REFUSED
    kind: str = ""  # of TAKEN and REFUSED: one of KINDS
    address: int = 0  # of UNKNOWN
    error: int = 0  # of REFUSED and UNKNOWN: the driver's, 0 if it took the block back


def read_events(path: Path) -> list[Event]:
    """All events of a file. Raises `UsageError` for one that is no trace, with the number of the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no trace of 'warpheap run': it is no text") from error
    return list(parse_events(text, str(path)))


def parse_events(text: str, name: str) -> Iterator[Event]:
    """The events of a trace, whose `name` is for messages. A last line that was cut off is left out."""
    first, *lines = text.split("\n")
    if first != FIRST_LINE:
        raise UsageError(f"{name} is no trace of 'warpheap run': its first line is not '{FIRST_LINE}'")
    # What comes after the last line end was being written when the process was killed.
    for number, line in enumerate(lines[:-1], 2):
        try:
            yield _event(line.split(" "))
        except ValueError as error:
            raise UsageError(f"{name}, line {number} is not as 'warpheap run' writes it: {line[:80]}") from error


def _event(words: list[str]) -> Event:
    # Too few words, and too many, are a ValueError of the assignments.
    moment, process, thread, what, *rest = words
    when = (int(moment), int(process), int(thread))
    if what == TAKEN:
        block, size, kind, call, stream = rest
        return Event(*when, what, call, int(stream, 16), block=int(block), bytes=int(size), kind=_kind(kind))
    if what == GIVEN:
        block, call, stream = rest
        return Event(*when, what, call, int(stream, 16), block=int(block))
    if what == REFUSED:
        size, kind, call, stream, error = rest
        return Event(*when, what, call, int(stream, 16), bytes=int(size), kind=_kind(kind), error=int(error))
    if what == UNKNOWN:
        address, call, stream, error = rest
        return Event(*when, what, call, int(stream, 16), address=int(address, 16), error=int(error))
    raise ValueError(what)


def line_of(event: Event) -> str:
    """The line of a block that was taken or given back, as the library writes it."""
    size = f" {event.bytes} {event.kind}" if event.what == TAKEN else ""
    when = f"{event.nanoseconds} {event.process} {event.thread}"
    return f"{when} {event.what} {event.block}{size} {event.call} {event.stream:#x}\n"


def _kind(word: str) -> str:
    if word not in KINDS:
        raise ValueError(word)
    return word


class LiveBlocks:
    """The blocks of each process that are live as one goes through the events in their order."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[int, Event]] = {}
        self._newest: dict[int, int] = {}  # the highest number of a block that each process has taken

    def of(self, process: int) -> dict[int, Event]:
        """The blocks of a process by their numbers."""
        return self._blocks.setdefault(process, {})

    def ended_by(self, event: Event) -> list[Event]:
        """The blocks that end with this event, which is then part of the past.

        A process that begins to count anew has become another program, and all blocks that it had are gone. A number
        that comes again because the driver refused a free is no new beginning.
        """
        live = self.of(event.process)
        ended = []
        if event.what == GIVEN and event.block in live:
            ended = [live.pop(event.block)]
        elif event.what == TAKEN:
            if event.block <= self._newest.get(event.process, 0) and event.call not in FREES:
                ended = list(live.values())
                live.clear()
                self._newest[event.process] = 0
            self._newest[event.process] = max(event.block, self._newest.get(event.process, 0))
            live[event.block] = event
        return ended


def processes(events: Iterable[Event]) -> list[int]:
    """The processes that took memory, in the order in which they began to."""
    return list(dict.fromkeys(event.process for event in events if event.what == TAKEN))
