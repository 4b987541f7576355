# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of `warpheap run` as what other tools read: Perfetto's JSON, and a log for the pool's replay."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.interposer.calls import (
    FIRST_LINE,
    GIVEN,
    REFUSED,
    TAKEN,
    UNKNOWN,
    Event,
    LiveBlocks,
    line_of,
    processes,
    read_events,
)

# What a pool of device memory can serve. Handles have no addresses.
REPLAYED_KINDS = ("device", "managed", "stream")
# Of each block of the driver.
_ALIGNMENT = 256


def convert(trace: Path, perfetto: Path | None, log: Path | None, process: int | None) -> None:
    """Writes what was asked for. Raises `UsageError` for a file that is no trace."""
    if perfetto is None and log is None:
        raise UsageError("name what to write: --perfetto FILE, --log FILE or both")
    if process is not None and log is None:
        raise UsageError("--process chooses what --log FILE has; leave it away or add that")
    events = read_events(trace)
    # Both texts are made before one is written.
    texts = []
    if perfetto is not None:
        texts.append((perfetto, list(perfetto_text(events))))
    if log is not None:
        texts.append((log, list(pool_log(events, _chosen(events, process)))))
    for path, text in texts:
        write_text(path, text)


def _chosen(events: Sequence[Event], process: int | None) -> int:
    there = processes(events)
    if not there:
        raise UsageError("--log: no process of the trace took memory, so there is nothing to replay")
    if process is None and len(there) > 1:
        raise UsageError(f"--log has one process; choose one with --process: {', '.join(map(str, there))}")
    if process is not None and process not in there:
        raise UsageError(f"--process: {process} took no memory; these did: {', '.join(map(str, there))}")
    return there[0] if process is None else process


def pool_log(events: Sequence[Event], process: int) -> Iterator[str]:
    """The lines of one process as the pool's `logging_adaptor` writes them: device memory that has addresses."""
    for event, blocks in _replayed(events, process):
        yield from (f"- {ended.block}\n" for ended in blocks)
        if event.what == TAKEN and _is_replayed(event):
            yield f"+ {event.block} {event.bytes} {_ALIGNMENT}\n"
        elif event.what == REFUSED and _is_replayed(event):
            yield f"! {event.bytes} {_ALIGNMENT}\n"


def recording_text(events: Sequence[Event], process: int) -> Iterator[str]:
    """A trace of one process with the blocks that a pool can serve, each of which ends before its number returns."""
    yield f"{FIRST_LINE}\n"
    for event, blocks in _replayed(events, process):
        for ended in blocks:
            # At `exec` the driver takes all blocks back, and no call of the program says so.
            call = event.call if event.what == GIVEN else "exec"
            stream = event.stream if event.what == GIVEN else ended.stream
            yield line_of(replace(event, what=GIVEN, block=ended.block, call=call, stream=stream))
        if event.what == TAKEN and _is_replayed(event):
            yield line_of(event)


def _replayed(events: Sequence[Event], process: int) -> Iterator[tuple[Event, list[Event]]]:
    """The events of one process, each with the blocks that end with it and that a pool can serve.

    All kinds of memory count their blocks together, so that only all of them tell where a program becomes another one.
    """
    live = LiveBlocks()
    for event in events:
        if event.process == process:
            yield event, [each for each in live.ended_by(event) if _is_replayed(each)]


def _is_replayed(event: Event) -> bool:
    """True for an event of memory that a pool can serve."""
    return event.kind in REPLAYED_KINDS


def perfetto_text(events: Sequence[Event]) -> Iterator[str]:
    """A trace in JSON for Perfetto: a slice for each block from its start to its end, and live bytes by kind."""
    yield '{"displayTimeUnit": "ns", "traceEvents": [\n'
    separator = ""
    for row in _rows(events):
        yield separator + json.dumps(row)
        separator = ",\n"
    yield "\n]}\n"


def _rows(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    start = min((event.nanoseconds for event in events), default=0)
    live = LiveBlocks()
    held: Counter[tuple[int, str]] = Counter()
    for event in events:
        where = {"ts": (event.nanoseconds - start) / 1000, "pid": event.process, "tid": event.thread}
        changed = set()
        for ended in live.ended_by(event):
            yield {"ph": "e", **_slice(ended), **where, "args": {"end": event.call}}
            held[event.process, ended.kind] -= ended.bytes
            changed.add(ended.kind)
        if event.what == TAKEN:
            details = {"block": event.block, "call": event.call, "stream": hex(event.stream)}
            yield {"ph": "b", **_slice(event), **where, "args": details}
            held[event.process, event.kind] += event.bytes
            changed.add(event.kind)
        elif event.what in (REFUSED, UNKNOWN):
            yield {"ph": "i", "s": "t", "name": _trouble(event), **where, "args": {"error": event.error}}
        for kind in sorted(changed):
            yield {"ph": "C", "name": f"{kind} memory", **where, "args": {"bytes": held[event.process, kind]}}


def _slice(block: Event) -> dict[str, Any]:
    # Blocks of all processes are told apart by their names for Perfetto.
    return {"cat": block.kind, "id": f"{block.process}.{block.block}", "name": f"{block.bytes} bytes"}


def _trouble(event: Event) -> str:
    if event.what == REFUSED:
        return f"{event.call}: {event.bytes} bytes refused"
    return f"{event.call}: {hex(event.address)} is no block that is live"
