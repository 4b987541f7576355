# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a value out of JSON is what a field may hold."""

import math
from typing import Any


def is_count(value: Any) -> bool:
    """A whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: Any) -> bool:
    """A finite number from 0."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def is_text(value: Any) -> bool:
    """Text, perhaps empty."""
    return isinstance(value, str)


def is_name(value: Any) -> bool:
    """Text that is not empty."""
    return isinstance(value, str) and value != ""


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)
