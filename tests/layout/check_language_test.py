# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_language: a clean tree passes, each pattern is found where it is, and the baseline can only fall."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BASELINE = "tools/language_baseline.txt"


@pytest.fixture
def tree(tmp_path):
    """Writes files of these names and contents, and returns their root."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def run_check(root: Path, *options: str) -> tuple[int, list[str]]:
    command = [sys.executable, REPOSITORY / "tools/check_language", *options, root]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.stderr == ""
    return check.returncode, check.stdout.splitlines()


def test_this_repository_passes():
    status, findings = run_check(REPOSITORY)
    assert status == 0, findings


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The thread that holds the lock works after the others. Who holds it?\n"),
        ("a.md", "`behind` and [a page](behind.md) are names.\n\n```\nlook behind; there is none\n```\n"),
        ("a.md", "The same suite runs for each design.\n"),
        ("a.hpp", 'const char* text = "Who is behind? There is none. // he";\nint behind, his;\n'),
        ("a.py", 'text = "Who is behind? # he"\nbehind = None  # the block after it\n'),
        ("a.sh", "echo 'there is none # behind'\nbehind=1\n"),
        ("build/a.md", "Who looks finds nothing behind him.\n"),
        ("a.md", f"| {'a' * 120} |\n"),
        ("a.cpp", f"// {'ü' * 117}\nint a;\n"),
    ],
)
def test_what_is_no_fault_passes(tree, name, text):
    status, findings = run_check(tree({name: text}))
    assert (status, len(findings)) == (0, 1), findings


@pytest.mark.parametrize(
    ("name", "text", "line", "word"),
    [
        ("a.md", "All is well. Who finds a block\ntakes it.\n", 1, "Who"),
        ("a.md", "# A page\n\n- Whoever waits pauses.\n", 3, "Whoever"),
        ("a.md", "All is well.\nThe byte behind a block changes.\n", 2, "behind"),
        ("a.md", "If there is\nnone it waits.\n", 1, "there is none"),
        ("a.md", "A thread looks where his word is.\n", 1, "his"),
        ("a.hpp", "int a;\n/// Whose block that is.\n", 2, "Whose"),
        ("a.hpp", "/// A block.\n/// Of its class.\n/// Who frees it is any thread.\nint a;\n", 3, "Who"),
        ("a.hpp", "int a;  // what lies behind it\n", 1, "behind"),
        ("a.hpp", "/* One\n * and then he waits. */\n", 2, "he"),
        ("a.cpp", "int a;\n\n// The same, for a group.\n", 3, "The same"),
        ("a.py", 'def f():\n    """The same for bytes."""\n', 2, "The same"),
        ("a.py", "a = 1\nb = 2  # a queue is behind it\n", 2, "behind"),
        ("a.cmake", "set(a b)\n# Who sets it is the caller.\n", 2, "Who"),
        ("run", "#!/usr/bin/env bash\n# Whoever calls this.\n", 2, "Whoever"),
    ],
)
def test_each_pattern_is_found_on_its_line(tree, name, text, line, word):
    status, findings = run_check(tree({name: text}))
    assert status == 1
    assert len(findings) == 1, findings
    assert findings[0].startswith(f"{name}:{line}: '{word}' ")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.cpp", "// "),
        ("a.cpp", "int "),
        ("a.cpp.in", "// "),
        ("a.h", "/* */ int "),
        ("a.py", "# "),
        ("a.py", "a = "),
        ("a.sh", "# "),
        ("a.cmake", "set("),
        ("CMakeLists.txt", "# "),
    ],
)
def test_a_source_line_above_120_columns_is_found(tree, name, start):
    status, findings = run_check(tree({name: f"\n{start}{'a' * (121 - len(start))}\n"}))
    assert status == 1
    assert len(findings) == 1, findings
    assert findings[0].startswith(f"{name}:2: this line has more than 120 columns")


def test_a_count_of_the_baseline_passes_and_one_more_fails(tree):
    root = tree({"a.md": "One is behind two.\n", BASELINE: "1 behind a.md\n"})
    assert run_check(root)[0] == 0
    tree({"a.md": "One is behind two.\n\nTwo is behind three.\n"})
    status, findings = run_check(root)
    assert status == 1
    assert [finding.split(" ")[0] for finding in findings] == ["a.md:1:", "a.md:3:"]
    assert "1 allowed" in findings[0]


def test_a_baseline_above_the_count_fails_until_it_is_lowered(tree):
    root = tree({"a.md": "One is behind two.\n", BASELINE: "2 behind a.md\n1 none a.md\n1 same gone.hpp\n"})
    status, findings = run_check(root)
    assert status == 1
    assert [finding.split(" ")[0] for finding in findings] == [f"{BASELINE}:{line}:" for line in (1, 2, 3)]
    assert run_check(root, "--lower")[0] == 0
    lines = [line for line in (root / BASELINE).read_text().splitlines() if not line.startswith("#")]
    assert lines == ["1 behind a.md"]
    assert run_check(root)[0] == 0


def test_lowering_never_raises_a_count(tree):
    root = tree({"a.md": "One is behind two. Two is behind three.\n", BASELINE: "1 behind a.md\n"})
    assert run_check(root, "--lower")[0] == 1
    assert "\n1 behind a.md\n" in (root / BASELINE).read_text()
