# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of what programs ask the driver for: made, and brought into the form that the replays read.

A recording is a trace of `warpheap run` (docs/run.md) with the calls of one process for memory that has addresses.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from warpheap import process
from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.interposer.calls import GIVEN, TAKEN, Event, read_events
from warpheap.interposer.convert import REPLAYED_KINDS, recording_text
from warpheap.pool.peers import NOT_HERE
from warpheap.pool.training import training_log

# What each of our programs needs in its environment, so that its library asks the driver for each block.
PROGRAMS = {"training": {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, "fft": dict[str, str]()}
ENDING = ".calls"
_FOLDER = Path(__file__).parent
_SECONDS_TO_RECORD = 300.0


def prepare(traces: Sequence[Path], folder: Path) -> list[Path]:
    """Writes a recording of each trace, of the process that took the most blocks; all into `folder`, or nothing.

    Raises `UsageError` for a file that is no trace, for one in which nothing is to be replayed, and for two traces of
    one name.
    """
    made: dict[Path, list[str]] = {}
    for trace in traces:
        target = folder / f"{trace.stem}{ENDING}"
        if target in made:
            raise UsageError(f"--recording: two files are named {trace.stem}; rename one")
        events = read_events(trace)
        made[target] = list(recording_text(events, _largest(events, trace)))
    for target, text in made.items():
        write_text(target, text)
    return list(made)


def _largest(events: Sequence[Event], trace: Path) -> int:
    blocks = Counter(event.process for event in events if event.what == TAKEN and event.kind in REPLAYED_KINDS)
    if not blocks:
        raise UsageError(f"--recording: no process of {trace} took memory that a pool could serve")
    return blocks.most_common(1)[0][0]


def generate(folder: Path) -> Path:
    """Writes a recording that no program made, from the generated log of a training run; its name says so."""
    events = []
    for moment, line in enumerate(training_log(tokens=(256, 512)).splitlines()):
        what, block, *numbers = line.split()
        size, kind, call = (int(numbers[0]), "device", "cuMemAlloc_v2") if what == TAKEN else (0, "", "cuMemFree_v2")
        what = TAKEN if what == TAKEN else GIVEN
        events.append(Event(moment, 1, 1, what, call, 0, block=int(block), bytes=size, kind=kind))
    target = folder / f"generated-training{ENDING}"
    write_text(target, list(recording_text(events, 1)))
    return target


def record(python: str, folder: Path, tell: Callable[[str], None]) -> list[Path]:
    """Runs our programs under `warpheap run --mode trace`; returns their traces.

    A program whose library is missing is told of and left out. Raises `UsageError` if one fails, or all are left out.
    """
    traces = []
    for name, settings in PROGRAMS.items():
        trace = folder / f"{name}.trace"
        words = [sys.executable, "-m", "warpheap", "run", "--mode", "trace", "--out", str(trace), "--"]
        inherited = os.environ.get("PYTHONPATH")
        own = os.pathsep.join(filter(None, (str(_FOLDER.parents[1]), inherited)))
        tell(f"recording {name}")
        # The program gets the path that the user set: it needs nothing of the package.
        restored = ["-u", "PYTHONPATH"] if inherited is None else [f"PYTHONPATH={inherited}"]
        program = ["env", *restored, python, str(_FOLDER / "programs" / f"{name}.py")]
        outcome = process.run(
            [*words, *program], _SECONDS_TO_RECORD, environment={**os.environ, "PYTHONPATH": own, **settings}
        )
        if outcome.exit_code == NOT_HERE:
            tell(f"{name} is not recorded: {outcome.last_words}; name a Python that has it with --python")
            trace.unlink(missing_ok=True)
            continue
        if outcome.timed_out or outcome.exit_code != 0:
            raise UsageError(f"--record: {name} {outcome.describe_end()}")
        traces.append(trace)
    if not traces:
        raise UsageError("--record: nothing was recorded; install PyTorch or CuPy for the Python that --python names")
    return traces
