# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the CUDA programs with the checkout's presets."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from warpheap import process, project
from warpheap.errors import UsageError
from warpheap.gpu.result import Result

_TOOLS = {
    "cmake": "CMake 3.25 or later",
    "ninja": "Ninja",
    "nvcc": "the CUDA toolkit",
    "g++": "a C++20 compiler",
}


@dataclass(frozen=True)
class Programs:
    """What can be run. An example is a test too: it must end well."""

    tests: list[Path]
    driver: Path | None


def is_example(program: Path) -> bool:
    """True for a program that knows nothing of GoogleTest: its exit code is the result."""
    return program.name.startswith("example_")


def find_tool(name: str) -> str | None:
    """The program, on the PATH or in the toolkit's usual folder."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def sources_fingerprint() -> str | None:
    """The fingerprint of the checkout's sources, as the build puts it into the driver; none without a checkout."""
    checkout, cmake = project.find_checkout(), find_tool("cmake")
    if checkout is None or cmake is None:
        return None
    outcome = process.run([cmake, "-P", checkout / "cmake" / "fingerprint.cmake"], 60)
    return (outcome.stdout + outcome.stderr).strip() or None


def prebuilt(folder: Path) -> Programs:
    """The programs in `folder`/bin or in `folder`. Raises `UsageError` if there are none."""
    place = folder / "bin" if (folder / "bin").is_dir() else folder
    if not place.is_dir():
        raise UsageError(f"--prebuilt: {folder} is no folder")
    found = collect([place])
    if not found.tests and found.driver is None:
        raise UsageError(f"--prebuilt: {place} holds neither tests (*_cuda) nor warpheap_bench_cuda")
    return found


def collect(places: list[Path]) -> Programs:
    """The CUDA programs in these folders."""
    programs = sorted(file for place in places for file in place.glob("*_cuda") if os.access(file, os.X_OK))
    tests = {file.name: file for file in programs if not file.name.startswith("warpheap_")}
    drivers = [file for file in programs if file.name == "warpheap_bench_cuda"]
    return Programs(list(tests.values()), drivers[-1] if drivers else None)


def build(tests: bool, bench: bool, log: Path, time_limit: float) -> tuple[Programs, list[Result]]:
    """Configures and builds what is needed, for this machine's GPU, on all cores. The log keeps all output."""
    checkout = project.find_checkout()
    if checkout is None:
        raise UsageError("not in a checkout of warpheap: change to one, or name built programs with --prebuilt DIR")
    missing = [f"{name} ({what})" for name, what in _TOOLS.items() if find_tool(name) is None]
    if missing:
        raise UsageError(
            f"missing here: {', '.join(missing)}. Install them, or name built programs with --prebuilt DIR"
        )
    results: list[Result] = []
    places = []
    for preset, wanted in (("cuda", tests), ("cuda-bench", bench)):
        if not wanted:
            continue
        left = time_limit - sum(result.seconds for result in results)
        results.append(_build_preset(checkout, preset, log, left))
        if results[-1].status == "ok":
            places.append(checkout / "build" / preset / "bin")
    return collect(places), results


def _build_preset(checkout: Path, preset: str, log: Path, time_limit: float) -> Result:
    nvcc = find_tool("nvcc")
    architectures = "-DWARPHEAP_CUDA_ARCHITECTURES=native"
    seconds = 0.0
    for command in (
        ["cmake", "--preset", preset, architectures, f"-DCMAKE_CUDA_COMPILER={nvcc}"],
        ["cmake", "--build", "--preset", preset, "--parallel", str(os.cpu_count() or 1)],
    ):
        outcome = process.run(command, time_limit - seconds, folder=checkout)
        seconds += outcome.seconds
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"$ {' '.join(command)}\n{outcome.stdout}{outcome.stderr}\n")
        if outcome.timed_out or outcome.exit_code != 0:
            status = "timeout" if outcome.timed_out else "failed"
            errors = [line.strip() for line in outcome.stdout.splitlines() if "error" in line.lower()]
            reason = f"{outcome.describe_end()} {' | '.join(errors[:3])}".strip()
            return Result(
                "build", preset, " ".join(command[:3]), status, round(seconds, 1), f"{reason}; see {log.name}"
            )
    return Result("build", preset, preset, "ok", round(seconds, 1))
