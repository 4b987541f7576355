# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA programs: built with the checkout's presets, or found where they were built elsewhere."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from warpheap import process, project
from warpheap.builds import gpu_architectures
from warpheap.driver import Driver
from warpheap.errors import UsageError
from warpheap.gpu.expected import ProgramList
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
    expected: ProgramList | None  # of the tests; None: the build left no list, so nobody knows whether one is missing
    unlisted: list[str]  # tests that lie beside those of the list, perhaps of an older state

    @property
    def names(self) -> list[str]:
        """The tests that a whole run has, sorted by name."""
        return sorted(test.name for test in self.tests) if self.expected is None else self.expected.names

    @property
    def alone(self) -> frozenset[str]:
        """The tests beside which no other may run."""
        return frozenset() if self.expected is None else self.expected.alone

    @property
    def absent(self) -> list[str]:
        """The tests that are expected and were not built."""
        built = {test.name for test in self.tests}
        return [name for name in self.names if name not in built]


@dataclass(frozen=True)
class State:
    """Fingerprints of the checkout; empty where there is no checkout or no CMake."""

    evidence: str  # of what CUDA tests are made of
    sources: str  # of what a measurement is about, as the build puts it into the driver


def is_example(program: Path) -> bool:
    """True for a program that knows nothing of GoogleTest: its exit code is the result."""
    return program.name.startswith("example_")


def is_script(program: Path) -> bool:
    """True for an example that is written in Python, which a script in the folder of programs starts."""
    return program.name.startswith("example_python_")


def find_tool(name: str) -> str | None:
    """The program, on the PATH or in the toolkit's usual folder."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def state_of_checkout() -> State:
    """The state that the checkout is in now."""
    return State(_fingerprint("evidence"), _fingerprint("sources"))


def _fingerprint(scope: str) -> str:
    checkout, cmake = project.find_checkout(), find_tool("cmake")
    if checkout is None or cmake is None:
        return ""
    outcome = process.run([cmake, "-D", f"SCOPE={scope}", "-P", checkout / "cmake" / "fingerprint.cmake"], 60)
    return outcome.stdout.strip() if outcome.exit_code == 0 else ""


def sources_of(driver: Path | None) -> str:
    """The fingerprint of the sources that a driver was built from; empty if there is no driver, or it does not say."""
    try:
        return "" if driver is None else Driver.start(driver).sources
    except UsageError:
        return ""


def prebuilt(folder: Path) -> Programs:
    """The programs in `folder`/bin or in `folder`. Raises `UsageError` if the folder has none of them."""
    place = folder / "bin" if (folder / "bin").is_dir() else folder
    if not place.is_dir():
        raise UsageError(f"--prebuilt: {folder} is no folder")
    found = collect([place], ProgramList.find(folder, folder / "bin"))
    if not found.tests and found.driver is None:
        raise UsageError(f"--prebuilt: {place} holds neither tests (*_cuda) nor warpheap_bench_cuda")
    return found


def collect(places: list[Path], expected: ProgramList | None) -> Programs:
    """The CUDA programs in these folders; of tests only those that are expected, if there is a list of them."""
    programs = sorted(file for place in places for file in place.glob("*_cuda") if os.access(file, os.X_OK))
    tests = {file.name: file for file in programs if not file.name.startswith("warpheap_")}
    listed = tests if expected is None else {name: tests[name] for name in expected.names if name in tests}
    unlisted = [name for name in tests if name not in listed]
    drivers = [file for file in programs if file.name == "warpheap_bench_cuda"]
    return Programs(list(listed.values()), drivers[-1] if drivers else None, expected, unlisted)


def build(tests: bool, bench: bool, log: Path, time_limit: float) -> tuple[Programs, list[Result]]:
    """Configure and build what is needed, for this machine's GPU, on all cores. The log keeps all output."""
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
    return collect(places, ProgramList.find(checkout / "build" / "cuda") if tests else None), results


def _build_preset(checkout: Path, preset: str, log: Path, time_limit: float) -> Result:
    nvcc = find_tool("nvcc")
    # A tree may have been configured where there is no GPU, for some designs and without machine code.
    whole = ["-DWARPHEAP_CUDA_ARCHITECTURES=native", "-DWARPHEAP_CUDA_SUITES=", "-DWARPHEAP_CUDA_PROGRAMS=ON"]
    if architectures := gpu_architectures():
        whole.append(f"-DWARPHEAP_DEVICE_ARCHITECTURES={architectures}")
    target = "cuda_tests" if preset == "cuda" else "warpheap_bench_cuda"
    seconds = 0.0
    for command in (
        ["cmake", "--preset", preset, *whole, f"-DCMAKE_CUDA_COMPILER={nvcc}"],
        ["cmake", "--build", "--preset", preset, "--target", target, "--parallel", str(os.cpu_count() or 1)],
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
