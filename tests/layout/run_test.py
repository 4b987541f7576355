# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""./run: what it says of itself, and what it says when something is missing."""

import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "run"
VERBS = ("survey", "test", "gpu", "pool", "sync", "bench", "format", "docs", "help")


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess:
    environment = None if path is None else {"PATH": str(path)}
    return subprocess.run([RUN, *arguments], capture_output=True, text=True, env=environment)


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with what a bare system has, and neither a compiler nor a package manager."""
    for tool in ("bash", "cat", "dirname", "env", "nproc", "tr"):
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    return tmp_path


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_explains_every_verb_in_one_screen(arguments):
    shown = run(*arguments)
    assert shown.returncode == 0
    for verb in VERBS:
        assert f"./run {verb}" in shown.stdout
    lines = shown.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120


def test_wrong_verb_names_the_right_ones():
    shown = run("surevy")
    assert shown.returncode == 2
    assert "'surevy'" in shown.stderr
    for verb in VERBS:
        assert verb in shown.stderr


def test_wrong_option_of_test_names_the_right_one():
    shown = run("test", "--quikc")
    assert shown.returncode == 2
    assert "--quick" in shown.stderr


@pytest.mark.parametrize("verb", ["survey", "test", "bench"])
def test_missing_packages_are_named(bare_path, verb):
    shown = run(verb, path=bare_path)
    assert shown.returncode == 2
    assert "g++ cmake ninja-build" in shown.stderr
    assert "install" in shown.stderr
