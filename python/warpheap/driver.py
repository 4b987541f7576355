# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ benchmark driver as a Python object: what it can measure, and one case at a time."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpheap import process, project
from warpheap.errors import UsageError
from warpheap.record import SCHEMA, Record, RecordError, validate

_SECONDS_TO_ANSWER = 120.0  # a GPU's first start, when its driver sleeps, takes long
_BAD_USAGE = 2
_NO_MACHINE = 3


@dataclass(frozen=True)
class Point:
    """One case: what to measure, for whom."""

    case: str
    allocator: str
    mode: str
    threads: int
    size: int
    heap_bytes: int
    iterations: int
    warmup: int
    seed: int

    def arguments(self) -> list[str]:
        """The driver's command line."""
        return [word for name, value in asdict(self).items() for word in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True)
class Driver:
    """A driver that answered."""

    path: Path
    machine: dict[str, Any]
    allocators: list[dict[str, Any]]  # in the registry's order

    @classmethod
    def start(cls, path: Path) -> "Driver":
        """Asks the program at `path` for its machine and allocators. Raises `UsageError` if it is no driver."""
        machine = _ask(path, "--machine")
        allocators = _ask(path, "--list")
        if len(machine) != 1 or "backend" not in machine[0] or not all("name" in each for each in allocators):
            raise UsageError(f"{path} is no warpheap benchmark driver; see its --help")
        if machine[0].get("schema") != SCHEMA:
            schema = machine[0].get("schema")
            raise UsageError(f"{path} writes records of schema {schema}, this package reads {SCHEMA}; build it anew")
        return cls(path, machine[0], allocators)

    @property
    def backend(self) -> str:
        """`cuda` or `host`."""
        return str(self.machine["backend"])

    @property
    def device(self) -> str:
        """The product's name."""
        return str(self.machine["device"])

    @property
    def sources(self) -> str:
        """The fingerprint of the sources that it was built from."""
        return str(self.machine["sources"])

    @property
    def names(self) -> list[str]:
        """The allocators, in the registry's order."""
        return [str(each["name"]) for each in self.allocators]

    def measure(self, point: Point, time_limit: float) -> Record:
        """Runs one case in a process of its own. A hang and a crash are results too."""
        # Half the limit is for going on with rounds, the other half for the one in hand and for checking it.
        command: list[str | Path] = [self.path, *point.arguments(), "--soft-limit", f"{time_limit / 2:g}"]
        outcome = process.run(command, time_limit)
        if not outcome.timed_out and outcome.exit_code == _BAD_USAGE:
            raise UsageError(f"{self.path.name}: {outcome.last_words}")
        record = None if outcome.timed_out else _last_record(outcome.stdout)
        if record is None:
            record = self._record_of_lost(point, outcome)
        return record | {"seconds": round(outcome.seconds, 3), "time_limit_s": time_limit}

    def _record_of_lost(self, point: Point, outcome: process.Outcome) -> Record:
        position = next((each.get("position", 0) for each in self.allocators if each["name"] == point.allocator), 0)
        return {
            "schema": SCHEMA,
            **asdict(point),
            "position": position,
            "backend": self.backend,
            "device": self.device,
            "timing_comparable": self.backend == "cuda",
            "version": self.machine["version"],
            "sources": self.sources,
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "failures": 0,
            "verified": False,
            "malloc_us": None,
            "free_us": None,
            "memory": None,
            "status": "timeout" if outcome.timed_out else "crashed",
            "reason": outcome.describe_end(),
        }


def find_driver(path: Path | None, backend: str) -> Driver:
    """The driver at `path`, or the one built in the checkout: with `auto`, a GPU's if one answers, else the host's."""
    if path is not None:
        if not path.is_file():
            raise UsageError(f"--driver: there is no program at {path}")
        driver = Driver.start(path.resolve())
        if backend not in ("auto", driver.backend):
            raise UsageError(f"--driver: {path} runs on the {driver.backend} backend, --backend asks for {backend}")
        return driver
    if backend in ("cuda", "auto"):
        built = project.find_built_driver("cuda")
        if built is not None:
            try:
                return Driver.start(built)
            except NoMachineError:
                if backend == "cuda":
                    raise
        elif backend == "cuda":
            raise project.no_driver("cuda")
    built = project.find_built_driver("host")
    if built is None:
        raise project.no_driver("host")
    return Driver.start(built)


class NoMachineError(UsageError):
    """The driver runs and finds no machine to run kernels on."""


def _ask(path: Path, question: str) -> list[dict[str, Any]]:
    try:
        outcome = process.run([path, question], _SECONDS_TO_ANSWER)
    except OSError as problem:
        raise UsageError(f"{path} cannot be started: {problem.strerror}") from problem
    if not outcome.timed_out and outcome.exit_code == _NO_MACHINE:
        raise NoMachineError(outcome.last_words)
    if outcome.timed_out or outcome.exit_code != 0:
        raise UsageError(f"{path} {question} {outcome.describe_end()}")
    try:
        return [json.loads(line) for line in outcome.stdout.splitlines()]
    except json.JSONDecodeError as problem:
        raise UsageError(f"{path} is no warpheap benchmark driver: {question} printed no JSON") from problem


def _last_record(stdout: str) -> Record | None:
    lines = stdout.splitlines()
    try:
        return validate(json.loads(lines[-1])) if lines else None
    except (json.JSONDecodeError, RecordError):
        return None
