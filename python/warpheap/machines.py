# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the machines that a record was measured on: machine.json beside it.

One object, or, beside a record that was merged, a list of them. They are matched by their field `device`.
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
    """Adds to what is known of the machine whose device `facts` name; what is there of others stays."""
    known = read_machines(folder)
    own = [each for each in known if each.get("device", facts["device"]) == facts["device"]]
    others = [each for each in known if each not in own]
    write_machines(folder, [*others, {name: value for each in own for name, value in each.items()} | dict(facts)])


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


def _last_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return ""
    outcome = process.run(command, _SECONDS_TO_ANSWER)
    lines = [line.strip() for line in outcome.stdout.splitlines() if line.strip()]
    # nvcc and compute-sanitizer say their version last, cmake first.
    versions = [line for line in lines if any(letter.isdigit() for letter in line)]
    return (versions[0] if command[0].endswith("cmake") else versions[-1]) if versions else ""
