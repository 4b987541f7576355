# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU between two programs: what it is, and whether it still answers."""

import json
import os
import platform
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpheap import process
from warpheap.driver import Driver
from warpheap.errors import UsageError
from warpheap.files import write_text

_SECONDS_TO_ANSWER = 60.0
_TRIVIAL = ("--threads", "32", "--heap-bytes", "1048576", "--iterations", "1", "--warmup", "1")


@dataclass(frozen=True)
class Device:
    """The GPU, asked through the benchmark driver, or through nvidia-smi where there is no driver."""

    driver: Path | None

    def answers(self) -> bool:
        """True if a trivial run ends well in time: after a hang, nothing else is worth starting before it does."""
        if self.driver is not None:
            try:
                first = Driver.start(self.driver).names[0]
            except UsageError:
                return False
            outcome = process.run([self.driver, "--allocator", first, *_TRIVIAL], _SECONDS_TO_ANSWER)
        elif shutil.which("nvidia-smi"):
            outcome = process.run(["nvidia-smi", "-L"], _SECONDS_TO_ANSWER)
        else:
            return True  # nobody to ask; the next program will tell
        return not outcome.timed_out and outcome.exit_code == 0


def describe_machine(programs: dict[str, str]) -> dict[str, Any]:
    """What is known of the machine and its tools. `programs` are commands that know `--version`, by their names."""
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


def write_facts(path: Path, facts: dict[str, Any]) -> None:
    """Keeps the facts."""
    write_text(path, json.dumps(facts, indent=2) + "\n")
