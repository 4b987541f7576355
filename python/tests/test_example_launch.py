# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Examples in Python as tests: what their launcher makes of a package that is missing."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HERE

LAUNCH = HERE.parents[1] / "examples" / "python" / "launch.py"


def launch(folder: Path, text: str, *words: str) -> "subprocess.CompletedProcess[str]":
    (folder / "refuses.py").write_text("raise ImportError('needs an older one')\n")
    (folder / "breaks.py").write_text("def broken():\n  1 / 0\nif __name__ == 'breaks': {}['a name that went']\n")
    (folder / "broken_later.py").write_text("def call():\n  1 / 0\n")
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [sys.executable, LAUNCH, program, *words], capture_output=True, text=True, check=False, cwd=HERE
    )


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("print('done')", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import no_such_package.part", 77, "cannot be imported here: No module named 'no_such_package'"),
        ("import warpheap.no_such_part", 1, "No module named 'warpheap.no_such_part'"),
        ("import json.no_such_part", 77, "json"),
        ("raise ImportError('a version that does not fit')", 1, "a version that does not fit"),
        ("import refuses", 77, "cannot be imported here: needs an older one"),
        ("import breaks", 77, "cannot be imported here: 'a name that went'"),
        ("import broken_later; broken_later.call()", 1, "ZeroDivisionError"),
        (
            "from warpheap.errors import packages_missing as m; raise m('a', 'b', ['no-such'], ValueError('c'), 'd')",
            77,
            "cannot be imported here: a needs b, and found no no-such",
        ),
        ("1 / 0", 1, "ZeroDivisionError"),
    ],
)
def test_only_a_package_of_others_may_be_missing(tmp_path: Path, text: str, status: int, said: str) -> None:
    ended = launch(tmp_path, text)
    assert (ended.returncode, said in ended.stderr) == (status, True), ended.stderr


def test_the_program_finds_its_neighbours_and_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("WORD = 'beside'\n")
    text = "import sys, neighbour\nif __name__ == '__main__':\n  print(neighbour.WORD, sys.argv[1:])"
    assert launch(tmp_path, text, "--one", "2").stdout == "beside ['--one', '2']\n"


def test_without_a_program_the_launcher_says_what_to_give() -> None:
    ended = subprocess.run([sys.executable, LAUNCH], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "name the program" in ended.stderr
