# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that the classes have in common, looked at before a library sees them."""

import operator
from typing import Any


def byte_count(value: Any, name: str, least: int) -> int:
    """A number of bytes. Raises `TypeError` or `ValueError` for anything else."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name} is {value!r}: it is a whole number of bytes, such as 1 << 30") from error
    if not least <= number < 2**64:
        raise ValueError(f"{name} is {number}: it is a number of bytes from {least} on, below 2**64")
    return number


def device_number(value: Any) -> int:
    """The number of a GPU. Raises `TypeError` or `ValueError` for anything else."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"device is {value!r}: it is the number of a GPU, from 0 on, or None") from error
    if not 0 <= number < 2**31:
        raise ValueError(f"device is {number}: it is the number of a GPU, from 0 on, or None")
    return number


def stream_number(value: Any) -> int:
    """A stream as the libraries take it: the number of a `cudaStream_t`, 0 for the default stream.

    Takes None for the default stream, a number, and streams of cuda.core, CuPy, PyTorch and Numba. Raises `TypeError`
    for anything else.
    """
    if value is None:
        return 0
    if isinstance(value, int):
        number = value
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
