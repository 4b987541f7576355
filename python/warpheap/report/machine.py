# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Where and from which sources the record comes."""

from collections.abc import Mapping, Sequence
from typing import Any

from warpheap.machines import differences
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Cell, Grid
from warpheap.units import show_bytes

_KNOWN = {"schema", "backend", "device", "version", "sources"}


def machine_grid(records: RecordSet, facts: Sequence[Mapping[str, Any]]) -> Grid:
    """A column for each machine. `facts` are further descriptions, matched by their device where they name one."""
    machines = records.machines
    rows: dict[str, list[str]] = {}
    for place, machine in enumerate(machines):
        own = records.of_machine(machine)
        for name, value in [*_of_record(own), *_of_facts(machine, facts, len(machines))]:
            rows.setdefault(name, [""] * len(machines))[place] = value
    columns = ["", *([""] if len(machines) == 1 else [device for device, _ in machines])]
    return Grid("", columns, [[Cell(name), *map(Cell, values)] for name, values in rows.items()])


def mixed(records: RecordSet, facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each device whose records are of several sources, of several days or of several machines.

    `facts` describe the machines, as those of `machine_grid`.
    """
    sentences = []
    for machine in records.machines:
        own = records.of_machine(machine)
        states = list(own.by("sources"))
        days = sorted({str(record["time"])[:10] for record in own})
        parts = []
        if len(states) > 1:
            most = max(own.by("sources").values(), key=len)
            parts.append(f"are of {len(states)} states of the sources ({len(most)} of {len(own)} are of one)")
        if len(days) > 1:
            parts.append(f"were measured on {len(days)} days, from {days[0]} to {days[-1]}")
        known = _facts_of(machine, facts, len(records.machines))
        if different := differences(known):
            names = ", ".join(name.replace("_", " ") for name in different)
            parts.append(f"come from {len(known)} machines or setups, which differ in {names}")
        if parts:
            name = f"{machine.device}, host backend" if machine.backend == "host" else machine.device
            sentences.append(f"The records of {name} {_joined(parts)}: differences may come from that.")
    return sentences


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _of_record(records: RecordSet) -> list[tuple[str, str]]:
    def values(field: str) -> str:
        return ", ".join(str(value) for value in dict.fromkeys(record[field] for record in records))

    first, last = min(record["time"] for record in records), max(record["time"] for record in records)
    return [
        ("device", values("device")),
        ("backend", values("backend")),
        ("heap", ", ".join(show_bytes(size) for size in records.values("heap_bytes"))),
        ("timed rounds at least", ", ".join(map(str, records.values("iterations")))),
        ("warm-up rounds", ", ".join(map(str, records.values("warmup")))),
        ("warpheap", values("version")),
        ("fingerprint of the measured sources", values("sources")),
        ("measured", first if first == last else f"{first} to {last}"),
    ]


def _of_facts(machine: tuple[str, str], facts: Sequence[Mapping[str, Any]], machines: int) -> list[tuple[str, str]]:
    """Each fact once; where several machines with that device differ in it, all of its values."""
    values: dict[str, dict[str, None]] = {}
    for each in _facts_of(machine, facts, machines):
        for name, value in each.items():
            if name not in _KNOWN:
                values.setdefault(name.replace("_", " "), {})[_plain(value)] = None
    return [(name, " and ".join(each)) for name, each in values.items()]


def _facts_of(machine: tuple[str, str], facts: Sequence[Mapping[str, Any]], machines: int) -> list[Mapping[str, Any]]:
    """The descriptions of a device; one that names no device is of the only one."""
    device = machine[0]
    return [each for each in facts if each.get("device", device) == device and ("device" in each or machines == 1)]


def _plain(value: Any) -> str:
    return show_bytes(value) if isinstance(value, int) and value > 1 << 20 else str(value)
