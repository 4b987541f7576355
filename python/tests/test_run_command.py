# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run`: the words of the command, and the environment that the program gets."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished
from interposed import Laboratory, needs_library

from warpheap.errors import UsageError
from warpheap.interposer import run as interposer
from warpheap.interposer.run import Job, environment, find_program

Command = Callable[..., Finished]
LIBRARY = Path("/somewhere/libwarpheap_run.so")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--mode", "nope", "--", "true"], "--mode: 'nope' is unknown here; use one of: count, check, trace, pool"),
        (["--mode", "trace", "--", "true"], "--mode trace needs a file for the trace: --out FILE"),
        (["--", "no-such-program-at-all"], "'no-such-program-at-all' is not in PATH; write: warpheap run"),
        (["--", "/no/such/program"], "'/no/such/program' is no program that can be run"),
        (["--", "/etc/passwd"], "'/etc/passwd' is no program that can be run"),
    ],
)
def test_words_that_are_wrong_are_refused(warpheap: Command, words: list[str], error: str) -> None:
    done = warpheap("run", *words)
    assert done.code == 2
    assert error in done.err


def test_the_words_alone_can_be_checked(warpheap: Command) -> None:
    assert warpheap("--check", "run", "--", "no-such-program-at-all").code == 0
    assert warpheap("--check", "run", "--mode", "nope", "--", "true").code == 2


def test_a_library_that_is_not_built_is_named(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(interposer.LIBRARY_VARIABLE, raising=False)
    monkeypatch.setattr(interposer, "library_folders", lambda presets: [tmp_path])
    done = warpheap("run", "--", "true")
    assert done.code == 2
    assert "libwarpheap_run.so is not built" in done.err and "--target warpheap_run" in done.err
    monkeypatch.setenv(interposer.LIBRARY_VARIABLE, str(tmp_path / "none.so"))
    assert "none.so, which is no file" in warpheap("run", "--", "true").err


def test_a_file_that_cannot_be_written_is_named(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = tmp_path / "l.so"
    library.touch()
    monkeypatch.setenv(interposer.LIBRARY_VARIABLE, str(library))
    done = warpheap("run", "--out", tmp_path / "none" / "out", "--", "true")
    assert done.code == 2
    assert "--out: " in done.err and "cannot be written: No such file or directory" in done.err


def test_a_failed_command_leaves_the_file_alone(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_text("kept")
    monkeypatch.setenv(interposer.LIBRARY_VARIABLE, str(tmp_path / "none.so"))
    assert warpheap("run", "--out", out, "--", "true").code == 2
    assert out.read_text() == "kept"


@pytest.mark.parametrize("old", ["kept", None])
@pytest.mark.parametrize("mode", ["count", "trace"])
def test_a_program_that_cannot_be_run_leaves_the_file_alone(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str, old: str | None
) -> None:
    library, out, program = tmp_path / "l.so", tmp_path / "out", tmp_path / "program"
    library.touch()
    monkeypatch.setenv(interposer.LIBRARY_VARIABLE, str(library))
    if old is not None:
        out.write_text(old)
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    done = warpheap("run", "--mode", mode, "--out", out, "--", program)
    assert done.code == 2 and "cannot be run: No such file or directory" in done.err
    assert (out.read_text() if out.exists() else None) == old


def test_a_program_that_cannot_be_run_leaves_a_link_alone(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library, out, program = tmp_path / "l.so", tmp_path / "out", tmp_path / "program"
    library.touch()
    monkeypatch.setenv(interposer.LIBRARY_VARIABLE, str(library))
    out.symlink_to("elsewhere")
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    assert warpheap("run", "--out", out, "--", program).code == 2
    assert out.is_symlink() and not out.exists()


def test_the_library_comes_after_what_is_loaded_already() -> None:
    made = environment(Job(["x"]), LIBRARY, {"LD_PRELOAD": "/a.so /b.so", "LD_AUDIT": "/c.so", "HOME": "/h"})
    assert made["LD_PRELOAD"] == f"/a.so:/b.so:{LIBRARY}"
    assert made["LD_AUDIT"] == "/c.so"
    assert made["HOME"] == "/h"
    assert made["WARPHEAP_RUN_MODE"] == "count" and "WARPHEAP_RUN_OUT" not in made


def test_one_run_within_another_loads_the_library_once() -> None:
    outer = environment(Job(["x"], "check", Path("/out")), LIBRARY, {})
    inner = environment(Job(["x"], "trace", Path("/other"), audit=True), LIBRARY, outer)
    assert "LD_PRELOAD" not in inner
    assert inner["LD_AUDIT"] == str(LIBRARY)
    assert (inner["WARPHEAP_RUN_MODE"], inner["WARPHEAP_RUN_OUT"]) == ("trace", "/other")
    assert environment(Job(["x"]), LIBRARY, outer)["LD_PRELOAD"] == str(LIBRARY)


@pytest.mark.parametrize("letter", [" ", ":"])
def test_a_path_that_a_variable_cannot_hold_is_refused(letter: str) -> None:
    path = Path(f"/some{letter}where/libwarpheap_run.so")
    with pytest.raises(UsageError, match="has a letter that LD_PRELOAD cannot hold"):
        environment(Job(["x"]), path, {})
    if letter == " ":
        assert environment(Job(["x"], audit=True), path, {})["LD_AUDIT"] == str(path)


def test_a_path_of_a_file_is_the_programs_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    made = environment(Job(["x"], out=Path("report")), LIBRARY, {})
    assert made["WARPHEAP_RUN_OUT"] == str(tmp_path / "report")


def test_a_program_is_found_as_a_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("mine") == str(program)
    monkeypatch.chdir(tmp_path)
    assert find_program("./mine") == "./mine"


@needs_library
def test_options_of_the_program_are_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    laboratory = Laboratory(tmp_path_factory.mktemp("command"))
    for command in (["echo", "--mode", "nope", "--help"], ["echo", "--", "--out"]):
        end = laboratory.run(*command)
        assert (end.code, end.printed) == (0, " ".join(command[1:]) + "\n")


@needs_library
def test_a_mode_that_the_library_does_not_know_changes_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    laboratory = Laboratory(tmp_path_factory.mktemp("mode"))
    variables = laboratory.variables(LD_PRELOAD=str(interposer.find_library()), WARPHEAP_RUN_MODE="nope")
    end = laboratory.finish([laboratory.program, "opened", "take:10", "give:0"], variables)
    assert (end.code, end.printed) == (0, "take 0\ngive 0\n")
    assert end.said == "warpheap run: WARPHEAP_RUN_MODE is 'nope'; use count, check, trace or pool. Nothing is noted.\n"


@needs_library
def test_a_program_gets_the_signals_that_a_shell_gives_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    laboratory = Laboratory(tmp_path_factory.mktemp("signals"))
    end = laboratory.run("grep", "SigIgn", "/proc/self/status")
    assert end.code == 0
    ignored = int(end.printed.split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))
