# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the driver and for test programs, so that no test needs a GPU or a build."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from warpheap import cli, project

HERE = Path(__file__).parent

# Within this a child has started and said its first words, even where a busy machine stops for a while: in CI a second
# was not enough. A limit is this long where it matters what the child did before it struck.
SECONDS_TO_START = 10


@pytest.fixture(autouse=True)
def nothing_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether somebody has built footprints in the checkout makes no difference to a fake driver."""
    monkeypatch.setattr(project, "footprint_folders", list)


@pytest.fixture
def fake_driver(tmp_path: Path) -> Callable[..., Path]:
    """Makes a driver: `fake_driver(backend="cuda", sources="b" * 64)`. It logs what it is asked to measure."""

    def make(**settings: str) -> Path:
        return program(tmp_path / "driver", HERE / "fake_driver.py", settings)

    return make


@pytest.fixture
def fake_tests(tmp_path: Path) -> Callable[..., Path]:
    """Makes a GoogleTest program of that name: `fake_tests("floor_lane_cuda", TESTS="A.ok A.hangs")`."""

    def make(name: str, **settings: str) -> Path:
        return program(tmp_path / "bin" / name, HERE / "fake_tests.py", settings)

    return make


def load_as_on_a_gpu(module: Any, library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`module` loads a library of the host that takes and returns arrays of a device, which is the host, too."""
    library.uses_device_arrays = True
    monkeypatch.setattr(module, "load_library", lambda backend=None: library)


def program(path: Path, script: Path, settings: dict[str, str]) -> Path:
    """A shell script that runs `script` with the settings in its environment; as a driver does, it speaks UTF-8."""
    path.parent.mkdir(parents=True, exist_ok=True)
    exports = "".join(f"export FAKE_{name.upper()}='{value}'\n" for name, value in settings.items())
    speaks = "export PYTHONUTF8=1 PYTHONIOENCODING=utf-8\n"
    path.write_text(f'#!/bin/sh\n{exports}{speaks}export FAKE_SELF="$0"\nexec {sys.executable} {script} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def warpheap(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., "Finished"]:
    """Runs the command line in this process: `warpheap("survey", "--help")`."""

    def run(*words: Any) -> Finished:
        monkeypatch.setattr(sys, "argv", ["warpheap", *map(str, words)])
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    return run


class Finished:
    """How a command ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Wait until `condition` holds; return False if it does not within `seconds`.

    A test waits so for what comes sooner or later, and bounds only how long a broken one takes.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def hear_prints(monkeypatch: pytest.MonkeyPatch, hear: Callable[[str], None]) -> None:
    """Give `hear` each text that a console has printed, in the thread that prints it."""
    real = Console.print

    def print_and_tell(console: Console, *objects: Any, **options: Any) -> None:
        real(console, *objects, **options)
        hear(" ".join(map(str, objects)))

    monkeypatch.setattr(Console, "print", print_and_tell)


def environment() -> dict[str, str]:
    """The environment for a child that imports the package from here."""
    return {**os.environ, "PYTHONPATH": str(HERE.parent)}


def run_without(module: str, folder: Path, *words: object) -> Finished:
    """Run the command line in a process that cannot import `module`; `folder` is for what stands in its place."""
    folder.mkdir(exist_ok=True)
    lines = f'raise ModuleNotFoundError("No module named {module!r}", name="{module}")\n'
    (folder / f"{module}.py").write_text(lines)
    surroundings = environment()
    surroundings["PYTHONPATH"] = os.pathsep.join([str(folder), surroundings["PYTHONPATH"]])
    command = [sys.executable, "-m", "warpheap", *map(str, words)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    return Finished(done.returncode, done.stdout, done.stderr)
