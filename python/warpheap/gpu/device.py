# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The GPUs between two programs: whether they still answer, and which of them comes first."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpheap import process
from warpheap.driver import Driver
from warpheap.errors import UsageError

Environment = Mapping[str, str]

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


def orders_of_devices() -> list[Environment]:
    """Environments of processes that see all GPUs of the machine, each with another GPU as the first.

    Programs that use one device spread over all of them so, and programs that use several find them. The only
    environment is empty on a machine with one GPU, and where CUDA_VISIBLE_DEVICES already chooses.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES") is not None or shutil.which("nvidia-smi") is None:
        return [{}]
    outcome = process.run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], _SECONDS_TO_ANSWER)
    numbers = outcome.stdout.split() if outcome.exit_code == 0 and not outcome.timed_out else []
    if len(numbers) < 2:
        return [{}]
    # The order of nvidia-smi: CUDA's own begins with the fastest.
    return [
        {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(numbers[first:] + numbers[:first])}
        for first in range(len(numbers))
    ]
