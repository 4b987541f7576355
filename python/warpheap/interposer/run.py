# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Starts a program with the library libwarpheap_run.so before the driver."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpheap.errors import UsageError, unknown_name
from warpheap.interposer.calls import FIRST_LINE
from warpheap.project import library_folders

MODES = ("count", "check", "trace", "pool")
# Names another file of the library than the one that the checkout's build made.
LIBRARY_VARIABLE = "WARPHEAP_RUN_LIBRARY"
LIBRARY = "libwarpheap_run.so"
# What the library reads.
MODE_VARIABLE = "WARPHEAP_RUN_MODE"
OUT_VARIABLE = "WARPHEAP_RUN_OUT"
POOLS_VARIABLE = "WARPHEAP_RUN_POOL"
_PRELOAD, _AUDIT = "LD_PRELOAD", "LD_AUDIT"
_COMMAND = "cmake --preset host && cmake --build --preset host --target warpheap_run"


@dataclass(frozen=True)
class Job:
    """A program with its arguments, and what is done with its calls."""

    words: Sequence[str]
    mode: str = "count"
    out: Path | None = None
    audit: bool = False


def check(job: Job) -> None:
    """Raises `UsageError` for what is wrong with the words of the command."""
    if job.mode not in MODES:
        raise unknown_name("--mode", job.mode, MODES)
    if job.mode == "trace" and job.out is None:
        raise UsageError("--mode trace needs a file for the trace: --out FILE")


def run(job: Job) -> None:
    """Becomes the program. Raises `UsageError` if the library or the program is not there."""
    check(job)
    program = find_program(job.words[0])
    pools = find_pools() if job.mode == "pool" else None
    given = environment(job, find_library(), os.environ, pools)
    # What raises here leaves the file as it was; a program that begins lets go of the copy.
    with begun(job.out, job.mode) if job.out is not None else contextlib.nullcontext():
        # Python ignores these, and a program inherits what is ignored.
        ours = {each: signal.signal(each, signal.SIG_DFL) for each in (signal.SIGPIPE, signal.SIGXFSZ)}
        try:
            os.execve(program, list(job.words), given)
        except OSError as error:
            for each, handler in ours.items():
                signal.signal(each, handler)
            raise UsageError(f"{program} cannot be run: {error.strerror}") from error


def find_program(name: str) -> str:
    """The file of a program: a path, or a name that is looked for in PATH."""
    found = shutil.which(name)
    if found is None:
        what = "is no program that can be run" if os.sep in name else "is not in PATH"
        raise UsageError(f"'{name}' {what}; write: warpheap run [OPTION...] -- PROGRAM [ARGUMENT...]")
    return found


def find_library() -> Path:
    """The library, which WARPHEAP_RUN_LIBRARY names or a build of the checkout has made."""
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise UsageError(f"{LIBRARY_VARIABLE} names {named}, which is no file; build {LIBRARY}: {_COMMAND}")
        return Path(named).absolute()
    for folder in library_folders(("host", "cuda-bench", "cuda")):
        if (folder / LIBRARY).is_file():
            return folder / LIBRARY
    raise UsageError(
        f"{LIBRARY} is not built. In the checkout: {_COMMAND}. Or name one with the environment variable "
        f"{LIBRARY_VARIABLE}."
    )


def find_pools() -> Path:
    """The library of pools for a GPU, which WARPHEAP_POOL_LIBRARY names or a build of the checkout has made."""
    from warpheap.native.library import build_command
    from warpheap.stream_pools.library import INTERFACE, VARIABLE
    from warpheap.stream_pools.library import find_library as find

    command = build_command(INTERFACE, "cuda")
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise UsageError(f"{VARIABLE} names {named}, which is no file; build a library of pools: {command}")
        return Path(named).absolute()
    found = find("cuda")
    if found is None:
        raise UsageError(
            f"--mode pool needs the library of pools for a GPU, and it is not built. In the checkout: {command}. Or "
            f"name one with the environment variable {VARIABLE}."
        )
    return found


def environment(job: Job, library: Path, inherited: Mapping[str, str], pools: Path | None = None) -> dict[str, str]:
    """The environment of the program. The library is once in it, after what is loaded into the program already."""
    made = dict(inherited)
    path = str(library)
    # The dynamic linker reads LD_PRELOAD as names apart by colons or blanks, and LD_AUDIT as names apart by colons.
    unfit = ":" if job.audit else ": \t\n"
    if any(letter in unfit for letter in path):
        raise UsageError(
            f"the path {path} has a letter that {_AUDIT if job.audit else _PRELOAD} cannot hold; copy the library to "
            f"a path without blanks and colons, and name it with {LIBRARY_VARIABLE}"
        )
    for variable, letters in ((_PRELOAD, ": \t\n"), (_AUDIT, ":")):
        names = made.pop(variable, "").translate({ord(letter): ":" for letter in letters}).split(":")
        kept = [name for name in names if name and Path(name).name != LIBRARY]
        if variable == (_AUDIT if job.audit else _PRELOAD):
            kept.append(path)
        if kept:
            made[variable] = ":".join(kept)
    made[MODE_VARIABLE] = job.mode
    made.pop(OUT_VARIABLE, None)
    made.pop(POOLS_VARIABLE, None)
    if pools is not None:
        made[POOLS_VARIABLE] = str(pools)
    if job.out is not None:
        made[OUT_VARIABLE] = str(job.out.absolute())
    return made


@contextlib.contextmanager
def begun(out: Path, mode: str) -> Iterator[None]:
    """Empties the file, to whose end each process of the program writes; an exception puts back what was there."""
    was_there = out.exists()
    if not was_there:
        out = Path(os.path.realpath(out))  # a link that leads nowhere yet stays
    with tempfile.TemporaryFile() as old:
        try:
            if out.is_file():
                with out.open("rb") as source:
                    shutil.copyfileobj(source, old)
            out.write_text(f"{FIRST_LINE}\n" if mode == "trace" else "", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--out: {out} cannot be written: {error.strerror}") from error
        try:
            yield
        except BaseException:
            if not was_there:
                out.unlink()
            elif out.is_file():
                old.seek(0)
                with out.open("wb") as target:
                    shutil.copyfileobj(old, target)
            raise
