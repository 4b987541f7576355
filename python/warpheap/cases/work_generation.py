# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Work generation: each thread makes and fills a result of a size that was not known before, against a prefix sum.

It runs over results of 4 to 64 bytes and of 4 to 4096, as in the paper.
"""

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {"mixed": "each thread writes a random number of bytes from 4 to S"}

_ALL = tuple(MODES)
_SIZES = (64, 4096)
_MILLION = 1 << 20
_HOST = (Axes(_ALL, (1024,), _SIZES, (64 * MIB,), iterations=2, warmup=1, time_limit=20),)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(_ALL, (1 << 10, 1 << 17), (64,), most_iterations=60, time_limit=10),
            Axes(_ALL, (1 << 17,), (4096,), most_iterations=60, time_limit=10),
        ),
    },
    "default": {"cuda": (Axes(_ALL, tuple(4**power for power in range(11)), _SIZES),), "host": _HOST},
    "paper": {"cuda": (Axes(_ALL, doubling(1, _MILLION), _SIZES, iterations=100, time_limit=300),)},
    "full": {
        "cuda": (Axes(_ALL, doubling(1, _MILLION), _SIZES, iterations=100, most_iterations=1000, time_limit=300),),
        "host": _HOST,
    },
}

CASE = Case(
    name="work_generation",
    order=11,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    baselines=("baseline", "baseline_kept"),
)
