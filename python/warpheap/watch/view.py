# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a look shows: a table for people, a JSON object for scripts."""

import os
import time
from pathlib import PurePath
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpheap.units import show_bytes, show_count
from warpheap.watch.look import NOTHING, Counters, Look, Watched
from warpheap.words import one_line

_WORDS = {"device": "device", "managed": "managed", "stream": "stream order", "host": "host", "physical": "physical"}
# As wide as the texts usually are, so that the tables of several processes have their columns below each other.
_NUMBERS = {"live": 9, "peak": 9, "reserved": 9, "blocks": 6, "allocs/s": 8, "frees/s": 7, "failed": 6}
_MEMORY_WIDTH = 18


def show(now: Look, ended: int | None = None) -> RenderableType:
    """The table of a look; `ended` is a process that was watched and is over."""
    lines: list[RenderableType] = []
    lines += [_table(process) for process in now.processes]
    if not now.processes and not now.problems and ended is None:
        lines.append(Text(NOTHING, style="dim"))
    for process in now.processes:
        if process.unshown:
            lines.append(
                Text(f"process {process.process} has {process.unshown} pools more, which its page cannot hold")
            )
    lines += [Text.assemble(("not shown:", "yellow"), " ", one_line(problem)) for problem in now.problems]
    if ended is not None:
        lines.append(Text(f"process {ended} has ended"))
    return Group(*lines)


def _table(process: Watched) -> Table:
    table = Table(
        title=Text(f"{process.process} {_short(process.command)}", no_wrap=True, overflow="ellipsis"),
        title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD, padding=0,
        pad_edge=False, show_edge=False,
    )  # fmt: skip
    table.add_column("memory", no_wrap=True, min_width=_MEMORY_WIDTH)
    for name, width in _NUMBERS.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for each in process.counters.values():
        table.add_row(*_cells(each))
    return table


def _short(command: list[str]) -> str:
    """The program's name and its first argument that is no option, as in `python train.py`."""
    if not command:
        return ""
    named = next((word for word in command[1:] if not word.startswith("-")), "")
    return one_line(" ".join(filter(None, (PurePath(command[0]).name, PurePath(named).name))))


def _cells(each: Counters) -> list[Text]:
    row = each.row
    failed = Text(show_count(row.failures), style="red" if row.failures else "")
    return [
        Text(_memory(each)),
        Text(show_bytes(row.live_bytes)),
        Text(show_bytes(_peak(each))),
        Text("" if row.committed_bytes is None else show_bytes(row.committed_bytes)),
        Text(show_count(row.live_blocks)),
        Text(_rate(each.allocations_per_second)),
        Text(_rate(each.deallocations_per_second)),
        failed,
    ]


def _memory(each: Counters) -> str:
    """The memory's place and kind: `GPU 0: pool 2`, `GPU 0: stream order`, `host`."""
    row = each.row
    pool = "common pool" if row.common else f"pool {row.number}"
    what = _WORDS.get(row.kind, pool)
    if row.device is None:
        return what
    is_host = each.board.source == "pools" and each.board.detail == "host"
    return f"{'host' if is_host else f'GPU {row.device}'}: {what}"


def _peak(each: Counters) -> int:
    # The peak may be written a moment after the blocks that it comes from.
    return max(each.row.peak_live_bytes, each.row.live_bytes)


def _rate(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


def as_object(now: Look) -> dict[str, Any]:
    """A look as JSON has it; docs/watch.md names the members."""
    return {
        "time": time.time(),
        "processes": [_process(each) for each in now.processes],
        "problems": now.problems,
    }


def _process(process: Watched) -> dict[str, Any]:
    return {
        "process": process.process,
        "command": [os.fsencode(word).decode("utf-8", "replace") for word in process.command],
        "unshown_pools": process.unshown,
        "counters": [_counters(each) for each in process.counters.values()],
    }


def _counters(each: Counters) -> dict[str, Any]:
    row = each.row
    return {
        "source": each.board.source,
        "detail": each.board.detail,
        "kind": row.kind,
        "device": row.device,
        "number": row.number,
        "common": row.common,
        "live_bytes": row.live_bytes,
        "peak_live_bytes": _peak(each),
        "committed_bytes": row.committed_bytes,
        "peak_committed_bytes": row.peak_committed_bytes,
        "live_blocks": row.live_blocks,
        "peak_live_blocks": max(row.peak_live_blocks, row.live_blocks),
        "allocations": row.allocations,
        "allocated_bytes": row.allocated_bytes,
        "deallocations": row.deallocations,
        "deallocated_bytes": row.deallocated_bytes,
        "failures": row.failures,
        "allocations_per_second": each.allocations_per_second,
        "deallocations_per_second": each.deallocations_per_second,
    }
