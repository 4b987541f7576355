# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the words of the benchmark driver's command line: `python3 -m warpheap.bench_words BACKEND [WORD...]`.

`./run bench` asks this before it builds the driver, since a build takes minutes. Words that the driver would refuse end
the command with its message and status 2. Needs the checkout, and nothing beside the standard library.
"""

import math
import re
import sys
from collections.abc import Sequence

from warpheap import project
from warpheap.cases import CASES
from warpheap.errors import UsageError, unknown_name
from warpheap.words import one_line

# The options of benchmarks/options.cpp. These ask for something else than one run: a list, or to read runs from stdin.
QUESTIONS = ("help", "list", "cases", "machine", "serve")
# Names, of which the driver knows a list, and a file.
NAMES = ("case", "allocator", "mode", "trace", "verify")
POLICIES = ("ends", "all")
# The least and the greatest whole number.
_MOST = (1 << 64) - 1
WHOLE = {
    "threads": (1, 1 << 32),
    "size": (1, _MOST),
    "heap-bytes": (1, _MOST),
    "iterations": (1, 1_000_000),
    "most-iterations": (1, 1_000_000),
    "warmup": (1, 1_000_000),
    "seed": (0, _MOST),
}
# What a number that need not be whole should be.
REAL = {"precision": "a share such as 0.02", "soft-limit": "a number of seconds"}

_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DEFAULT_CASE = "throughput"
_DEFAULT_SIZE = 16
_LEAST_MIXED = 4


def check(words: Sequence[str], backend: str) -> None:
    """Raises `UsageError` for words that the driver of `backend`, `host` or `cuda`, would refuse.

    Checks options and values in the order of the words, then the names against each other, as the driver does. What the
    checkout does not tell, such as the content of a trace, is left to the driver.
    """
    given = _read(words)
    mode = given.get("mode", "")
    if mode == "mixed" and int(given.get("size", _DEFAULT_SIZE)) < _LEAST_MIXED:
        raise UsageError(f"--size: use at least {_LEAST_MIXED} with --mode mixed")
    if any(question in given for question in QUESTIONS):
        return
    _check_mode(given, mode)
    designs = project.registered_designs(backend)
    allocator = given.get("allocator", "")
    if designs is not None and allocator not in designs:
        raise unknown_name("--allocator", allocator, designs)


def _read(words: Sequence[str]) -> dict[str, str]:
    """The options with their values; of an option that is given twice the last value."""
    given: dict[str, str] = {}
    strays = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            strays.append(word)
            continue
        name, equals, value = word.removeprefix("--").partition("=")
        known = word.startswith("--")
        if known and name in QUESTIONS and not equals:
            given[name] = ""
            continue
        if not known or name not in (*NAMES, *WHOLE, *REAL):
            raise UsageError(f"'{word}' is no option of the benchmark driver; ./run bench --help lists them")
        if not equals:
            following = next(rest, None)
            if following is None:
                raise UsageError(f"'{word}' lacks its value; ./run bench --help lists the options")
            value = following
        _check_value(name, value)
        given[name] = value
    if strays:
        raise UsageError(f"'{strays[0]}' is not expected here; see --help")
    return given


def _check_value(name: str, value: str) -> None:
    if name in WHOLE:
        least, most = WHOLE[name]
        # Python refuses to read very long numbers, which are too large anyway.
        right = re.fullmatch("[0-9]{1,4000}", value) is not None and least <= int(value) <= most
        if not right:
            raise UsageError(f"--{name}: use a whole number from {least} to {most}, not '{value}'")
    elif name in REAL:
        number = float(value) if _NUMBER.fullmatch(value) else math.nan
        right = 0 <= number < math.inf or value.lower() in ("inf", "infinity")
        if not right:
            raise UsageError(f"--{name}: use {REAL[name]}, not '{value}'")
    elif name == "verify" and value not in POLICIES:
        raise unknown_name("--verify", value, POLICIES)


def _check_mode(given: dict[str, str], mode: str) -> None:
    """Checks the case, and that it has the mode or replays the trace."""
    name = given.get("case", _DEFAULT_CASE)
    cases = [case.name for case in CASES.values() if case.runner is None]
    if name not in cases:
        raise unknown_name("--case", name, cases)
    # A case that names no mode has one for each shipped trace.
    own = list(CASES[name].modes)
    if given.get("trace"):
        if own:
            raise UsageError(f"--trace: case {name} replays no trace; case trace does")
        if mode:
            raise UsageError("--mode: names a shipped trace; leave it out with --trace")
        return
    modes = own or project.shipped_traces()
    if mode and modes is not None and mode not in modes:
        raise unknown_name("--mode", mode, modes)


def main(words: Sequence[str]) -> int:
    """Checks the words after the backend's name, and says what is wrong. Returns the exit code."""
    try:
        check(words[1:], words[0])
    except UsageError as problem:
        print(f"warpheap: {one_line(str(problem))}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
