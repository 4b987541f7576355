# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the examples as a test: `python launch.py PROGRAM [ARGUMENT...]`.

The status is the program's own, and 77 if a package of others is not installed here or cannot be imported, as Numba
beside a NumPy that is too new. If the program itself or a package of ours cannot be imported, that is a failure.
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
    except Exception as error:
        if not refused_by_others(error, program):
            raise
        print(f"cannot be imported here: {error}", file=sys.stderr)
        return SKIPPED
    return 0


def refused_by_others(error: Exception, program: Path) -> bool:
    """True if a package that is not ours is missing, or raised the error while it was imported."""
    if isinstance(error, ModuleNotFoundError):
        return error.name is not None and error.name.partition(".")[0] not in OURS
    if type(error).__name__ == "PackagesMissing":  # of warpheap, which says so in its own words
        return True
    frames = list(traceback.extract_tb(error.__traceback__))
    own = [number for number, frame in enumerate(frames) if is_ours(Path(frame.filename), program)]
    after = own[-1] + 1 if own else len(frames)
    # What an import runs of a module has this name.
    return after < len(frames) and frames[after].name == "<module>"


def is_ours(file: Path, program: Path) -> bool:
    """True for the program and for files of packages of ours."""
    return file.resolve() == program or any(name in file.with_suffix("").parts for name in OURS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
