# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What heaps tell of themselves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """What a heap has taken and handed out, in bytes."""

    size_bytes: int  # in which blocks lie: what was asked for when the heap was made, or grew
    reserved_bytes: int  # addresses that blocks can come to lie at
    committed_bytes: int  # memory at such addresses
    metadata_bytes: int  # memory for the design's own state
    live_bytes: int | None  # handed out and not taken back; None if the design does not know


@dataclass(frozen=True)
class Fault:
    """The first thing that a kernel did wrong with a block of a checked heap."""

    kind: str  # double_free, foreign_pointer, interior_pointer, overrun or use_after_free
    thread_index: int  # the thread that found it, within its block of the grid
    block_index: int  # the block of the grid of that thread
    pointer: int  # what was freed; of an overrun and a use after free, the start of the block
    bytes: int | None  # that were asked for when the block was taken; None: not known
    text: str  # the fault in a sentence


# The kinds by their numbers in the C interface, from 1 on.
KINDS = ("double_free", "foreign_pointer", "interior_pointer", "overrun", "use_after_free")
