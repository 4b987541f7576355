# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ benchmark driver as a Python object: what it can measure, and one case at a time."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpheap import process
from warpheap.errors import UsageError
from warpheap.record import BACKENDS, SCHEMA, NotJsonError, ParseError, Record, RecordError, parse, validate
from warpheap.record.check import is_count, is_name, is_number_of
from warpheap.runner import Effort, Point

_SECONDS_TO_ANSWER = 120.0  # a GPU's first start, when its driver sleeps, takes long
_BAD_USAGE = 2
_NO_MACHINE = 3


@dataclass(frozen=True)
class Driver:
    """A driver that answered."""

    path: Path
    machine: dict[str, Any]
    allocators: list[dict[str, Any]]  # in the registry's order
    cases: dict[str, list[str]]  # the modes of each case that it knows, in the survey's order
    environment: Mapping[str, str] = field(default_factory=dict)  # for its processes, beside our own

    @classmethod
    def start(cls, path: Path, environment: Mapping[str, str] | None = None) -> "Driver":
        """Asks the program at `path` for its machine, allocators and cases. Raises `UsageError` if it is no driver."""
        environment = environment or {}
        machine = _ask(path, "--machine", environment)
        if len(machine) != 1 or machine[0].get("backend") not in BACKENDS:
            raise _no_driver(path)
        if (schema := machine[0].get("schema")) != SCHEMA:
            raise UsageError(f"{path} writes records of schema {schema}, this package reads {SCHEMA}; build it anew")
        texts = (machine[0].get(name) for name in ("device", "sources", "version"))
        if not all(map(is_name, texts)) or not is_number_of(machine[0].get("memory_bytes")):
            raise UsageError(f"{path} does not tell device, sources, version and memory_bytes; build it anew")
        allocators = _ask(path, "--list", environment)
        cases = _ask(path, "--cases", environment)
        try:
            modes = {str(case["name"]): [str(mode["name"]) for mode in case["modes"]] for case in cases}
            names = [each["name"] for each in allocators]
        except (KeyError, TypeError) as problem:
            raise _no_driver(path) from problem
        if not all(map(is_name, names)) or not all(is_count(each.get("position", 0)) for each in allocators):
            raise _no_driver(path)
        if not names or not modes:
            raise UsageError(f"{path} has no allocators or no cases; build it anew")
        return cls(path, machine[0], allocators, modes, environment)

    def on(self, environment: Mapping[str, str]) -> "Driver":
        """This driver with the machine that answers in another environment. Raises `NoMachineError` if none does."""
        machine = _ask(self.path, "--machine", environment)
        if len(machine) != 1 or not is_name(machine[0].get("device")):
            raise _no_driver(self.path)
        return replace(self, machine=machine[0], environment=environment)

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

    def measure(self, point: Point, effort: Effort) -> Record:
        """Runs one case in a process of its own. A hang and a crash are results too.

        Raises `UsageError` if this tells nothing of the case: the GPU is gone, or the driver was built anew.
        """
        outcome = process.run([self.path, *words_of(point, effort)], effort.time_limit, environment=self.environment)
        if not outcome.timed_out and outcome.exit_code == _BAD_USAGE:
            raise UsageError(f"{self.path.name}: {outcome.last_words}")
        if not outcome.timed_out and outcome.exit_code == _NO_MACHINE:
            gpu = self.environment.get("CUDA_VISIBLE_DEVICES")
            where = "" if gpu is None else f"GPU {gpu}: "
            raise NoMachineError(f"{where}{outcome.last_words}. What was measured is kept; the same command goes on")
        record, problem = (None, "") if outcome.timed_out else self.answer_to(point, outcome.stdout)
        if record is None:
            status = "timeout" if outcome.timed_out else "crashed"
            record = self.record_without_result(point, status, problem or outcome.describe_end())
        return record | {"seconds": round(outcome.seconds, 3), "time_limit_s": effort.time_limit}

    def answer_to(self, point: Point, output: str) -> tuple[Record | None, str]:
        """The record of `point` in the last line of `output`, or what is wrong with the record that is there.

        Raises `UsageError` if the driver was built anew from other sources: a record is of one state.
        """
        record, problem = record_of(output)
        if record is None:
            return None, f"its record breaks the format: {problem}" if problem else ""
        if record["sources"] != self.sources:
            raise UsageError(f"{self.path} was built from other sources while it measured; start the command again")
        for name, value in (asdict(point) | {"backend": self.backend, "device": self.device}).items():
            if record[name] != value:
                return None, f"its record is of another case: '{name}' is {record[name]}, not {value}"
        return record, ""

    def record_without_result(self, point: Point, status: str, reason: str) -> Record:
        """The record of a case that nobody could tell us anything about."""
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
            "measures": {},
            "memory": None,
            "status": status,
            "reason": reason,
        }


class NoMachineError(UsageError):
    """The driver runs and finds no machine to run kernels on."""


def _ask(path: Path, question: str, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    try:
        outcome = process.run([path, question], _SECONDS_TO_ANSWER, environment=environment)
    except OSError as problem:
        raise UsageError(f"{path} cannot be started: {problem.strerror}") from problem
    if not outcome.timed_out and outcome.exit_code == _NO_MACHINE:
        raise NoMachineError(outcome.last_words)
    if outcome.timed_out or outcome.exit_code != 0:
        raise UsageError(f"{path} {question} {outcome.describe_end()}")
    try:
        answers = [parse(line) for line in outcome.stdout.splitlines()]
    except ParseError as problem:
        raise UsageError(f"{path} is no warpheap benchmark driver: {question} printed no JSON") from problem
    if not all(isinstance(answer, dict) for answer in answers):
        raise _no_driver(path)
    return answers


def _no_driver(path: Path) -> UsageError:
    return UsageError(f"{path} is no warpheap benchmark driver; see its --help")


def words_of(point: Point, effort: Effort) -> list[str]:
    """The command line of a case."""
    # Half the limit is for going on with rounds, the other half for the one in hand and for checking it.
    limits = ["--precision", f"{effort.precision:g}", "--most-iterations", str(effort.most_iterations)]
    return [*point.arguments(), *limits, "--soft-limit", f"{effort.time_limit / 2:g}"]


def record_of(output: str) -> tuple[Record | None, str]:
    """The record in the last line, or what is wrong with it if it is one."""
    lines = output.splitlines()
    try:
        return (validate(parse(lines[-1])), "") if lines else (None, "")
    except NotJsonError:
        return None, ""
    except (ParseError, RecordError) as problem:
        return None, str(problem)
