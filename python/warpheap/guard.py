# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How a command ends when somebody else ends it: its children end with it.

A child has a process group of its own, so a signal for us does not reach it. A child that stays would compute on the
GPU beside the next command, which measures there.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import FrameType

_ENDS = (signal.SIGTERM, signal.SIGHUP)

# Reads numbers of process groups, and negative ones of groups that it may forget. Its stdin ends when we end, even by
# SIGKILL; then it kills the groups that are left.
_SCRIPT = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    group = int(line)
    groups.add(group) if group > 0 else groups.discard(-group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""

_guard: subprocess.Popen[bytes] | None = None
_guard_lock = threading.Lock()


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """Within this context SIGTERM and SIGHUP interrupt us as Ctrl-C does. A signal that is ignored stays ignored.

    Only the first signal counts: `timeout` sends two, and the second one must not disturb how we end.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in _ENDS}
        before = {number: handler for number, handler in before.items() if handler == signal.SIG_DFL}

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def watch(group: int) -> None:
    """Have that process group killed if we end before `forget` is called, however we end."""
    _tell(group)


def forget(group: int) -> None:
    """Leave that process group alone from now on."""
    _tell(-group)


def _tell(number: int) -> None:
    guard = _started()
    if guard is not None and guard.stdin is not None:
        with contextlib.suppress(OSError):  # without a guard all goes on as before
            os.write(guard.stdin.fileno(), f"{number}\n".encode())


def _started() -> subprocess.Popen[bytes] | None:
    """The guard, which the first call starts. It has a session of its own, so that no signal for us ends it."""
    global _guard
    with _guard_lock:
        if _guard is None:
            with contextlib.suppress(OSError):
                _guard = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SCRIPT],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True, cwd="/", bufsize=0,
                )  # fmt: skip
                atexit.register(_end)
        return _guard


def _end() -> None:
    if _guard is not None and _guard.stdin is not None:
        _guard.stdin.close()
        _guard.wait()
