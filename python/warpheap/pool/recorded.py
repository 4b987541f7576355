# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real programs, replayed on pools that are called from Python: as `peers`, a program of its own.

Prints the driver's lines of the case `recording`. It is run by another Python, which has the pools and may not have
warpheap: `command` names warpheap's folder to it.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from warpheap.errors import UsageError
from warpheap.interposer.calls import GIVEN, TAKEN, read_events
from warpheap.pool.peers import NOT_HERE, Effort, Times, import_library

_PACKAGE = Path(__file__).parents[1]


class Call(NamedTuple):
    """A call of a recording: a block handed out, or taken back; streams count from 0 in the order of their calls."""

    takes_back: bool
    block: int
    size: int  # 0 of one that is taken back
    stream: int


@dataclass(frozen=True)
class Recording:
    """The calls of one process, in their order."""

    calls: Sequence[Call]
    streams: int
    peak: int  # the most bytes live at once, as they were asked for


@dataclass(frozen=True)
class Pool:
    """A pool made anew: its functions take the number of a stream; None for what it cannot tell."""

    allocate: Callable[[int, int], Any]
    free: Callable[[Any, int], Any]
    full: type[BaseException]
    reserved_peak: Callable[[], int] | None = None


def command(python: str) -> list[str]:
    """The words before the arguments of this program, for that interpreter."""
    # The folder is gone from the path before a library is loaded: what else lies in it is not for that interpreter.
    lines = (
        f"import sys; sys.path.insert(0, {str(_PACKAGE.parent)!r})",
        "from warpheap.pool.recorded import main",
        "del sys.path[0]; sys.exit(main())",
    )
    return [python, "-c", "; ".join(lines)]


def read_recording(path: Path) -> Recording:
    """Reads a trace of `warpheap run`. Raises `UsageError` for one that is not of one process, or has no calls."""
    calls: list[Call] = []
    streams: dict[int, int] = {}
    sizes: dict[int, int] = {}
    process = live = peak = 0
    for event in read_events(path):
        if event.what not in (TAKEN, GIVEN):
            continue
        takes_back = event.what == GIVEN
        if process not in (0, event.process) or takes_back != (event.block in sizes):
            raise UsageError(f"{path} is no recording of one process: block {event.block} of {event.process}")
        process = event.process
        calls.append(Call(takes_back, event.block, event.bytes, streams.setdefault(event.stream, len(streams))))
        if takes_back:
            live -= sizes.pop(event.block)
        else:
            sizes[event.block] = event.bytes
            live += event.bytes
        peak = max(peak, live)
    if not calls:
        raise UsageError(f"{path} has no calls to replay")
    return Recording(calls, len(streams), peak)


def replay(pool: Pool, calls: Sequence[Call]) -> tuple[int, int]:
    """All calls: nanoseconds, and how many requests were refused. What is live at the end is taken back untimed."""
    allocate, free, full = pool.allocate, pool.free, pool.full
    held: dict[int, Any] = {}
    refused = 0
    start = time.perf_counter_ns()
    for takes_back, block, size, stream in calls:
        if not takes_back:
            try:
                held[block] = allocate(size, stream)
            except full:
                refused += 1
        elif block in held:
            free(held.pop(block), stream)
    spent = time.perf_counter_ns() - start
    for each in held.values():
        free(each, 0)
    return spent, refused


def measure(make: Callable[[int | None], Pool], recording: Recording, effort: Effort) -> dict[str, Any]:
    """The fields of a record. `make` gives a pool within a budget of bytes, or within none."""
    calls, times = recording.calls, Times()
    pool = make(None)
    for counts in effort.rounds():
        spent, refused = replay(pool, calls)
        if refused:
            raise MemoryError("the recording does not fit into the device's memory")
        if counts:
            times.values.append(spent / len(calls))
    reserved = failures = None
    if pool.reserved_peak is not None:
        # Not of the pool that was timed: what one replay leaves there would serve the next.
        del pool
        fresh = make(None)
        replay(fresh, calls)
        reserved = fresh.reserved_peak() if fresh.reserved_peak is not None else None
        del fresh
        budget = recording.peak + recording.peak // 10
        failures = replay(make(budget), calls)[1]
    return {
        "calls": len(calls),
        "streams": recording.streams,
        "threads": 1,
        **times.written("call"),
        "peak_live_bytes": recording.peak,
        "peak_reserved_bytes": reserved,
        "budget_bytes": recording.peak + recording.peak // 10,
        "budget_failures": failures,
    }


def open_python(_: int) -> tuple[Callable[[int | None], Pool], str, str]:
    """Calls that do nothing."""

    def make(_: int | None) -> Pool:
        return Pool(lambda size, _: size, lambda _, __: None, MemoryError)

    return make, sys.version.split()[0], "none"


def open_torch(streams: int) -> tuple[Callable[[int | None], Pool], str, str]:
    """PyTorch's caching allocator; its budget is a fraction of the device's memory."""
    torch = import_library("torch")
    if not torch.cuda.is_available():
        raise ImportError("this torch sees no GPU")
    torch.cuda.init()
    own = [torch.cuda.Stream() for _ in range(streams - 1)]
    handles = [torch.cuda.current_stream().cuda_stream, *(stream.cuda_stream for stream in own)]
    raw = getattr(torch._C, "_cuda_cudaCachingAllocator_raw_alloc", None)
    free = getattr(torch._C, "_cuda_cudaCachingAllocator_raw_delete", torch.cuda.caching_allocator_delete)

    def allocate(size: int, stream: int, _own: object = own) -> Any:
        if raw is None:
            return torch.cuda.caching_allocator_alloc(size, None, handles[stream])
        return raw(size, handles[stream])

    def make(budget: int | None) -> Pool:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        torch.cuda.set_per_process_memory_fraction(1.0 if budget is None else min(budget / total, 1.0))
        return Pool(allocate, lambda block, _: free(block), torch.cuda.OutOfMemoryError, torch.cuda.max_memory_reserved)

    return make, torch.__version__, torch.cuda.get_device_name()


def open_cupy(streams: int) -> tuple[Callable[[int | None], Pool], str, str]:
    """CuPy's pool, which takes the current stream."""
    cupy = import_library("cupy")
    if cupy.cuda.runtime.getDeviceCount() == 0:
        raise ImportError("this cupy sees no GPU")
    on = [cupy.cuda.Stream.null, *(cupy.cuda.Stream(non_blocking=True) for _ in range(streams - 1))]

    def make(budget: int | None) -> Pool:
        pool = cupy.cuda.MemoryPool()
        if budget is not None:
            pool.set_limit(size=budget)
        current = -1

        def allocate(size: int, stream: int) -> Any:
            nonlocal current
            if stream != current:
                on[stream].use()
                current = stream
            return pool.malloc(size)

        # A block goes back when nobody names it any more. The pool keeps all that it ever had until it is full.
        return Pool(allocate, lambda _, __: None, cupy.cuda.memory.OutOfMemoryError, pool.total_bytes)

    return make, cupy.__version__, cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def open_rmm(streams: int) -> tuple[Callable[[int | None], Pool], str, str]:
    """RMM's pool, which begins with nothing and grows; its budget is a limit of what it stands on."""
    rmm = import_library("rmm")
    names = import_library("rmm.pylibrmm.stream")
    on = [names.DEFAULT_STREAM, *(names.Stream() for _ in range(streams - 1))]

    def make(budget: int | None) -> Pool:
        counted = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource())
        below = counted if budget is None else rmm.mr.LimitingResourceAdaptor(counted, budget)
        pool = rmm.mr.PoolMemoryResource(below, initial_pool_size=0)
        return Pool(
            lambda size, stream: (pool.allocate(size, on[stream]), size),
            lambda block, stream: pool.deallocate(*block, on[stream]),
            MemoryError,
            lambda: int(counted.allocation_counts.peak_bytes),
        )

    return make, rmm.__version__, "unnamed"


OPENERS = {"torch": open_torch, "cupy": open_cupy, "rmm": open_rmm, "python": open_python}


def _record(library: str, effort: Effort, path: Path) -> Iterator[dict[str, Any]]:
    recording = read_recording(path)
    make, version, device = OPENERS[library](recording.streams)
    known = {"case": "recording", "subject": library, "backend": "python", "device": device, "version": version}
    log = os.fsencode(path.name).decode("utf-8", "replace")
    yield {**known, "log": log, **measure(make, recording, effort)}


def main() -> int:
    """Measures one library; exit code 4 if it is not to be had."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", choices=tuple(OPENERS), required=True)
    parser.add_argument("--case", choices=("recording",), required=True)
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--log", type=Path, required=True)
    words = parser.parse_args()
    try:
        for record in _record(words.library, Effort(words.repetitions, words.seconds), words.log):
            print(json.dumps(record), flush=True)
    except ImportError as problem:
        print(
            f"{words.library} cannot be measured: {problem}; install it for the Python that --python names",
            file=sys.stderr,
        )
        return NOT_HERE
    except (UsageError, MemoryError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0
