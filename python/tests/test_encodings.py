# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Folders, locales and consoles that know no UTF-8: nothing is measured in vain, and no letter ends a command."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished, environment
from records import record

from warpheap import files, words

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]

CONSOLES = {
    "utf-8": {},
    "latin-1": {"PYTHONIOENCODING": "latin-1:strict"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"},
}


def run(console: str, *arguments: str | bytes | Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "warpheap", *arguments]
    return subprocess.run(command, env=environment() | CONSOLES[console], capture_output=True, check=False)


@pytest.mark.parametrize("console", CONSOLES)
def test_a_survey_into_a_folder_of_other_letters_ends_with_a_report(
    fake_driver: MakeDriver, tmp_path: Path, console: str
) -> None:
    driver = fake_driver(device="Fake \u00b5\u2070 GPU")
    folder = os.fsencode(tmp_path) + b"/caf\xe9 [/old]"
    point = ("--cases", "throughput,fragmentation", "--preset", "quick", "--allocators", "good,slow_free")
    done = run(console, "survey", "--driver", driver, "--out", folder, *point)
    assert done.returncode == 0, done.stderr
    assert b"Report:" in done.stdout
    out = Path(os.fsdecode(folder))
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Fake \u00b5\u2070 GPU" in page
    # The command that measures again can be given to a shell as it stands.
    assert "caf\\xe9" in page
    assert json.loads((out / "machine.json").read_text(encoding="utf-8"))["device"] == "Fake \u00b5\u2070 GPU"
    again = run(console, "report", out / "survey.jsonl", "--figures", out / "figures")
    assert again.returncode == 0, again.stderr
    missing = run(console, "report", out / "missing.jsonl")
    assert missing.returncode == 2
    assert missing.stderr.startswith(b"warpheap: ")
    assert missing.stderr.count(b"\n") == 1


def test_a_report_that_cannot_be_written_is_told_before_anything_is_measured(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver()
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--preset", "quick")
    assert done.code == 2
    assert "--out" in done.err
    assert not (tmp_path / "driver.log").exists(), "it measured"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def no_room(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", no_room)
    with pytest.raises(OSError, match="space"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_named_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "page.html"
    with pytest.raises(FileNotFoundError) as raised:
        files.write_text(path, "new")
    assert raised.value.filename == str(path)


def test_what_is_no_character_is_written_by_its_number(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a", "caf\udce9\n")
    assert (tmp_path / "a").read_bytes() == b"caf\\udce9\n"


@pytest.mark.parametrize("word", [b"plain", b"two words", b"it's", b"caf\xe9", b"a'b\\c\xff", "\u65e5".encode()])
def test_a_shell_reads_the_words_that_were_quoted(word: bytes) -> None:
    text = words.quoted(["printf", "%s", os.fsdecode(word)])
    text.encode("utf-8")
    done = subprocess.run(["bash", "-c", text], capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    assert done.stdout == word


def test_a_message_is_one_line(warpheap: Command, tmp_path: Path) -> None:
    source = tmp_path / "survey.jsonl"
    source.write_text(json.dumps(record()) + "\n")
    done = warpheap("plot", source, "--out", tmp_path / "x.png", "--case", "two\nlines \x1b[31m")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "\x1b[31m" not in done.err
