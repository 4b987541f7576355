# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What Winter, Parger, Mlakar and Steinberger (PPoPP 2021) conclude, in a form that a record can answer.

The paper compares families. A family is as fast at a point as the fastest of its members there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

FAMILIES = {
    "ScatterAlloc": ("scatter",),
    "Halloc": ("halloc",),
    "Ouroboros with pages": ("ouroboros_s_p", "ouroboros_va_p", "ouroboros_vl_p"),
    "Ouroboros with chunks": ("ouroboros_s_c", "ouroboros_va_c", "ouroboros_vl_c"),
    "XMalloc": ("xmalloc",),
    "Reg-Eff": ("reg_eff_c", "reg_eff_cf", "reg_eff_cm", "reg_eff_cfm"),
    "CUDA": ("cuda_malloc",),
}
_SCATTER, _HALLOC, _PAGES, _CHUNKS, _XMALLOC, _REG_EFF, _CUDA = FAMILIES

# What stands beside the paper's families: the default design.
OURS = "warp_slab"


@dataclass(frozen=True)
class Where:
    """The points that decide: a measure of a case, in a mode, at some threads and sizes, both ends included."""

    case: str
    measure: str
    modes: Sequence[str] = ("thread",)
    threads: Sequence[int] = ()  # none: all
    sizes: tuple[int, int] = (0, 1 << 62)  # bytes
    least_threads: int = 0
    most_threads: int = 1 << 62


@dataclass(frozen=True)
class Order:
    """The families of each tier are ahead of all families of later tiers.

    `close`: what the families of the second tier may cost at most, as a multiple of the first; 0: anything.
    """

    tiers: Sequence[Sequence[str]]
    close: float = 0


@dataclass(frozen=True)
class Bound:
    """Each of the families is on that side of the limit at each of the points.

    `most`: only more than half of the families have to be, each by its mean.
    """

    families: Sequence[str]
    limit: float
    at_least: bool  # else at most
    most: bool = False


@dataclass(frozen=True)
class Claim:
    """One conclusion, in our words, with the section that it is from."""

    section: str
    text: str
    where: Where
    says: Order | Bound


_BOTH = (10_000, 100_000)
_MALLOC = Where("throughput", "malloc", threads=_BOTH)
_WARP = Where("throughput", "malloc", ("warp",), _BOTH)


def _sizes(where: Where, low: int, high: int) -> Where:
    return Where(where.case, where.measure, where.modes, where.threads, (low, high))


CLAIMS = (
    Claim("6", "Up to 512 B ScatterAlloc is first, and Halloc and Ouroboros with pages stay close (we say: within 2)",
          _sizes(_MALLOC, 4, 512), Order(((_SCATTER,), (_HALLOC, _PAGES)), close=2)),
    Claim("6", "Above 512 B and up to 2,048 B: Ouroboros, then Halloc, CUDA, ScatterAlloc",
          _sizes(_MALLOC, 513, 2048), Order(((_PAGES,), (_HALLOC,), (_CUDA,), (_SCATTER,)))),
    Claim("6", "Over all sizes: Ouroboros with pages, then ScatterAlloc, Halloc, CUDA",
          _sizes(_MALLOC, 4, 8192), Order(((_PAGES,), (_SCATTER,), (_HALLOC,), (_CUDA,)))),
    Claim("6", "One thread of a warp allocates, up to 4,096 B: ScatterAlloc is first",
          _sizes(_WARP, 4, 4096), Order(((_SCATTER,), (_HALLOC, _PAGES, _CHUNKS, _REG_EFF, _CUDA)))),
    Claim("6", "One thread of a warp allocates, up to 1,024 B: Halloc is ahead of Ouroboros with pages",
          _sizes(_WARP, 4, 1024), Order(((_HALLOC,), (_PAGES,)))),
    Claim("6", "One thread of a warp allocates, over all sizes: Ouroboros with pages is first",
          _sizes(_WARP, 4, 8192), Order(((_PAGES,), (_SCATTER, _HALLOC, _CHUNKS, _REG_EFF, _CUDA)))),
    Claim("4.2.1", "Ouroboros with chunks is ahead of CUDA up to 2,047 B",
          _sizes(_MALLOC, 4, 2047), Order(((_CHUNKS,), (_CUDA,)))),
    Claim("5", "Above 2,048 B CUDA is ahead of Ouroboros with chunks",
          _sizes(_MALLOC, 2049, 8192), Order(((_CUDA,), (_CHUNKS,)))),
    Claim("4.2.1", "A free of all blocks takes CUDA more than 1 ms, at any size",
          Where("throughput", "free", threads=_BOTH), Bound((_CUDA,), 1000.0, at_least=True)),
    Claim("4.2.2", "Mixed sizes up to 512 B: ScatterAlloc, then Halloc and Ouroboros with pages",
          Where("throughput", "malloc", ("mixed",), _BOTH, (4, 512)), Order(((_SCATTER,), (_HALLOC, _PAGES)))),
    Claim("4.2.2", "Mixed sizes up to 1,024 B and more: Ouroboros with pages is first",
          Where("throughput", "malloc", ("mixed",), _BOTH, (1024, 8192)),
          Order(((_PAGES,), (_SCATTER, _HALLOC, _CHUNKS, _CUDA)))),
    Claim("4.2.3", "8 KiB, any number of threads: Ouroboros with pages is ahead of all others",
          Where("scaling", "malloc", sizes=(8192, 8192)),
          Order(((_PAGES,), (_SCATTER, _HALLOC, _CHUNKS, _XMALLOC, _REG_EFF, _CUDA)))),
    Claim("6", "The address range of the blocks: Ouroboros is first, Halloc a distant second",
          Where("fragmentation", "range"), Order(((_PAGES, _CHUNKS), (_HALLOC,), (_SCATTER, _REG_EFF, _CUDA)))),
    Claim("4.3.2", "Of a heap that is filled Ouroboros hands out most, then ScatterAlloc",
          Where("out_of_memory", "share", sizes=(16, 8192)), Order(((_PAGES, _CHUNKS), (_SCATTER,), (_HALLOC,)))),
    Claim("4.3.2", "Ouroboros hands out 98 % or more of a heap, from 16 B on",
          Where("out_of_memory", "share", sizes=(16, 8192)), Bound((_PAGES, _CHUNKS), 0.98, at_least=True)),
    Claim("4.1", "Registers of malloc: Reg-Eff has the fewest, closely followed by CUDA",
          Where("registers", "malloc_registers", ("kernel",)),
          Order(((_REG_EFF,), (_CUDA,), (_SCATTER, _HALLOC, _PAGES, _CHUNKS, _XMALLOC)))),
    Claim("4.1", "Registers of free: Reg-Eff has the fewest",
          Where("registers", "free_registers", ("kernel",)),
          Order(((_REG_EFF,), (_CUDA, _SCATTER, _HALLOC, _PAGES, _CHUNKS, _XMALLOC)))),
    Claim("4.1", "To make a heap: CUDA is first, then Ouroboros; Halloc is last",
          Where("initialisation", "construct", ("heap",)),
          Order(((_CUDA,), (_PAGES, _CHUNKS), (_SCATTER, _XMALLOC, _REG_EFF), (_HALLOC,)))),
    Claim("4.4.1", "Work of 4 to 64 B a thread: ScatterAlloc never takes longer than prefix sum and allocation",
          Where("work_generation", "ratio", ("mixed",), sizes=(64, 64)), Bound((_SCATTER,), 1.0, at_least=False)),
    Claim("6", "Work of 4 to 64 B, up to 4,096 threads: most take no longer than prefix sum and allocation",
          Where("work_generation", "ratio", ("mixed",), sizes=(64, 64), most_threads=4096),
          Bound((_SCATTER, _HALLOC, _PAGES, _CHUNKS), 1.0, at_least=False, most=True)),
    Claim("6", "Work of 4 to 64 B, from 65,536 threads on: ScatterAlloc, Halloc and Ouroboros with pages are as good",
          Where("work_generation", "ratio", ("mixed",), sizes=(64, 64), least_threads=65_536),
          Bound((_SCATTER, _HALLOC, _PAGES), 1.0, at_least=False)),
    Claim("4.4.1", "Work of 4 to 4,096 B, up to 32,768 threads: ScatterAlloc and Ouroboros with pages are as good",
          Where("work_generation", "ratio", ("mixed",), sizes=(4096, 4096), most_threads=32_768),
          Bound((_SCATTER, _PAGES), 1.0, at_least=False)),
    Claim("4.4.2", "Writes to blocks: Ouroboros, XMalloc, ScatterAlloc and Halloc are ahead of Reg-Eff and CUDA",
          Where("memory_access", "write_ratio", ("uniform", "mixed")),
          Order(((_PAGES, _CHUNKS, _XMALLOC, _SCATTER, _HALLOC), (_REG_EFF, _CUDA)))),
    Claim("4.4.3", "To make a graph: ScatterAlloc, then Halloc and Ouroboros with pages, then with chunks, CUDA last",
          Where("graph_init", "init", ("delaunay", "coauthors")),
          Order(((_SCATTER,), (_HALLOC, _PAGES), (_CHUNKS, _REG_EFF), (_CUDA,)))),
    Claim("4.4.4", "To insert edges: ScatterAlloc, Halloc and Ouroboros with pages, then with chunks, Reg-Eff, CUDA",
          Where("graph_update", "insert", ("delaunay_uniform", "delaunay_window")),
          Order(((_SCATTER, _HALLOC, _PAGES), (_CHUNKS,), (_REG_EFF,), (_CUDA,)))),
)  # fmt: skip
