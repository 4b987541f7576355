# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""One look at the boards of all processes, and the rates between two looks."""

import os
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

from warpheap.errors import UsageError
from warpheap.watch.board import Board, Place, Row, UnreadableBoard, find_places, read_board
from warpheap.watch.owners import command_of, find_owner, process_space, user_name, user_of

NOTHING = (
    "no process of yours publishes counters: start a program with 'warpheap run -- PROGRAM', or one that makes a pool "
    "of warpheap's"
)


@dataclass(frozen=True)
class Counters:
    """A row of a board, and how fast it changes. Rates are null without an earlier look."""

    board: Board
    row: Row
    allocations_per_second: float | None = None
    deallocations_per_second: float | None = None


@dataclass(frozen=True)
class Watched:
    """A process that publishes counters. A key names a pool or a kind of memory for as long as that lives."""

    process: int
    command: list[str]
    counters: dict[Hashable, Counters]
    unshown: int  # pools without a row


@dataclass(frozen=True)
class Look:
    """What all processes publish at a moment."""

    at: float = field(default_factory=time.monotonic)
    processes: list[Watched] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def look(where: Path, only: int | None = None, before: Look | None = None) -> Look:
    """The counters of this user's processes, or of one, with rates since the look before."""
    now = Look()
    space, user = process_space(), os.geteuid()
    known = _by_key(before)
    by_process: dict[int, list[Place]] = {}
    for place in find_places(where):
        if (place.user, place.space) == (user, space) and only in (None, place.process) and _is_alive(place):
            by_process.setdefault(place.process, []).append(place)
    for process, places in sorted(by_process.items()):
        counters: dict[Hashable, Counters] = {}
        unshown = 0
        for place in places:
            try:
                board = read_board(place)
            except UnreadableBoard as problem:
                now.problems.append(str(problem))
                continue
            if board is None:
                continue
            unshown += board.unshown
            for slot, row in board.rows.items():
                key = (place, slot, row.kind, row.device, row.number)
                counters[key] = _rated(board, row, known.get(key), now.at - before.at if before is not None else 0)
        if counters:
            now.processes.append(Watched(process, command_of(process), counters, unshown))
    return now


def _is_alive(place: Place) -> bool:
    """True if the program that made the board runs: its process has not ended, nor become another program."""
    owner = find_owner(place.process)
    return owner is not None and owner.start == place.start and owner.stack in (0, place.stack)


def _by_key(before: Look | None) -> dict[Hashable, Row]:
    if before is None:
        return {}
    return {key: each.row for process in before.processes for key, each in process.counters.items()}


def _rated(board: Board, row: Row, before: Row | None, seconds: float) -> Counters:
    if before is None or seconds <= 0:
        return Counters(board, row)
    return Counters(
        board,
        row,
        max(0, row.allocations - before.allocations) / seconds,
        max(0, row.deallocations - before.deallocations) / seconds,
    )


def nothing_of(where: Path, process: int) -> UsageError:
    """Why a process has no counters to show."""
    owner = find_owner(process)
    if owner is None:
        if any(place.process == process for place in find_places(where)):
            return UsageError(f"process {process} has ended")
        return UsageError(f"there is no process {process}")
    user = user_of(process)
    if user is not None and user != os.geteuid():
        name = user_name(user)
        return UsageError(
            f"process {process} is of the user {name}, and a process is watched by its own user alone: "
            f"sudo -u {name} warpheap watch {process}"
        )
    return UsageError(
        f"process {process} publishes no counters. It has made no pool of warpheap's, and 'warpheap run' did not start "
        "it, or it has not asked for memory yet; or WARPHEAP_WATCH=0 is in its environment, or its folder for counters "
        f"is not {where}"
    )
