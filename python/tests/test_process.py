# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Children with a time limit."""

import sys
import time
from pathlib import Path

import pytest
from conftest import SECONDS_TO_START, wait_until

from warpheap import process


def test_the_end_of_a_child_is_told() -> None:
    outcome = process.run(
        [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], 60
    )
    assert (outcome.stdout, outcome.exit_code, outcome.timed_out) == ("out\n", 3, False)
    assert outcome.describe_end() == "ended with exit code 3: err"


def test_a_signal_is_named() -> None:
    outcome = process.run([sys.executable, "-c", "import os; os.abort()"], 60)
    assert "SIGABRT" in outcome.describe_end()


def test_a_hang_ends_at_the_limit_with_what_was_said() -> None:
    start = time.monotonic()
    outcome = process.run([sys.executable, "-uc", "import time; print('so far'); time.sleep(600)"], SECONDS_TO_START)
    assert time.monotonic() - start < 30
    assert outcome.timed_out
    assert outcome.stdout == "so far\n"
    assert "killed" in outcome.describe_end()


def test_descendants_die_with_the_child(tmp_path: Path) -> None:
    number = tmp_path / "number"
    grandchild = f"sh -c 'echo $$ > {number}; exec sleep 600'"
    assert process.run(["sh", "-c", f"{grandchild} & wait"], SECONDS_TO_START).timed_out
    assert wait_until(lambda: has_ended(int(number.read_text())))
    # It also must not survive a parent that ends well, here as soon as the grandchild runs.
    number.unlink()
    parent = f"{grandchild} >/dev/null 2>&1 & until [ -s {number} ]; do sleep 0.05; done"
    assert process.run(["sh", "-c", parent], 60).exit_code == 0
    assert wait_until(lambda: has_ended(int(number.read_text())))


def has_ended(number: int) -> bool:
    """True if the process is gone, or only waits for its parent to learn of its end."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def test_lines_are_heard_as_they_come(tmp_path: Path) -> None:
    heard: list[str] = []
    file = tmp_path / "heard"

    def hear(line: str) -> None:
        heard.append(line)
        file.touch()

    # The child says its second line only when the first one has been heard.
    script = (
        "import pathlib, sys, time\n"
        "print('one', flush=True)\n"
        "while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)\n"
        "print('two'); sys.exit('the end')"
    )
    outcome = process.follow([sys.executable, "-c", script, file], 60, hear)
    assert heard == ["one", "two"]
    assert outcome.describe_end() == "ended with exit code 1: the end"


def test_who_is_followed_ends_at_the_limit() -> None:
    heard: list[str] = []
    script = "import time; print('so far'); time.sleep(600)"
    outcome = process.follow([sys.executable, "-uc", script], SECONDS_TO_START, heard.append)
    assert heard == ["so far"]
    assert outcome.timed_out
    assert "killed" in outcome.describe_end()


def test_a_child_that_writes_without_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_MOST_OUTPUT", 1 << 20)
    start = time.monotonic()
    outcome = process.run(["yes", "ä"], 60)
    assert time.monotonic() - start < 30
    assert not outcome.timed_out
    assert outcome.describe_end() == "ended by SIGKILL: killed, since it wrote more than 1 MiB"
    assert 1 << 19 < len(outcome.stdout) < 1 << 20
    talk = process.Conversation([sys.executable, "-c", "while True: print('y' * 4096, end='')"])
    assert talk.ask("say", 60) is None
    talk.end()
    assert time.monotonic() - start < 30


def test_what_a_child_leaves_running_keeps_it_until_the_limit() -> None:
    outcome = process.run(["sh", "-c", "echo out; echo err >&2; sleep 60 & exit 0"], SECONDS_TO_START)
    assert (outcome.stdout, outcome.stderr, outcome.timed_out) == ("out\n", "err\n", True)
