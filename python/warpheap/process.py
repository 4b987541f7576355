# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Child processes with a time limit: killed with all their descendants, whatever they do."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpheap import guard

# A process that is inside the GPU driver dies only when the driver lets it.
_SECONDS_TO_DIE = 30.0
# A child that writes more than this, on stdout and stderr together, is killed: it would fill the memory.
_MOST_OUTPUT = 64 << 20
_READ = 1 << 16

# The children that have not ended: several threads may wait for one each.
_running: set[subprocess.Popen[Any]] = set()
_running_lock = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """How a child process ended."""

    stdout: str
    stderr: str
    exit_code: int | None  # negative: the signal that ended it; None: it did not die when killed
    seconds: float
    timed_out: bool

    @property
    def last_words(self) -> str:
        """The end of stderr on one line."""
        words = " | ".join(line.strip() for line in self.stderr.splitlines() if line.strip())[-500:]
        # They end up in records, pages and terminals, where control characters do harm.
        return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)

    def describe_end(self) -> str:
        """One sentence on an end that was not orderly."""
        if self.timed_out:
            how = f"still running after {self.seconds:.0f} s, killed"
            if self.exit_code is None:
                how += f", and not dead {_SECONDS_TO_DIE:.0f} s later"
        elif self.exit_code is not None and self.exit_code < 0:
            how = f"ended by {_signal_name(-self.exit_code)}"
        else:
            how = f"ended with exit code {self.exit_code}"
        return f"{how}: {self.last_words}" if self.last_words else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run(
    command: Sequence[str | Path],
    time_limit: float,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Outcome:
    """Run `command` in a process group of its own, which is killed at the limit, and when the caller is interrupted.

    It is killed, too, when it has written 64 MiB; the outcome's stderr ends with that.
    """
    start = time.monotonic()
    child = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environment is None else {**os.environ, **environment},
        cwd=folder,
        start_new_session=True,
    )
    output = _Output(child)
    _note(child)
    try:
        ended = output.read(start + time_limit)
        seconds = time.monotonic() - start
        if not ended:
            _kill_group(child)
            output.read(time.monotonic() + _SECONDS_TO_DIE)
        timed_out = not ended and not output.is_full
        return Outcome(*output.texts(), child.poll(), seconds, timed_out)
    finally:
        # Also what the child left running: nothing of a case may outlive it and disturb the next.
        _kill_group(child)
        output.close()
        _forget(child)


class _Output:
    """What a child writes to its stdout and stderr, as far as we keep it."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._parts: dict[int, bytearray] = {}
        self._waiting = selectors.DefaultSelector()
        for pipe in (child.stdout, child.stderr):
            assert pipe is not None
            self._waiting.register(pipe, selectors.EVENT_READ)
            self._parts[pipe.fileno()] = bytearray()

    @property
    def is_full(self) -> bool:
        """True if the child wrote more than anybody reads."""
        return sum(map(len, self._parts.values())) > _MOST_OUTPUT

    def read(self, end: float) -> bool:
        """Read until the child has ended; return False if it had not at `end`, or wrote too much.

        A further call reads what a child that was killed has left, and drops what is too much.
        """
        was_full = self.is_full
        while self._waiting.get_map():
            ready = self._waiting.select(max(end - time.monotonic(), 0))
            if not ready:
                return False
            for key, _ in ready:
                read = os.read(key.fd, _READ)
                if not read:
                    self._waiting.unregister(key.fileobj)
                elif not was_full:
                    self._parts[key.fd] += read
            if self.is_full and not was_full:
                return False
        try:
            self._child.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def texts(self) -> tuple[str, str]:
        """What was written to stdout and stderr; whatever the locale, our programs write UTF-8."""
        stdout, stderr = (part.decode("utf-8", errors="replace") for part in self._parts.values())
        if self.is_full:
            stderr += f"\nkilled, since it wrote more than {_MOST_OUTPUT >> 20} MiB"
        return _with_plain_ends(stdout), _with_plain_ends(stderr)

    def close(self) -> None:
        """Let go of the pipes."""
        self._waiting.close()
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Conversation:
    """A child process that answers each line of its stdin by a line of its stdout, in a process group of its own.

    What it writes to stderr is lost.
    """

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        self._child = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )  # fmt: skip
        self._begun = b""
        _note(self._child)

    def ask(self, line: str, time_limit: float) -> str | None:
        """Write a line and return the answer.

        None if the child ended instead, did not answer in `time_limit` s, or writes a line without an end.
        After None the conversation is over: call `end`.
        """
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(f"{line}\n".encode())
            stdin.flush()
        except BrokenPipeError:
            return None
        limit = time.monotonic() + time_limit
        with selectors.DefaultSelector() as waiting:
            waiting.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._begun:
                if not waiting.select(max(limit - time.monotonic(), 0)):
                    return None
                read = os.read(stdout.fileno(), _READ)
                if not read or len(self._begun) > _MOST_OUTPUT:
                    return None
                self._begun += read
        answer, self._begun = self._begun.split(b"\n", 1)
        return answer.decode(errors="replace")

    def end(self) -> None:
        """Kill the child and all that it left running. Further calls do nothing."""
        _kill_group(self._child)
        with contextlib.suppress(subprocess.TimeoutExpired):  # inside the GPU driver it dies when the driver lets it
            self._child.wait(_SECONDS_TO_DIE)
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        _forget(self._child)


def kill_running() -> None:
    """Kill the children that other threads wait for: an interruption reaches the main thread alone."""
    with _running_lock:
        for child in _running:
            _kill_group(child)


def follow(command: Sequence[str | Path], time_limit: float, hear: Callable[[str], None]) -> Outcome:
    """As `run`, and gives each line of stdout to `hear` when it is written; the outcome has none of them."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as words:
        child = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=words, start_new_session=True,
        )  # fmt: skip
        _note(child)
        try:
            timed_out = not _lines(child, start + time_limit, hear)
            seconds = time.monotonic() - start
        finally:
            _kill_group(child)
            _forget(child)
        try:
            child.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            timed_out = True
        words.seek(0)
        return Outcome("", words.read().decode(errors="replace"), child.poll(), seconds, timed_out)


def _lines(child: subprocess.Popen[bytes], end: float, hear: Callable[[str], None]) -> bool:
    """Hears the child until it ends, or until `end`: then returns False."""
    assert child.stdout is not None
    begun = b""
    with child.stdout as pipe, selectors.DefaultSelector() as waiting:
        waiting.register(pipe, selectors.EVENT_READ)
        while waiting.select(max(end - time.monotonic(), 0)):
            read = os.read(pipe.fileno(), _READ)
            if not read:
                # It may close its stdout and go on, so the end is still to come.
                try:
                    child.wait(max(end - time.monotonic(), 0))
                except subprocess.TimeoutExpired:
                    return False
                return True
            *whole, begun = (begun + read).split(b"\n")
            for line in whole:
                hear(line.decode(errors="replace"))
    return False


def _note(child: subprocess.Popen[Any]) -> None:
    with _running_lock:
        _running.add(child)
    guard.watch(child.pid)


def _forget(child: subprocess.Popen[Any]) -> None:
    guard.forget(child.pid)
    with _running_lock:
        _running.discard(child)


def _kill_group(child: subprocess.Popen[Any]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in the group
