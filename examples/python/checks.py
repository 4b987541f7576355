# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: checks with a time limit, each a line of output, and an exit status."""

import faulthandler
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any


class Checks:
    """Runs checks one after another. A check that takes longer than its limit ends the process with status 1."""

    def __init__(self, title: str) -> None:
        self.title = title
        faulthandler.enable()  # a process that a signal ends says where
        self.failed = 0
        self.passed = 0

    def served(self, name: str, check: Callable[[], Any], limit_s: float = 120) -> None:
        """A check passes if it returns; what it returns is printed."""
        self._run(name, check, limit_s)

    def refused(self, name: str, check: Callable[[], Any], text: str, limit_s: float = 120) -> None:
        """A check passes if it raises an exception whose message has `text` in it."""

        def raises() -> str:
            try:
                check()
            except Exception as error:
                assert text.lower() in str(error).lower(), f"another refusal: {type(error).__name__}: {error}"
                return f"refused: {type(error).__name__}: {str(error).splitlines()[0][:100]}"
            raise AssertionError("it was not refused")

        self._run(name, raises, limit_s)

    def _run(self, name: str, check: Callable[[], Any], limit_s: float) -> None:
        begin = time.monotonic()
        print(f"... {self.title} {name}", end="\r", flush=True)
        faulthandler.dump_traceback_later(limit_s, exit=True)
        try:
            result = check()
        except Exception as error:
            self.failed += 1
            print(f"FAIL {self.title} {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            traceback.print_exc(limit=-3)
        else:
            self.passed += 1
            print(f"PASS {self.title} {name} {time.monotonic() - begin:.2f}s {result or ''}", flush=True)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def end(self) -> None:
        """Print the sum and end the process: with status 1 if a check failed, or if there was no check."""
        print(f"{self.title}: {self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed or not self.passed else 0)


def microseconds(call: Callable[[], Any], count: int) -> float:
    """Microseconds that a call takes on the host, on average."""
    call()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6
