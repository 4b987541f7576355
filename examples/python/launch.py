# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the examples as a test: `python launch.py PROGRAM [ARGUMENT...]`.

The status is the program's own, and 77 if it needs a package that is not installed here. A package of ours that is
missing is a failure.
"""

import runpy
import sys
from pathlib import Path

SKIPPED = 77
OURS = ("warpheap", "checks")


def main(words: list[str]) -> int:
    """Run the program in this process, with its folder as the first place where modules are looked for."""
    if not words:
        print("name the program to run: python launch.py PROGRAM [ARGUMENT...]", file=sys.stderr)
        return 2
    sys.argv = words
    sys.path[0] = str(Path(words[0]).resolve().parent)
    try:
        runpy.run_path(words[0], run_name="__main__")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in OURS:
            raise
        print(f"the package {error.name.partition('.')[0]} is not installed here", file=sys.stderr)
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
