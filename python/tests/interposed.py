# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Programs under `warpheap run`, with a stand-in for the driver: what they print, and what reaches the driver."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, environment

from warpheap.errors import UsageError
from warpheap.interposer.run import find_library
from warpheap.stream_pools.library import VARIABLE as POOL_VARIABLE
from warpheap.stream_pools.library import find_library as find_pools

SOURCES = HERE / "run"
HEADERS = HERE.parents[1] / "include"
COMPILER = shutil.which("cc") or shutil.which("gcc")


def built() -> Path | None:
    """The library, if it is built."""
    try:
        return find_library()
    except UsageError:
        return None


# Pools of the host, which the tests' library of pools stands on.
POOLS = find_pools("host")

LIBRARY = built()
needs_library = pytest.mark.skipif(
    LIBRARY is None or COMPILER is None,
    reason="libwarpheap_run.so is not built, or there is no compiler; the target warpheap_run makes it",
)


needs_pools = pytest.mark.skipif(
    POOLS is None, reason="libwarpheap_pool_host.so is not built; the target warpheap_pool_host makes it"
)


def split(text: str) -> list[str]:
    """The words of a text: steps of the test program, or what it prints."""
    return text.split()


@dataclass(frozen=True)
class End:
    """How a program ended, and what the stand-in driver was asked for."""

    code: int
    printed: str
    said: str
    asked: list[str]

    def calls(self) -> dict[str, list[int]]:
        """The rows of the report of counts: by call its lookups, calls, refusals and bytes."""
        rows = re.findall(r"^  (cu\w+) +(\d+) +(\d+) +(\d+) +(\d+)$", self.said, re.MULTILINE)
        return {name: [int(number) for number in numbers] for name, *numbers in rows}

    def memory(self) -> dict[str, list[int]]:
        """The rows of the report of counts: by kind the live blocks, the bytes in them, and the most bytes."""
        rows = re.findall(r"^  (\w+) +(\d+) +(\d+) +(\d+)$", self.said, re.MULTILINE)
        return {name: [int(number) for number in numbers] for name, *numbers in rows}


class Laboratory:
    """A folder with the stand-in driver and the programs of tests, compiled once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.driver = self.shared("stand_in_driver.c", "driver/libcuda.so.1", "-Wl,-soname,libcuda.so.1")
        self.old_driver = self.shared(
            "stand_in_driver.c", "old/libcuda.so.1", "-Wl,-soname,libcuda.so.1", "-DWITHOUT_POOLS"
        )
        self.program = self.compile("program.c", "program", "-rdynamic")
        with_driver = ("-Wl,--no-as-needed", str(self.driver))
        self.linked = self.compile("program.c", "linked", "-DLINKED", *with_driver)
        self.pools = self.shared("stand_in_pool.c", "pools.so", f"-I{HEADERS}")
        # The driver is one of the libraries that a search of all of them goes through.
        self.with_driver = self.compile("program.c", "with_driver", *with_driver)

    def compile(self, source: str, name: str, *options: str) -> Path:
        """A program or library of a source; `options` come after it."""
        made = self.folder / name
        made.parent.mkdir(exist_ok=True)
        command = [COMPILER or "cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", made, SOURCES / source, *options]
        subprocess.run([*map(str, command), "-pthread", "-ldl"], check=True, timeout=100)
        return made

    def shared(self, source: str, name: str, *options: str) -> Path:
        """A shared library of a source."""
        # What a driver calls it finds in itself.
        return self.compile(source, name, "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-Bsymbolic", *options)

    def variables(self, driver: Path | None = None, **more: str) -> dict[str, str]:
        """The environment in which a program finds the stand-in driver."""
        log = self.folder / "asked.log"
        log.unlink(missing_ok=True)
        folder = (driver or self.driver).parent
        return {
            **environment(),
            "LD_LIBRARY_PATH": str(folder),
            "STAND_IN_LOG": str(log),
            **self.pool_variables(),
            **more,
        }

    def pool_variables(self) -> dict[str, str]:
        """What names the library of pools."""
        return {POOL_VARIABLE: str(self.pools), "STAND_IN_POOL": str(POOLS)}

    def finish(self, command: list[Any], variables: dict[str, str]) -> End:
        """Runs a command to its end."""
        done = subprocess.run(
            [str(word) for word in command], env=variables, capture_output=True, text=True, timeout=60, check=False
        )
        log = Path(variables["STAND_IN_LOG"])
        return End(done.returncode, done.stdout, done.stderr, log.read_text().splitlines() if log.is_file() else [])

    def alone(self, *command: Any, **more: Any) -> End:
        """A program without the library."""
        return self.finish([*command], self.variables(**more))

    def run(self, *command: Any, options: tuple[Any, ...] = (), **more: Any) -> End:
        """A program under `warpheap run`."""
        own = [sys.executable, "-m", "warpheap", "run", *options, "--"]
        return self.finish([*own, *command], self.variables(**more))


def preloaded(*libraries: Path) -> dict[str, str]:
    """What loads these libraries into a program, in this order."""
    return {"LD_PRELOAD": os.pathsep.join(map(str, libraries))}
