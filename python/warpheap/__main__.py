# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m warpheap`, and the command `warpheap` that a wheel installs."""

import sys


def main() -> None:
    """Loads the command line and runs it. Loading takes a moment, and what can go wrong in it is one line, too."""
    try:
        from warpheap.cli import main as run
    except KeyboardInterrupt:
        from warpheap.errors import INTERRUPTED

        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.startswith("warpheap"):
            raise
        sys.stderr.write(
            f"warpheap: {sys.executable} has no module '{problem.name}': install what the package needs by "
            "'pip install -e ./python' in the checkout, or take the Python that './run survey --help' prepares: "
            "build/venv/bin/python\n"
        )
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
