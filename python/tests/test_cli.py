# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a newcomer meets it."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished, environment

import warpheap as package
from warpheap import cli, project
from warpheap.errors import UsageError
from warpheap.folders import held
from warpheap.units import parse_bytes, parse_count, show_bytes, show_microseconds

Command = Callable[..., Finished]


@pytest.mark.parametrize(
    "words",
    [(), ("survey",), ("report",), ("plot",), ("paper",), ("gpu",), ("compare",), ("merge",), ("export",)],
    ids=str,
)
def test_help_explains(warpheap: Command, words: tuple[str, ...]) -> None:
    done = warpheap(*words, "--help")
    assert done.code == 0
    assert "Usage" in done.out


def test_the_module_runs_and_knows_its_version() -> None:
    command = [sys.executable, "-m", "warpheap", "--version"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"warpheap {package.__version__}"


def test_a_python_without_the_packages_is_told_what_to_install() -> None:
    # -S leaves out the folder of installed packages.
    command = [sys.executable, "-S", "-m", "warpheap", "--version"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"warpheap: {sys.executable} has no module 'typer': install")
    assert done.stderr.count("\n") == 1


def test_an_interruption_while_the_package_is_loaded_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    path = {"PYTHONPATH": f"{tmp_path}:{environment()['PYTHONPATH']}"}
    command = [sys.executable, "-m", "warpheap", "--version"]
    done = subprocess.run(command, env=environment() | path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_messages_name_the_command_as_it_was_typed(warpheap: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPHEAP_STARTED_AS", "./run")
    assert "'./run survey -h'" in warpheap("survey", "--thread", "3").err


def test_the_command_that_goes_on_is_the_wheels_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["warpheap", "survey", "--out", "a b"])
    monkeypatch.setattr(project, "find_installed", lambda: None)
    assert cli._own_command() == "./run survey --out 'a b'"
    monkeypatch.setattr(project, "find_installed", lambda: Path("tree"))
    assert cli._own_command() == "warpheap survey --out 'a b'"


def test_plotting_is_not_loaded_before_it_is_needed() -> None:
    script = "import sys, warpheap.cli; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True)


def test_an_unknown_option_exits_with_2(warpheap: Command) -> None:
    assert warpheap("survey", "--thread", "3").code == 2


def test_numbers_as_people_write_them() -> None:
    assert [parse_count(text, "-") for text in ("1000", "10k", "1M")] == [1000, 10_000, 1_000_000]
    assert [parse_bytes(text, "-") for text in ("16", "4K", "4KiB", "8 GiB")] == [16, 4096, 4096, 8 << 30]
    for text in ("", "0", "-3", "1.5k", "4 parsecs", "9" * 5001, "9" * 20, "9000000T"):
        with pytest.raises(UsageError):
            parse_bytes(text, "--sizes")
    assert [show_bytes(value) for value in (16, 4096, 8 << 30, 3 << 40)] == ["16 B", "4 KiB", "8 GiB", "3 TiB"]
    assert [show_microseconds(value) for value in (7.254, 29.44, 1138.2)] == ["7.25", "29.4", "1,138"]


@pytest.mark.parametrize("verb", ["pool", "sync", "graph"])
def test_two_commands_do_not_write_into_one_folder(warpheap: Command, tmp_path: Path, verb: str) -> None:
    kept = tmp_path / f"{verb}.jsonl"
    kept.write_text("the beginning of hours of work\n")
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    done = warpheap(verb, "--out", tmp_path)
    os.close(other)
    assert done.code == 2
    assert f"another command writes into {tmp_path}" in done.err
    assert kept.read_text() == "the beginning of hours of work\n"


def test_a_command_that_holds_a_folder_may_call_another(tmp_path: Path) -> None:
    with held(tmp_path):
        with held(tmp_path):
            pass
        other = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)
    with held(tmp_path):
        pass
