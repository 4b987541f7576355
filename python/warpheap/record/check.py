# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a value out of JSON is what a field may hold."""

from typing import Any

# Wider than anything that can be measured, narrow enough that ratios and axes of such numbers are finite.
_LEAST, _MOST = 1e-30, 1e30
_LONGEST_NAME = 300  # a trace has that of its file, which may have 255 letters


def is_count(value: Any) -> bool:
    """A whole number from 0 that 64 bits hold."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def is_number_of(value: Any) -> bool:
    """A count from 1: of threads, bytes or rounds, of which there is no measurement without any."""
    return is_count(value) and value > 0


def is_number(value: Any) -> bool:
    """A number that can have been measured: 0, or one from 1e-30 to 1e30."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (value == 0 or _LEAST <= value <= _MOST)


def is_text(value: Any) -> bool:
    """Text, perhaps empty, that a file in UTF-8 can hold."""
    return isinstance(value, str) and _encodable(value)


def is_name(value: Any) -> bool:
    """Text of 1 to 300 printable characters."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
