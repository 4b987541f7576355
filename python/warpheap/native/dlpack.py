# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""DLPack by ctypes alone: reads the capsule of another library's array, and makes one of an array of ours."""

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from dataclasses import dataclass
from typing import Any

import numpy as np

CPU, CUDA, CUDA_MANAGED = 1, 2, 13
# The default stream of CUDA, as DLPack numbers streams: the producer lets that stream wait for its work.
DEFAULT_STREAM = 1

_NAME = b"dltensor"  # a capsule keeps the address of its name, so the name lives as long as the module
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_CODES = {kind: code for code, kind in _KINDS.items()}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p))


_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = py_object
_capsule_new.argtypes = (c_void_p, c_char_p, c_void_p)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = (py_object, c_char_p)
# For destructors: the capsule has no references left, so ctypes must not make one.
_dying_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_dying_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@dataclass(frozen=True)
class Layout:
    """What an array's producer says of it. Strides count elements; None: one after another."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    kind: str
    owner: object


def read(array: Any, stream: int | None) -> Layout:
    """The layout of an array with `__dlpack__`. As long as `owner` is there, so is the array's memory."""
    capsule = array.__dlpack__(stream=stream) if stream is not None else array.__dlpack__()
    tensor = _Managed.from_address(_capsule_pointer(capsule, _NAME)).tensor
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise TypeError(f"elements of the DLPack code {tensor.code} with {tensor.lanes} lanes are no numbers")
    dims = range(tensor.ndim)
    return Layout(
        address=(tensor.data or 0) + tensor.byte_offset,
        shape=tuple(tensor.shape[i] for i in dims),
        strides=tuple(tensor.strides[i] for i in dims) if tensor.strides else None,
        kind=f"{kind}{tensor.bits // 8}",
        owner=capsule,
    )


# What each capsule of ours stands on, by the address of its tensor, until the consumer calls the deleter.
_exported: dict[int, tuple[Any, ...]] = {}


def _release(address: int) -> None:
    _exported.pop(address, None)


def _capsule_ends(capsule: int) -> None:
    # A consumer that took the tensor has renamed the capsule, and calls the deleter itself.
    if _dying_is_valid(capsule, _NAME):
        _release(_dying_pointer(capsule, _NAME))


# Consumers call the deleter from any thread, with or without the interpreter's lock; Python ends capsules with it.
_release_from_c = ctypes.CFUNCTYPE(None, c_void_p)(_release)
_capsule_ends_from_c = ctypes.PYFUNCTYPE(None, c_void_p)(_capsule_ends)


def export(owner: object, address: int, size: int, dtype: np.dtype[Any], device: tuple[int, int]) -> Any:
    """A capsule of `size` elements at `address`, which keeps `owner` alive."""
    shape = (c_int64 * 1)(size)
    strides = (c_int64 * 1)(1)
    managed = _Managed()
    tensor = managed.tensor
    tensor.data = address
    tensor.device_type, tensor.device_id = device
    tensor.ndim = 1
    tensor.code, tensor.bits, tensor.lanes = _CODES[dtype.kind], dtype.itemsize * 8, 1
    tensor.shape, tensor.strides = shape, strides
    managed.deleter = ctypes.cast(_release_from_c, c_void_p).value
    place = ctypes.addressof(managed)
    _exported[place] = (managed, shape, strides, owner)
    return _capsule_new(place, _NAME, ctypes.cast(_capsule_ends_from_c, c_void_p).value)
