# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that the classes have in common, looked at before a library sees them."""

import operator
from typing import Any


def whole_number(value: Any, name: str, most: int, what: str = "a whole number", least: int = 0) -> int:
    """A number from `least` to `most`, which messages call `what`. Raises `TypeError` or `ValueError` for others."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name} is {value!r}: it is {what}") from error
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: it is {what}; numbers are from {least} to {most}")
    return number


def byte_count(value: Any, name: str, least: int) -> int:
    """A number of bytes. Raises `TypeError` or `ValueError` for anything else."""
    return whole_number(value, name, 2**64 - 1, "a whole number of bytes, such as 1 << 30", least)


def device_number(value: Any) -> int:
    """The number of a GPU. Raises `TypeError` or `ValueError` for anything else."""
    return whole_number(value, "device", 2**31 - 1, "the number of a GPU, or None")


def design_name(value: Any) -> bytes:
    """The name of a design as the libraries take it. Raises `TypeError` or `ValueError` for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"design is {value!r}: it is the name of a design, such as 'warp_slab'")
    if "\0" in value:  # where the libraries would see the end of the name
        raise ValueError(f"design is {value!r}: it is the name of a design, such as 'warp_slab'")
    return value.encode()


def stream_number(value: Any) -> int:
    """A stream as the libraries take it: the number of a `cudaStream_t`, 0 for the default stream.

    Takes None for the default stream, a number, and streams of cuda.core, CuPy, PyTorch and Numba. Raises `TypeError`
    for anything else.
    """
    if value is None:
        return 0
    if hasattr(value, "__index__"):
        number = operator.index(value)
    elif hasattr(value, "__cuda_stream__"):  # the protocol of cuda.core: a version, and the number
        number = int(value.__cuda_stream__()[1])
    else:
        names = ("cuda_stream", "ptr", "handle")  # of PyTorch, of CuPy, and of Numba
        found = next((getattr(value, name) for name in names if hasattr(value, name)), None)
        if found is None:
            raise TypeError(f"stream is {value!r}: it is a stream of CUDA or its number, or None for the default one")
        number = int(getattr(found, "value", found) or 0)
    if not 0 <= number < 2**64:
        raise ValueError(f"stream is {number}: it is the number of a cudaStream_t, which is not negative")
    return number
