# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel needs of the machine, read from its file.

A cubin is an ELF file. The section `.text.KERNEL` is the kernel's code; `.nv.info` lists what the driver has to know
of each kernel, among it the numbers that `cuobjdump -res-usage` prints. We read them ourselves, since toolkits come
without that program and machines come without a toolkit; a test compares with it where it is installed.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINE_CUDA = 190
_SYMBOLS = 2  # the type of a section that is a table of symbols

# Entries of .nv.info: a format, an attribute, and, for formats that have more than two bytes of value, its length.
_LONG_VALUE = 4
_REGISTERS = 0x2F
_STACK = 0x12  # with what the functions need that it calls


class CubinError(ValueError):
    """A file that is no cubin, or one that we cannot read."""


@dataclass(frozen=True)
class Kernel:
    """What one kernel takes."""

    registers: int  # of a thread
    stack: int  # bytes of a thread: spilled registers, arrays
    code: int  # bytes


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    link: int
    data: bytes


def read_cubin(path: Path) -> dict[str, Kernel]:
    """The kernels of a cubin by name. Raises `CubinError`, or `OSError` if the file cannot be read."""
    try:
        sections = _sections(path.read_bytes())
        names = _symbol_names(sections)
        notes = _notes(next((each.data for each in sections if each.name == ".nv.info"), b""))
    except (struct.error, IndexError, ValueError) as problem:
        raise CubinError(f"{path.name} is no cubin, or is cut short") from problem
    code = {each.name.removeprefix(".text."): len(each.data) for each in sections if each.name.startswith(".text.")}
    kernels = {}
    for (attribute, symbol), registers in notes.items():
        name = names.get(symbol, "")
        if attribute == _REGISTERS and name in code:
            kernels[name] = Kernel(registers, notes.get((_STACK, symbol), 0), code[name])
    if not kernels:
        raise CubinError(f"{path.name} tells of no kernel how many registers it has")
    return kernels


def _sections(image: bytes) -> list[_Section]:
    if image[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", image, 18)[0] != _MACHINE_CUDA:
        raise ValueError("not an ELF file of CUDA")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQII", image, table + index * size) for index in range(count)]

    def data(header: tuple[int, ...]) -> bytes:
        return image[header[4] : header[4] + header[5]]

    names = data(headers[names_index])
    return [_Section(_text(names, header[0]), header[1], header[6], data(header)) for header in headers]


def _symbol_names(sections: list[_Section]) -> dict[int, str]:
    table = next(each for each in sections if each.kind == _SYMBOLS)
    names = sections[table.link].data
    entries = struct.iter_unpack("<IBBHQQ", table.data)
    return {index: _text(names, entry[0]) for index, entry in enumerate(entries)}


def _notes(data: bytes) -> dict[tuple[int, int], int]:
    """By attribute and symbol: the value."""
    found = {}
    place = 0
    while place + 4 <= len(data):
        kind, attribute, length = struct.unpack_from("<BBH", data, place)
        place += 4
        if kind != _LONG_VALUE:
            continue
        if length == 8:
            symbol, value = struct.unpack_from("<II", data, place)
            found[attribute, symbol] = value
        place += length
    return found


def _text(names: bytes, place: int) -> str:
    return names[place : names.index(b"\0", place)].decode()
