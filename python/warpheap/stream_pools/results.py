# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What pools tell of themselves."""

import json
from dataclasses import dataclass
from operator import index
from typing import Any

from warpheap.errors import UsageError

STATES = ("live", "deferred", "free", "absent")


@dataclass(frozen=True)
class Statistics:
    """What a pool has taken and handed out, in bytes unless a member says otherwise.

    `committed_bytes` is the sum of live, deferred, stream, private and common bytes. Sizes of blocks are rounded up to
    256 bytes. Peaks are since the pool was made, or `Pool.reset_peaks`.
    """

    reserved_bytes: int  # addresses that the pool can grow over
    committed_bytes: int  # of them with memory
    peak_committed_bytes: int
    live_bytes: int  # in blocks that were not taken back
    peak_live_bytes: int
    live_blocks: int  # number of blocks that were not taken back
    peak_live_blocks: int
    deferred_bytes: int  # taken back, while streams of `note_use` still use them
    stream_bytes: int  # free, and kept for the stream that freed them
    private_bytes: int  # free, and kept for captures
    common_bytes: int  # free, for any stream
    allocations: int  # number of blocks ever handed out
    deallocations: int  # number of blocks ever taken back
    allocated_bytes: int  # in all blocks ever handed out
    deallocated_bytes: int  # in all blocks ever taken back
    failures: int  # number of requests that ended as out of memory
    streams: int  # number of streams that the pool knows
    captures: int  # number of captures whose memory is kept
    gatherings: int  # number of times that all streams' free memory was put together
    waits: int  # number of times that a stream was told to wait for another


@dataclass(frozen=True)
class Segment:
    """A piece of a pool's addresses."""

    address: int
    bytes: int
    state: str  # live, deferred, free, or absent: without memory
    stream: int | None  # the stream that has it; None: any
    capture: tuple[int, int] | None  # name of the capture that has it; None: not of a capture


@dataclass(frozen=True)
class Snapshot:
    """All addresses of a pool at one time, in their order."""

    address: int  # of the first byte
    reserved_bytes: int
    granule_bytes: int  # sizes of blocks are multiples of it
    segments: tuple[Segment, ...]

    @classmethod
    def read(cls, text: str | bytes) -> "Snapshot":
        """The snapshot that a pool wrote as JSON: `wh_pool_snapshot`, or `snapshot` of the pools of C++.

        Raises `UsageError` for any other text.
        """
        try:
            found = json.loads(text)
            base = int(found["base"], 16)
            segments = tuple(_segment(base, each) for each in found["segments"])
            made = cls(base, index(found["reserved_bytes"]), index(found["granule_bytes"]), segments)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise UsageError(f"this is no snapshot of a pool: {type(error).__name__}: {error}") from error
        end, limit = base, base + made.reserved_bytes
        for each in segments:
            begin, end = end, each.address + each.bytes
            if each.address < begin or each.bytes <= 0 or end > limit or each.state not in STATES:
                raise UsageError(f"this is no snapshot of a pool: the segment at {each.address:#x} cannot be right")
        return made


def _segment(base: int, found: dict[str, Any]) -> Segment:
    stream, capture = found.get("stream"), found.get("capture")
    return Segment(
        base + index(found["offset"]),
        index(found["bytes"]),
        found["state"],
        None if stream is None else int(stream, 16),
        None if capture is None else (index(capture[0]), index(capture[1])),
    )
