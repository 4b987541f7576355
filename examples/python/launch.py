# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the examples as a test: `python launch.py PROGRAM [ARGUMENT...]`.

The status is the program's own, and 77 if a package of others is not installed here or refuses to be imported, as
Numba does beside a NumPy that is too new. If the program itself or a package of ours cannot be imported, that is a
failure.
"""

import runpy
import sys
import traceback
from pathlib import Path

SKIPPED = 77
OURS = ("warpheap", "checks")


def main(words: list[str]) -> int:
    """Run the program in this process, with its folder as the first place where modules are looked for."""
    if not words:
        print("name the program to run: python launch.py PROGRAM [ARGUMENT...]", file=sys.stderr)
        return 2
    program = Path(words[0]).resolve()
    sys.argv = words
    sys.path[0] = str(program.parent)
    try:
        runpy.run_path(words[0], run_name="__main__")
    except ImportError as error:
        if not refused_by_others(error, program):
            raise
        print(f"cannot be imported here: {error}", file=sys.stderr)
        return SKIPPED
    return 0


def refused_by_others(error: ImportError, program: Path) -> bool:
    """True if a package that is not ours is missing, or raised the error."""
    if isinstance(error, ModuleNotFoundError):
        return error.name is not None and error.name.partition(".")[0] not in OURS
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return raised_in.resolve() != program and not any(name in raised_in.parts for name in OURS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
