# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Streams of others that pools know."""

import threading
import weakref
from typing import Any

from warpheap.native.arguments import stream_number
from warpheap.stream_pools.pool import Pool

# The default streams, which end with the process: null, cudaStreamLegacy and cudaStreamPerThread.
_DEFAULT = (0, 1, 2)

# Streams that a pool refused to forget.
_never_ended: list[Any] = []


class KeptStreams:
    """Streams that an adaptor gave to pools, kept until the adaptor ends. The pools forget them then.

    A pool asks the driver about each stream that it knows, and the driver reads the memory of a stream that was
    destroyed. So a stream that others end with its object stays as long as the pool knows it. A stream of which others
    end only the number, as `cupy.cuda.ExternalStream`, is theirs to forget: `Pool.forget`. The driver may give that
    number to another stream, which takes the place of the forgotten one here.

    Any thread may call `keep`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Each with how often its number had been forgotten when it came.
        self._kept: dict[tuple[int, int], tuple[Pool, Any, int]] = {}
        # At the end of the process streams may be in use until the driver ends them all.
        weakref.finalize(self, _forget_all, self._kept).atexit = False

    def keep(self, pool: Pool, stream: Any) -> None:
        """Keep a stream that is about to be given to a pool; once more does nothing."""
        number = stream_number(stream)
        if number in _DEFAULT:
            return
        with self._lock:
            forgets = pool._count_forgets(number)
            known = self._kept.get((pool.device, number))
            if known is None or known[2] != forgets:
                self._kept[pool.device, number] = (pool, stream, forgets)


def _forget_all(kept: dict[tuple[int, int], tuple[Pool, Any, int]]) -> None:
    for pool, stream, forgets in kept.values():
        if pool.closed or pool._count_forgets(stream) != forgets:
            continue
        try:
            pool.forget(stream)
        except Exception:  # being captured, or the device was reset
            _never_ended.append(stream)
