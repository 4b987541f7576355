# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""JSON as records and their companions have it: narrower than JSON, so that nothing that is read can break a reader."""

import json
import math
import re
from typing import Any

# Counts and seeds of the driver have 64 bits.
_MOST = 2**64 - 1
_DIGITS = len(str(_MOST))
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class ParseError(ValueError):
    """A text that is no JSON, or has what records never have; the message names it."""


class NotJsonError(ParseError):
    """A text that is no JSON; perhaps the beginning of one."""


def parse(text: str) -> Any:
    """The value of a JSON text.

    Raises `NotJsonError` for what is no JSON, and `ParseError` for a number that 64 bits or a finite double cannot
    hold, a half of a surrogate pair, or nesting too deep to read.
    """
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_constant)
    except RecursionError as problem:
        raise ParseError("it is nested too deeply") from problem
    except json.JSONDecodeError as problem:
        raise NotJsonError(f"not JSON: {problem.msg}") from problem
    if _ESCAPED_SURROGATE.search(text):
        # A half of a pair is no character: no file in UTF-8 can hold it.
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as problem:
            raise ParseError("it has a half of a surrogate pair, which is no character") from problem
    return value


def _whole(digits: str) -> int:
    if len(digits.removeprefix("-")) > _DIGITS or abs(int(digits)) > _MOST:
        raise ParseError(f"the number {_short(digits)} does not fit into 64 bits")
    return int(digits)


def _real(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ParseError(f"the number {_short(text)} is too large")
    return value


def _constant(name: str) -> float:
    raise ParseError(f"not JSON: {name} is no number")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}... of {len(text):,} digits"
