# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""tools/steps.sh: the tables at the end of `./run test`."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bash(script: str) -> subprocess.CompletedProcess:
    """What a script says that has sourced the steps as `./run` does."""
    sourced = f'set -euo pipefail; root="{ROOT}"; source "$root/tools/steps.sh"\n'
    return subprocess.run(["bash", "-c", sourced + script], capture_output=True, text=True)


def test_the_summary_of_many_programs_ends_well():
    # More rows than a pipe holds: whoever reads only the first of them ends its writer with SIGPIPE.
    shown = bash("""
        for ((i = 0; i < 3000; ++i)); do test_rows+=("$(printf '%8.1f s   host   program_%d' "$i" "$i")"); done
        step_rows=("host 1 s 1 s ok log")
        summary
        echo "the script goes on"
    """)
    assert shown.returncode == 0, shown.stderr
    slowest = re.findall(r"program_(\d+)", shown.stdout)
    assert slowest == [str(2999 - i) for i in range(10)]
    assert "tests: 0 passed, 0 failed" in shown.stdout
    assert shown.stdout.endswith("the script goes on\n")


def test_the_summary_tells_of_a_failed_step():
    shown = bash('step_rows=("host 1 s 1 s FAILED log"); tests_failed=1; summary')
    assert shown.returncode == 1
    assert "tests: 0 passed, 1 failed" in shown.stdout
