# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU between two programs: whether it still answers."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from warpheap import process
from warpheap.driver import Driver
from warpheap.errors import UsageError

_SECONDS_TO_ANSWER = 60.0
_TRIVIAL = ("--threads", "32", "--heap-bytes", "1048576", "--iterations", "1", "--warmup", "1")


@dataclass(frozen=True)
class Device:
    """The GPU, asked through the benchmark driver, or through nvidia-smi where there is no driver."""

    driver: Path | None

    def answers(self) -> bool:
        """True if a trivial run ends well in time: after a hang, nothing else is worth starting before it does."""
        if self.driver is not None:
            try:
                first = Driver.start(self.driver).names[0]
            except UsageError:
                return False
            outcome = process.run([self.driver, "--allocator", first, *_TRIVIAL], _SECONDS_TO_ANSWER)
        elif shutil.which("nvidia-smi"):
            outcome = process.run(["nvidia-smi", "-L"], _SECONDS_TO_ANSWER)
        else:
            return True  # nobody to ask; the next program will tell
        return not outcome.timed_out and outcome.exit_code == 0
