# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What each case measures, in the words of the page. A case that is not here is shown under its name."""

TITLES = {
    "throughput": "Throughput",
    "latency": "Latency of single requests",
    "scaling": "Scaling with threads",
    "orders": "Order of frees",
    "temperature": "Cold and warm heap",
    "fragmentation": "Fragmentation",
    "out_of_memory": "Out of memory",
    "exhaustion": "Exhaustion",
    "compaction": "What freed small blocks leave",
    "growth": "Growth until the heap is full",
    "huge": "One huge block",
    "phases": "Phases of other sizes",
    "shift": "From one size to another",
    "registers": "Registers, stack and code",
    "initialisation": "Initialisation",
    "work_generation": "Work generation",
    "memory_access": "Access to the blocks",
    "graph_init": "Making a dynamic graph",
    "graph_update": "Updating a dynamic graph",
    "arena": "Many blocks, one release",
    "churn": "Churn inside a kernel",
    "scarce": "A heap that is too small",
    "trace": "Replay of traces",
}

TEXTS = {
    "throughput": "One kernel in which every thread allocates, then one in which every thread frees. Times are those "
    "of the whole kernel, its start included. The floor, where it was measured, is that of a kernel on the same grid "
    "whose threads only store a pointer: no allocator on this machine can beat it.",
    "latency": "The device clock around each single request, over all requests of all rounds.",
    "scaling": "The kernels of the throughput case, its floor among them, from one thread to about a million.",
    "orders": "The time of the free kernel when blocks come back in another order or from other threads than they "
    "went out, and of malloc and free in one kernel.",
    "temperature": "Cold: the heap is new or reset before each round. Warm: it has served rounds before.",
    "fragmentation": "The span from the lowest block to the end of the highest, over the bytes that were asked for: "
    "of one round, and of all rounds so far. 1 is the least.",
    "out_of_memory": "Allocation until the heap refuses: the share of the heap that was handed out, and how long it "
    "took. Here a refusal is how the case ends and no fault.",
    "exhaustion": "As many requests at once as the heap would hold if nothing of it were lost, averaged over thread "
    "blocks of 1 to 1,024: how many a second, and the share that was refused. Here a refusal is no fault.",
    "compaction": "A heap full of small blocks frees all of them, or keeps one in a hundred at random. It is trimmed, "
    "gets its memory again, and is filled with blocks of 8 KiB. Regained is what these are over those of a new heap; "
    "given back is the share of the heap's memory that trim returned to the machine. The first fill is that of a heap "
    "that was not trimmed: what it takes longer than the fill is the price of compaction inside kernels.",
    "growth": "Each iteration frees half of what it allocates, so the heap fills by half a batch each time, until it "
    "refuses: the share of the heap that was live at the end, and what an iteration came to cost.",
    "huge": "One thread takes one block that is a good part of the heap, and frees it; and the largest block that an "
    "empty heap serves, found by halving. Every byte of a judged block is written and read.",
    "phases": "Ten phases, each with blocks of another size. A phase asks for half of the heap, and frees its blocks "
    "at its end; one block in a hundred lives for three phases more. The refused share is that of all requests: a heap "
    "without loss refuses none. At the end, with the last of these blocks live, the heap is filled with the largest "
    "size; the share is what then is live.",
    "shift": "A heap is filled with blocks of one size, all are freed, and it is filled with another size. The share "
    "is what the second fill gets, over what a new heap gives; the slowdown is the time of a byte over that of the "
    "new heap.",
    "registers": "What a call of malloc and of free costs the kernel that makes it: registers a thread, stack "
    "(spills included) and code. Read from the compiled code, so no machine's speed is in it.",
    "initialisation": "The time to make a heap and to reset it, by the wall clock, and the bytes it keeps for itself.",
    "work_generation": "Each thread produces work of a random size: with an allocator, and as programs do without "
    "one, by a prefix sum and one allocation (the baseline).",
    "memory_access": "Writing and reading through the returned pointers, against the same bytes in a packed array.",
    "graph_init": "One kernel in which the thread of each vertex takes a block for the list of the vertex, rounded up "
    "to a power of two, and copies the list. The graphs are generated, and stand for graphs of the survey paper.",
    "graph_update": "A batch of new edges is inserted by one kernel and deleted by another, one thread a vertex. A "
    "list moves to another block when its power of two changes. Times are those of the two kernels; drawing and "
    "sorting the batch is not in them. Deleting from few sources is the walk over long lists more than it is the "
    "allocator.",
    "arena": "Each thread takes sixteen blocks, and then all of them are released in the same kernel: by one call for "
    "each warp where the design can, else block by block.",
    "scarce": "A churn whose threads want twice what the heap has, or 1.1 times. A refusal is no fault here: the time "
    "is that of the kernel, served is the share of the requests that got a block. Again is what the heap gives once "
    "all is freed, over what a new heap gives.",
    "churn": "Threads hold a few blocks each, and free and allocate at random for many steps in one kernel.",
    "trace": "The requests of a program that was recorded, replayed against each allocator.",
}

MODES = {
    "thread": "each thread asks for the same size",
    "warp": "one lane of each warp asks",
    "mixed": "each thread asks for a random size up to the one given",
    "same_kernel": "malloc and free in one kernel",
    "as_allocated": "a later kernel frees in the order of allocation",
    "reversed": "a later kernel frees in reverse order",
    "shuffled": "a later kernel frees in random order",
    "other_block": "a later kernel frees from other thread blocks",
    "all_freed": "all small blocks freed",
    "few_kept": "one small block in 100 kept",
    "cold": "a new or reset heap in each round",
    "warm": "a heap that has served rounds before",
    "uniform": "all blocks have the same size",
    "single": "one block in an empty heap",
    "largest": "the largest block that an empty heap serves",
    "after_16": "in a heap that was full of 16 B",
    "after_64": "in a heap that was full of 64 B",
    "after_8192": "in a heap that was full of 8 KiB",
    "twice": "the threads want twice the heap",
    "tight": "the threads want 1.1 times the heap",
    "twice_mixed": "twice the heap, random sizes",
    "tight_mixed": "1.1 times the heap, random sizes",
    "delaunay": "a stand-in of delaunay_n20",
    "coauthors": "a stand-in of coAuthorsCiteseer",
    "delaunay_uniform": "a stand-in of delaunay_n20, any source",
    "delaunay_window": "a stand-in of delaunay_n20, 100 sources",
    "coauthors_uniform": "a stand-in of coAuthorsCiteseer, any source",
    "coauthors_window": "a stand-in of coAuthorsCiteseer, 100 sources",
}


def title_of(case: str) -> str:
    """The heading of a case's chapter."""
    return TITLES.get(case, words(case).capitalize())


def words(name: str) -> str:
    """A name of the record as words."""
    return name.replace("_", " ")
