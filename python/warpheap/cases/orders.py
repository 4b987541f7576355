# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Orders of frees: what it costs to free in another order, from another block, or in the same kernel."""

from warpheap.cases.base import MIB, Axes, Case, Preset

MODES = {
    "same_kernel": "each thread frees its block in the kernel that allocated it",
    "as_allocated": "a later kernel: each thread frees the block that it asked for",
    "reversed": "a later kernel: the last thread frees the first block",
    "shuffled": "a later kernel: each thread frees a block drawn at random",
    "other_block": "a later kernel: each block of threads frees what another one asked for",
}

_ALL = tuple(MODES)
_HOST = Axes(_ALL, (1024,), (64,), (64 * MIB,), iterations=2, warmup=1, time_limit=20)

PRESETS: dict[str, Preset] = {
    "quick": {
        "cuda": (
            Axes(("same_kernel", "as_allocated", "shuffled"), (100_000,), (64,), most_iterations=60, time_limit=10),
        ),
    },
    "default": {"cuda": (Axes(_ALL, (10_000, 100_000), (64, 1024)),), "host": (_HOST,)},
    "paper": {},
    "full": {
        "cuda": (
            Axes(
                _ALL,
                (10_000, 100_000, 1_000_000),
                (16, 64, 256, 1024, 4096, 8192),
                iterations=100,
                most_iterations=1000,
                time_limit=120,
            ),
        ),
        "host": (_HOST,),
    },
}

CASE = Case(
    name="orders",
    order=4,
    modes=MODES,
    presets=PRESETS,
    shares_process=True,
)
