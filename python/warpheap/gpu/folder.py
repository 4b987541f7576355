# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a record: its parts are of one state of the sources."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warpheap.errors import UsageError
from warpheap.gpu.build import State
from warpheap.gpu.result import Result, read_head, read_lines
from warpheap.machines import add_facts, write_machines

_MEASURED = {"bench": "survey.jsonl", "sync": "sync.jsonl", "pool": "pool.jsonl"}


def refuse_another_state(folder: Path, parts: Sequence[str], state: State) -> None:
    """Raise `UsageError` if `parts` would be added to the tests of another state."""
    path = folder / "tests.jsonl"
    if "tests" in parts or not path.is_file():
        return
    head = read_head(path)
    recorded = State(head.get("evidence", ""), head.get("sources", ""))
    if recorded != state:
        raise UsageError(
            f"--out: {path} is of {_named(recorded)}, and the checkout has {_named(state)}. Run the tests as well "
            f"(--only {','.join(['tests', *parts])}), or name another folder"
        )


def _named(state: State) -> str:
    if not state.evidence:
        return "no known fingerprint"
    return f"the fingerprint {state.evidence[:12]} (sources {state.sources[:12]})"


def parts_of_another_state(folder: Path, parts: Sequence[str], state: State) -> list[str]:
    """Files of parts that are not among `parts`, and that were made in another state."""
    files = []
    memcheck = folder / "memcheck.jsonl"
    if "memcheck" not in parts and memcheck.is_file() and read_head(memcheck).get("evidence") != state.evidence:
        files.append(memcheck.name)
    for part, name in _MEASURED.items():
        sources = {str(line["sources"]) for line in read_lines(folder / name) if "sources" in line}
        if part not in parts and sources - {state.sources}:
            files.append(name)
    return files


def begin(folder: Path, facts: dict[str, Any]) -> None:
    """Make the folder and write what is known of the machine. Raises `UsageError` if that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if facts.get("device"):
            add_facts(folder, facts)
        else:
            write_machines(folder, [facts])
    except OSError as problem:
        raise UsageError(f"--out: {folder} cannot be written: {problem.strerror}") from problem


def recorded_results(path: Path) -> list[Result]:
    """The results in a file that an earlier run has left; none if it is not there."""
    lines = [line for line in read_lines(path) if line.get("kind") in ("build", "test", "memcheck")]
    return [Result(**line) for line in lines]
