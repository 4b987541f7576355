# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Boards: files of counters that processes publish. src/watch/board.h writes them, in the same format."""

import os
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

FOLDER_VARIABLE = "WARPHEAP_WATCH_FOLDER"
MAGIC = 0x31706165687077
VERSION = 1
BYTES = 4096

# Magic, version, bytes of the file, offset and bytes of a row, rows, process, start, source, detail, unshown pools.
_HEADER = struct.Struct("=9Q16sQ")
_ROW = struct.Struct("=16Q")
_ROW_OFFSET = 256
_ROWS = 30
_NO_DEVICE = 2**64 - 1
_COMMON_POOL = 1
_POOL = 6

SOURCES = {1: "run", 2: "pools"}
KINDS = {1: "device", 2: "managed", 3: "stream", 4: "host", 5: "physical", _POOL: "pool"}

_NAME = re.compile(r"warpheap-(\d{1,10})-(\d{1,20})-(\d{1,10})-(\d{1,20})-([0-9a-f]{1,16})-(\d{1,2})")


class UnreadableBoard(Exception):
    """A file is not a board that this version reads; the message says why."""


@dataclass(frozen=True)
class Place:
    """A file of a board, and what its name says of the process that made it."""

    path: Path
    user: int
    space: int  # the namespace of process numbers
    process: int
    start: int
    stack: int
    number: int  # each library of a process that publishes has a board


@dataclass(frozen=True)
class Row:
    """Counters of a pool, or of a kind of memory of the driver."""

    kind: str
    device: int | None
    number: int  # of a pool in its process, from 1 on; 0 for a kind of memory
    common: bool  # the pool that the process has in common for the device
    deallocations: int
    deallocated_bytes: int
    allocations: int
    allocated_bytes: int
    peak_live_blocks: int
    peak_live_bytes: int
    committed_bytes: int | None  # None for a kind of memory: the driver's own
    peak_committed_bytes: int | None
    failures: int

    @property
    def live_blocks(self) -> int:
        """Blocks that were taken and not given back."""
        return max(0, self.allocations - self.deallocations)

    @property
    def live_bytes(self) -> int:
        """Bytes in these."""
        return max(0, self.allocated_bytes - self.deallocated_bytes)


@dataclass(frozen=True)
class Board:
    """What a board shows."""

    source: str  # "run" or "pools"
    detail: str  # the mode of `warpheap run`, or the backend of the pools
    unshown: int  # pools without a row
    rows: dict[int, Row]


def folder() -> Path:
    """Where boards are."""
    named = os.environ.get(FOLDER_VARIABLE, "")
    return Path(named if named.startswith("/") else "/dev/shm")


def find_places(where: Path) -> list[Place]:
    """All files in the folder that are named as boards, whosever they are; none if the folder is not there."""
    try:
        names = [path.name for path in where.iterdir()]
    except OSError:
        return []
    places = []
    for name in sorted(names):
        match = _NAME.fullmatch(name)
        if match is not None:
            user, space, process, start, stack, number = match.groups()
            place = (int(user), int(space), int(process), int(start), int(stack, 16), int(number))
            places.append(Place(where / name, *place))
    return places


def read_board(place: Place) -> Board | None:
    """What the board shows now; None if it is being made, or was removed.

    Raises `UnreadableBoard` for a file that is no board, is not this user's, or is of another version.
    """
    try:
        # What else has the name, such as a pipe or a link, must neither hold the reader up nor lead it elsewhere.
        file = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableBoard(f"{place.path} cannot be read: {error.strerror}") from error
    try:
        is_file = os.fstat(file)
        if not stat.S_ISREG(is_file.st_mode):
            raise UnreadableBoard(f"{place.path} is no file of counters")
        if is_file.st_uid != os.geteuid() or is_file.st_uid != place.user:
            raise UnreadableBoard(f"{place.path} is a file of another user, and is not read")
        content = os.read(file, BYTES + 1)
    except OSError as error:
        raise UnreadableBoard(f"{place.path} cannot be read: {error.strerror}") from error
    finally:
        os.close(file)
    return parse(content, place) if content else None


def parse(content: bytes, place: Place) -> Board:
    """The board that these bytes are. Nothing that they say is believed before it was checked."""
    what = f"{place.path} is no file of counters"
    if len(content) < _HEADER.size:
        raise UnreadableBoard(f"{what}: it has {len(content)} bytes")
    magic, version, size, offset, row_bytes, rows, process, start, source, detail, unshown = _HEADER.unpack_from(
        content
    )
    if magic != MAGIC:
        raise UnreadableBoard(f"{what}: it begins with other bytes")
    if version != VERSION:
        raise UnreadableBoard(
            f"process {place.process} publishes version {version} of the counters, and this warpheap reads version "
            f"{VERSION}: watch it with the warpheap whose library it has loaded"
        )
    if (len(content), size, offset, row_bytes, rows) != (BYTES, BYTES, _ROW_OFFSET, _ROW.size, _ROWS):
        raise UnreadableBoard(f"{what}: its sizes are not those of version {VERSION}")
    if (process, start) != (place.process, place.start):
        raise UnreadableBoard(f"{what}: it is of another process than its name says")
    if source not in SOURCES:
        raise UnreadableBoard(f"{what}: its source {source} is unknown")
    shown = (_parse_row(content, _ROW_OFFSET + slot * _ROW.size) for slot in range(_ROWS))
    return Board(
        SOURCES[source],
        detail.split(b"\0")[0].decode("ascii", "replace"),
        unshown,
        {slot: row for slot, row in enumerate(shown) if row is not None},
    )


def _parse_row(content: bytes, offset: int) -> Row | None:
    """The row there; None if it is unused, or of a kind that this version does not know."""
    kind, device, number, flags, committed, peak_committed, failures, _, *figures = _ROW.unpack_from(content, offset)
    if kind not in KINDS:
        return None
    deallocations, deallocated_bytes, allocations, allocated_bytes, peak_blocks, peak_bytes, *_ = figures
    is_pool = kind == _POOL
    return Row(
        KINDS[kind],
        None if device == _NO_DEVICE else device,
        number,
        bool(flags & _COMMON_POOL),
        deallocations,
        deallocated_bytes,
        allocations,
        allocated_bytes,
        peak_blocks,
        peak_bytes,
        committed if is_pool else None,
        peak_committed if is_pool else None,
        failures,
    )
