# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Pools that are called from Python, measured like the driver's subjects; a program of its own that needs only them.

Prints the driver's lines. A call from Python has a cost of its own: the subject `python` measures calls that do
nothing, so that a reader can tell it from the pool's. All sizes and blocks are chosen before the clock starts.
"""

import argparse
import importlib
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

LIBRARIES = ("torch", "cupy", "python")
CASES = ("sizes", "fill", "live", "churn", "replay")

_CALL = re.compile(r"(?:(?P<out>\+)|-)\s+(?P<block>\d{1,19})(?(out)\s+(?P<size>\d{1,19})\s+\d{1,19})\s*", re.ASCII)
_REFUSAL = re.compile(r"!\s+\d{1,20}\s+\d{1,20}\s*", re.ASCII)
# The exit code where a library is not to be had.
NOT_HERE = 4
_BATCH = 256
_LIVE = 4096
_MOST_LIVE = 100_000


class Refused(Exception):
    """The pool has no memory for a request."""


class Subject:
    """A pool: what hands out, what takes a list of blocks back, and what it throws when it is full."""

    def __init__(self, allocate: Callable[[int], Any], free: Callable[[Any], Any] | None, full: type[BaseException]):
        self.allocate = allocate
        self.free = free  # None: a block is taken back when nobody refers to it any more
        self.full = full

    def hand_out(self, sizes: list[int], into: list[Any]) -> float:
        """Nanoseconds for all of them."""
        allocate, append = self.allocate, into.append
        start = time.perf_counter_ns()
        try:
            for size in sizes:
                append(allocate(size))
        except self.full as problem:
            raise Refused from problem
        return time.perf_counter_ns() - start

    def take_back(self, blocks: list[Any]) -> float:
        """Nanoseconds for all of them, in the order of the list, which is empty afterwards."""
        free = self.free
        if free is not None:
            start = time.perf_counter_ns()
            for block in blocks:
                free(block)
            spent = time.perf_counter_ns() - start
            blocks.clear()
            return spent
        count = len(blocks)
        start = time.perf_counter_ns()
        for place in range(count):
            blocks[place] = None
        spent = time.perf_counter_ns() - start
        blocks.clear()
        return spent


def import_library(name: str) -> Any:
    """The module of a library. Raises ImportError where it is not to be had."""
    return importlib.import_module(name)


def open_subject(library: str) -> tuple[Subject, str, str]:
    """The pool, its version, and the device that it is on. Raises ImportError where the library is not to be had."""
    if library == "python":
        return Subject(int, int, MemoryError), sys.version.split()[0], "none"
    module = import_library(library)
    if library == "torch":
        if not module.cuda.is_available():
            raise ImportError("this torch sees no GPU")
        module.cuda.init()
        stream = module.cuda.current_stream().cuda_stream
        # What the public functions call once they have found device and stream, which takes longer than the rest.
        raw = getattr(module._C, "_cuda_cudaCachingAllocator_raw_alloc", None)
        free = getattr(module._C, "_cuda_cudaCachingAllocator_raw_delete", None)
        if raw is None or free is None:
            raw, free = module.cuda.caching_allocator_alloc, module.cuda.caching_allocator_delete
            subject = Subject(lambda size: raw(size, None, stream), free, module.cuda.OutOfMemoryError)
        else:
            subject = Subject(lambda size: raw(size, stream), free, module.cuda.OutOfMemoryError)
        return subject, module.__version__, module.cuda.get_device_name()
    if module.cuda.runtime.getDeviceCount() == 0:
        raise ImportError("this cupy sees no GPU")
    pool = module.cuda.MemoryPool()
    name = module.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return Subject(pool.malloc, None, module.cuda.memory.OutOfMemoryError), module.__version__, name


class Times:
    """Nanoseconds a call, one value for each repetition."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def written(self, name: str) -> dict[str, float]:
        """As the driver writes them."""
        if not self.values:
            return {}
        low, high = min(self.values), max(self.values)
        return {f"{name}_ns": median(self.values), f"{name}_least_ns": low, f"{name}_greatest_ns": high}


class Effort:
    """How often and how long."""

    def __init__(self, repetitions: int, seconds: float) -> None:
        self.repetitions = repetitions
        self.seconds = seconds

    def rounds(self, parts: int = 1) -> Iterator[bool]:
        """One that warms up (False), then those to be timed: at least one, as many as asked for if time allows."""
        end = time.monotonic() + self.seconds / parts
        yield False
        for done in range(self.repetitions):
            if done and time.monotonic() > end:
                return
            yield True


def sizes(subject: Subject, total: int, effort: Effort) -> Iterator[dict[str, Any]]:
    """Time against size."""
    measured = {1 << power: (Times(), Times()) for power in range(31)}
    blocks: list[Any] = []
    for counts in effort.rounds():
        for size, (out, back) in measured.items():
            number = min(128, max(total // size // 2, 1))
            try:
                spent = subject.hand_out([size] * number, blocks)
            except Refused:
                subject.take_back(blocks)
                continue
            returned = subject.take_back(blocks)
            if counts:
                out.values.append(spent / number)
                back.values.append(returned / number)
    for size, (out, back) in measured.items():
        yield {"size": size, **out.written("allocate"), **back.written("deallocate")}


def fill(subject: Subject, total: int, effort: Effort) -> Iterator[dict[str, Any]]:
    """Random sizes until the memory is full, a call at a time."""
    chance = random.Random(3)
    out = [Times() for _ in range(31)]
    back = [Times() for _ in range(31)]
    for counts in effort.rounds():
        held: list[tuple[int, Any]] = []
        taken = 0
        while True:
            kind = chance.randrange(31)
            size = min((1 << kind) + chance.randrange(1 << kind), 1 << 30)
            one: list[Any] = []
            if taken + size > total:
                break
            try:
                spent = subject.hand_out([size], one)
            except Refused:
                break
            taken += size
            held.append((kind, one))
            if counts:
                out[kind].values.append(spent)
        chance.shuffle(held)
        for kind, one in held:
            spent = subject.take_back(one)
            if counts:
                back[kind].values.append(spent)
    for kind in range(31):
        yield {"size": 1 << kind, **out[kind].written("allocate"), **back[kind].written("deallocate")}


def live(subject: Subject, total: int, effort: Effort) -> Iterator[dict[str, Any]]:
    """Time against the number of live blocks of 1 to 10 bytes."""
    chance = random.Random(1)
    held: list[Any] = []
    number = 1
    while number <= _MOST_LIVE:
        try:
            subject.hand_out([1 + chance.randrange(10) for _ in range(number - len(held))], held)
        except Refused:
            break
        out, back = Times(), Times()
        for counts in effort.rounds(parts=6):
            more: list[Any] = []
            spent = subject.hand_out([1 + chance.randrange(10) for _ in range(1000)], more)
            returned = subject.take_back(more)
            if counts:
                out.values.append(spent / 1000)
                back.values.append(returned / 1000)
        yield {"live": number, **out.written("allocate"), **back.written("deallocate")}
        number *= 10
    subject.take_back(held)


def churn(subject: Subject, total: int, effort: Effort) -> Iterator[dict[str, Any]]:
    """4,096 blocks of 256 B to 1 MiB, of which any 256 are taken back and replaced, again and again."""
    chance = random.Random(1)

    def some(count: int) -> list[int]:
        tops = [256 << chance.randrange(13) for _ in range(count)]
        return [min(1 << 20, top + chance.randrange(top)) for top in tops]

    held: list[Any] = []
    subject.hand_out(some(_LIVE), held)
    out, back = Times(), Times()
    for counts in effort.rounds():
        spent = returned = 0.0
        rounds = 100
        for _ in range(rounds):
            chance.shuffle(held)
            chosen = held[-_BATCH:]
            del held[-_BATCH:]
            returned += subject.take_back(chosen)
            spent += subject.hand_out(some(_BATCH), held)
        if counts:
            out.values.append(spent / rounds / _BATCH)
            back.values.append(returned / rounds / _BATCH)
    yield {"live": _LIVE, **out.written("allocate"), **back.written("deallocate")}
    subject.take_back(held)


class Call(NamedTuple):
    """A call that a log has: a block handed out, or taken back."""

    takes_back: bool
    block: int
    size: int  # 0 of one that is taken back


def read_log(path: Path) -> list[Call]:
    """The calls of a log of logging_adaptor: `+ BLOCK BYTES ALIGNMENT`, `- BLOCK`, and `! BYTES ALIGNMENT` of refusals.

    Raises `ValueError` that names the first line that holds no call or cannot be replayed; `OSError` for no file.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as problem:
        raise ValueError("it is no text") from problem
    calls = []
    live: set[int] = set()
    for number, line in enumerate(lines, start=1):
        match = _CALL.fullmatch(line)
        if match is None:
            if line.strip() == "" or _REFUSAL.fullmatch(line):
                continue
            raise ValueError(f"line {number} is no line of a log: '{line[:60]}'")
        call = Call(match["out"] is None, int(match["block"]), int(match["size"] or 0))
        if call.takes_back != (call.block in live):
            state = "not out" if call.takes_back else "out already"
            raise ValueError(f"line {number}: block {call.block} is {state}")
        live ^= {call.block}
        calls.append(call)
    if not calls:
        raise ValueError("it has no calls")
    return calls


def replay(subject: Subject, effort: Effort, log: Path) -> Iterator[dict[str, Any]]:
    """The calls of a log, timed together."""
    calls = read_log(log)
    each = Times()
    allocate, free = subject.allocate, subject.free
    for counts in effort.rounds():
        held: dict[int, Any] = {}
        start = time.perf_counter_ns()
        for takes_back, block, size in calls:
            if not takes_back:
                held[block] = allocate(size)
            elif free is None:
                del held[block]
            else:
                free(held.pop(block))
        spent = time.perf_counter_ns() - start
        subject.take_back(list(held.values()))
        if counts:
            each.values.append(spent / len(calls))
    # A byte of the name that is no UTF-8 cannot be told in JSON.
    yield {"log": os.fsencode(log.name).decode("utf-8", "replace"), "calls": len(calls), **each.written("call")}


def main() -> int:
    """Measures one case of one library; exit code 4 if the library is not to be had."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", choices=LIBRARIES, required=True)
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--bytes", type=int, default=16 << 30)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--log", type=Path)
    words = parser.parse_args()
    try:
        subject, version, device = open_subject(words.library)
    except ImportError as problem:
        print(f"{words.library} cannot be measured: {problem}", file=sys.stderr)
        return NOT_HERE
    effort = Effort(words.repetitions, words.seconds)
    if words.case == "replay" and words.log is None:
        parser.error("the case replay needs --log FILE")
    if words.case == "replay":
        records = replay(subject, effort, words.log)
    else:
        records = {"sizes": sizes, "fill": fill, "live": live, "churn": churn}[words.case](subject, words.bytes, effort)
    for record in records:
        known = {"case": words.case, "subject": words.library, "backend": "python", "device": device}
        print(json.dumps({**known, "version": version, **record}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
