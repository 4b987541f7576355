# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of pools in the form that PyTorch's memory viewer reads."""

from itertools import groupby
from typing import Any

from warpheap.stream_pools import Segment, Snapshot

_STATES = {"live": "active_allocated", "deferred": "active_pending_free", "free": "inactive"}


def for_pytorch(snapshot: Snapshot, device: int = 0) -> dict[str, Any]:
    """A snapshot as `torch.cuda.memory._snapshot` returns it; the viewer and `torch.cuda._memory_viz` read its pickle.

    `device`: number of the GPU that the pool is on. Stretches of memory that one stream, or one capture, has are
    segments there; memory that any stream can have is of stream 0. Nobody knows what was asked for, so each block's
    requested size is its size.
    """
    segments = [
        _segment(device, list(blocks)) for owner, blocks in groupby(snapshot.segments, key=_owner) if owner is not None
    ]
    return {"segments": segments, "device_traces": [[] for _ in range(device + 1)], "allocator_settings": {}}


def _owner(segment: Segment) -> tuple[int, tuple[int, int]] | None:
    """The stream and the capture that have the memory; None for addresses without memory."""
    return None if segment.state == "absent" else (segment.stream or 0, segment.capture or (0, 0))


def _segment(device: int, blocks: list[Segment]) -> dict[str, Any]:
    live = sum(each.bytes for each in blocks if each.state == "live")
    pending = sum(each.bytes for each in blocks if each.state == "deferred")
    return {
        "device": device,
        "address": blocks[0].address,
        "total_size": sum(each.bytes for each in blocks),
        "allocated_size": live,
        "active_size": live + pending,
        "requested_size": live,
        "stream": blocks[0].stream or 0,
        "segment_type": "large",
        "segment_pool_id": blocks[0].capture or (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": [
            {
                "address": each.address,
                "size": each.bytes,
                "requested_size": each.bytes,
                "state": _STATES[each.state],
                "frames": [],
            }
            for each in blocks
        ],
    }
