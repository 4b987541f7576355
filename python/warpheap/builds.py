# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of a wheel's sources, which are built when somebody first needs them, into the user's cache.

Each build has a folder of its own, named by what it is made of: sources, CMake's files, compilers and GPUs. So a build
stays as long as these do, and a new one leaves the old one in place. The variable WARPHEAP_CACHE of the environment
names another folder than `warpheap` in the user's cache.
"""

import contextlib
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from warpheap import process, project
from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.fingerprints import build_fingerprint, fingerprint, of_lines

VARIABLE = "WARPHEAP_CACHE"
_SECONDS_TO_ANSWER = 30.0
_SECONDS_TO_BUILD = 4 * 3600.0  # every design for a GPU, on one slow core
_COMPILERS = {"cuda": ("nvcc", "CUDACXX"), "host": ("c++", "CXX")}


def find_program(name: str, backend: str, *beside: str) -> Path | None:
    """The program `name` of the wheel that this package came with; built first if that was never done.

    `beside`: further targets of the build. None if the package came with no wheel. Raises `UsageError` if a tool or
    the GPU is missing, and if the build fails.
    """
    sources = project.find_installed()
    if sources is None:
        return None
    compiler = _compiler(backend)
    gpus = gpu_architectures() if backend == "cuda" else ""
    if backend == "cuda" and not gpus:
        raise UsageError(f"{name} is built for the GPU of this machine, and nvidia-smi names none: use --backend host")
    version = _version(compiler)
    made_of = of_lines(
        [fingerprint(sources, "sources"), build_fingerprint(sources), backend, compiler, version, gpus]
        + (_host_compilers() if backend == "cuda" else [])
    )
    folder = _cache() / made_of[:20]
    program = folder / "bin" / name
    mark = folder / f"built.{name}"
    if not mark.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with _only_one(folder):
            if not mark.is_file():
                _build(sources, folder, backend, compiler, gpus, (name, *beside))
                write_text(mark, f"{version}\n")
    if not program.is_file():
        raise UsageError(f"{program} was built and is gone: remove {folder}, so that it is built anew")
    return program


def prefers_gpu() -> bool:
    """True if programs for a GPU can be built and used here: there is nvcc, and a GPU answers."""
    return _find("nvcc", "CUDACXX") is not None and bool(gpu_architectures())


def _cache() -> Path:
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    general = os.environ.get("XDG_CACHE_HOME")
    return (Path(general) if general and Path(general).is_absolute() else Path.home() / ".cache") / "warpheap"


def _find(name: str, variable: str) -> str | None:
    named = os.environ.get(variable)
    if named:
        return shutil.which(named)
    return shutil.which(name) or (shutil.which(name, path="/usr/local/cuda/bin") if name == "nvcc" else None)


def _version(compiler: str) -> str:
    return process.run([compiler, "--version"], _SECONDS_TO_ANSWER).stdout


def _host_compilers() -> list[str]:
    """The paths and versions of the compilers that a build for a GPU uses beside nvcc: CMake's for C++, and nvcc's own.

    nvcc takes the one that CUDAHOSTCXX or NVCC_CCBIN names, and g++ without either. One that is not there has no words.
    """
    named = os.environ.get("CUDAHOSTCXX") or os.environ.get("NVCC_CCBIN")
    found = (_find("c++", "CXX"), shutil.which(named or "g++"))
    return [word for compiler in found if compiler is not None for word in (compiler, _version(compiler))]


def _compiler(backend: str) -> str:
    missing = [tool for tool in ("cmake",) if shutil.which(tool) is None]
    if shutil.which("ninja") is None and shutil.which("make") is None:
        missing.append("ninja or make")
    name, variable = _COMPILERS[backend]
    compiler = _find(name, variable)
    if compiler is None or missing:
        wanted = [*missing, *([] if compiler else [f"{name} (or the environment variable {variable})"])]
        raise UsageError(
            f"the {backend} backend is built on first use, and this machine lacks {', '.join(wanted)}: install that, "
            "or name a program that is built with --driver PATH or --prebuilt DIR"
        )
    return compiler


def gpu_architectures() -> str:
    """The compute capabilities of this machine's GPUs, as CMake writes them: 90 for 9.0. Empty without a GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    outcome = process.run([tool, "--query-gpu=compute_cap", "--format=csv,noheader"], _SECONDS_TO_ANSWER)
    found = {line.strip().replace(".", "") for line in outcome.stdout.splitlines()} if outcome.exit_code == 0 else set()
    return ";".join(sorted(word for word in found if word.isdigit()))


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Waits until no other process builds in the folder. The lock ends with the process that holds it."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(sources: Path, folder: Path, backend: str, compiler: str, gpus: str, targets: tuple[str, ...]) -> None:
    log = folder / "build.log"
    print(f"warpheap: building {targets[0]}, once for this machine; the log is {log}", file=sys.stderr, flush=True)
    language = "CUDA" if backend == "cuda" else "CXX"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        f"CMAKE_{language}_COMPILER": compiler,
        "WARPHEAP_BUILD_TESTS": "OFF",
        "WARPHEAP_BUILD_EXAMPLES": "OFF",
        "WARPHEAP_CUDA": "ON" if backend == "cuda" else "OFF",
        "WARPHEAP_HOST": "OFF" if backend == "cuda" else "ON",
        **({"WARPHEAP_CUDA_ARCHITECTURES": gpus} if gpus else {}),
    }
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    commands: list[list[str | Path]] = [
        ["cmake", "-S", sources, "-B", folder, *generator, *(f"-D{name}={value}" for name, value in options.items())],
        ["cmake", "--build", folder, "--parallel", str(len(os.sched_getaffinity(0))), "--target", *targets],
    ]
    said = ""
    for command in commands:
        outcome = process.run(command, _SECONDS_TO_BUILD)
        said += outcome.stdout + outcome.stderr
        write_text(log, said)
        if outcome.timed_out or outcome.exit_code != 0:
            words = [line for line in said.splitlines() if "error" in line.lower()][:1] or said.splitlines()[-1:]
            what = words[0].strip() if words else outcome.describe_end()
            raise UsageError(f"{targets[0]} could not be built: {what}; the whole log is {log}")
