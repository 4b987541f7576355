# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the machines that a record was measured on: machine.json beside it.

One object, or a list of them where the record comes from several machines. Their field `device` tells
which records each is of; what else is known tells two machines with the same device apart.
"""

import json
import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpheap import process
from warpheap.files import write_text
from warpheap.record.parse import parse

MACHINE_NAME = "machine.json"
_SECONDS_TO_ANSWER = 60.0
# Facts of a session, which differ between two sessions of one machine.
_OF_SESSION = {"started", "last_started", "schema", "backend", "version", "sources", "evidence"}

Facts = dict[str, Any]


def read_machines(folder: Path) -> list[Facts]:
    """The machines that are described in `folder`. None if the file is not there or was cut short."""
    try:
        known = parse((folder / MACHINE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [each for each in (known if isinstance(known, list) else [known]) if isinstance(each, dict)]


def write_machines(folder: Path, machines: Sequence[Facts]) -> None:
    """Writes the descriptions."""
    written = machines[0] if len(machines) == 1 else list(machines)
    write_text(folder / MACHINE_NAME, json.dumps(written, indent=2) + "\n")


def add_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """Adds what a session knows of its machine; what is there of other machines stays.

    Facts of a machine that is known already are added to it: `started` remains that of its first
    session. A machine that differs in any fact from those that are known, such as its driver or its
    system, is described beside them.
    """
    known = read_machines(folder)
    same = [place for place, each in enumerate(known) if _is_same_machine(each, facts)]
    if not same:
        write_machines(folder, [*known, dict(facts)])
        return
    own = known[same[-1]]
    added = own | dict(facts)
    if "started" in own and facts.get("started", own["started"]) != own["started"]:
        added |= {"started": own["started"], "last_started": facts["started"]}
    write_machines(folder, [*known[: same[-1]], added, *known[same[-1] + 1 :]])


def differences(machines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The facts in which descriptions of machines differ, apart from those of a session."""
    names = dict.fromkeys(name for each in machines for name in each if name not in _OF_SESSION)
    return [name for name in names if len({str(each[name]) for each in machines if name in each}) > 1]


def _is_same_machine(known: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """True unless both tell a fact, and tell it differently."""
    return not differences([known, facts])


def describe_machine(programs: dict[str, str]) -> dict[str, Any]:
    """Describe the machine and its tools. `programs` are commands that know `--version`, by their names."""
    facts: dict[str, Any] = {
        "started": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }
    queries = "name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,persistence_mode"
    facts["gpu"] = _last_line(["nvidia-smi", f"--query-gpu={queries}", "--format=csv,noheader"])
    facts["device"], facts["driver"] = (*facts["gpu"].split(", "), "", "")[:2]
    for name, program in programs.items():
        facts[name] = _last_line([program, "--version"])
    return {name: value for name, value in facts.items() if value}


def facts_beside(machine: Mapping[str, Any]) -> Facts:
    """What a driver tells of its machine, and what else is known; the GPU only if the driver uses it."""
    facts = describe_machine({})
    if facts.get("device") != machine.get("device"):
        facts = {name: value for name, value in facts.items() if name not in ("gpu", "driver")}
    return facts | dict(machine)


def _last_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return ""
    outcome = process.run(command, _SECONDS_TO_ANSWER)
    lines = [line.strip() for line in outcome.stdout.splitlines() if line.strip()]
    # nvcc and compute-sanitizer say their version last, cmake first.
    versions = [line for line in lines if any(letter.isdigit() for letter in line)]
    return (versions[0] if command[0].endswith("cmake") else versions[-1]) if versions else ""
