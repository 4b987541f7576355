# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Where the driver of an experiment is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap import builds, process, project
from warpheap.errors import UsageError

# The first start of a GPU takes longer than any other.
SECONDS_TO_ANSWER = 60.0


@dataclass(frozen=True)
class Driver:
    """A driver by the stem of its name, and the words of a run that takes no time."""

    stem: str
    trial: Sequence[str]

    def find(self, prebuilt: Path | None, backend: str) -> Path:
        """The program in `prebuilt` or in the checkout's builds; `auto` prefers that of a GPU."""
        if prebuilt is None and project.find_installed() is not None:
            if backend == "auto":
                backend = "cuda" if builds.prefers_gpu() else "host"
            built = builds.find_program(f"{self.stem}_{backend}", backend)
            if built is not None:
                return built
        backends = ("cuda", "host") if backend == "auto" else (backend,)
        for name in backends:
            for place in _places(prebuilt):
                program = place / f"{self.stem}_{name}"
                if program.is_file() and (backend != "auto" or name == "host" or self._answers(program)):
                    return program
        raise UsageError(
            f"no {self.stem}_{' or _'.join(backends)} was found. Build it: cmake --preset cuda-bench && "
            f"cmake --build --preset cuda-bench --target {self.stem}_cuda (host and _host without a GPU), "
            "or name the folder that has it with --prebuilt DIR"
        )

    def _answers(self, program: Path) -> bool:
        return process.run([program, *self.trial], SECONDS_TO_ANSWER).exit_code == 0


def _places(prebuilt: Path | None) -> list[Path]:
    if prebuilt is not None:
        return [prebuilt / "bin", prebuilt]
    checkout = project.find_checkout()
    return [] if checkout is None else [checkout / "build" / name / "bin" for name in ("cuda-bench", "cuda", "host")]
