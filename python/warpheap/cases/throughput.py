# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Throughput: a kernel in which every thread allocates, then one in which every thread frees.

The paper (Winter et al., PPoPP 2021) steps sizes by 4 bytes; `paper` takes the powers of two among them, which is where
designs change their behaviour (`--sizes 4..8KiB+4` is the paper's step). Host presets are small: they verify, and their
times mean nothing.
"""

from dataclasses import replace

from warpheap.cases.base import MIB, Axes, Case, Preset, doubling

MODES = {
    "thread": "each thread asks for the same size",
    "warp": "one lane of each warp asks",
    "mixed": "each thread asks for a random size from 4 B to S",
}

_ALL = tuple(MODES)
_SIZES = (16, 64, 256, 1024, 4096, 8192)
_BETWEEN = tuple(sorted({*doubling(4, 8192), *doubling(12, 6144)}))
_HOST = Axes(_ALL, (1024, 8192), (16, 64, 256, 1024, 4096), (64 * MIB,), iterations=3, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(("thread",), (10_000, 100_000), (16, 64, 512, 4096), most_iterations=60, time_limit=10),
            Axes(("warp",), (100_000,), (16, 1024), most_iterations=60, time_limit=10),
            Axes(("mixed",), (100_000,), (64, 4096), most_iterations=60, time_limit=10),
        ),
        "host": (replace(_HOST, threads=(256, 1024), sizes=(16, 256), iterations=2),),
    },
    "default": {
        "cuda": (
            Axes(("thread",), (10_000, 100_000, 1_000_000), _SIZES),
            Axes(("warp", "mixed"), (10_000, 100_000), _SIZES),
        ),
        "host": (_HOST,),
    },
    "paper": {
        "cuda": (Axes(_ALL, (10_000, 100_000), doubling(4, 8192), iterations=100, time_limit=120),),
        "host": (replace(_HOST, threads=(1024, 10_000), sizes=doubling(4, 8192), time_limit=60),),
    },
    "full": {
        "cuda": (
            Axes(_ALL, (10_000, 100_000, 1_000_000), _BETWEEN, iterations=100, most_iterations=1000, time_limit=120),
        ),
        "host": (replace(_HOST, threads=(1024, 10_000), sizes=_BETWEEN, time_limit=60),),
    },
}

CASE = Case(
    name="throughput",
    order=1,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
    baselines=("floor",),
)
