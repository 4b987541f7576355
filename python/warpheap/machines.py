# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the machines that a record was measured on: machine.json beside it.

One object, or, beside a record that was merged, a list of them. They are matched by their field `device`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpheap.files import write_text
from warpheap.record.parse import parse

MACHINE_NAME = "machine.json"

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
