# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The depths in which PyTorch takes tensors from a pool, and how checks run in each."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from checks import Checks

DEPTHS = ("none", "mem_pool", "symbols", "full")
_LIMIT_S = 540

# Called with the checks, the depth, PyTorch, and the pool of tensors: None in depth `none`.
AllChecks = Callable[[Checks, str, Any, Any], None]


def run(words: list[str], document: str | None, all_checks: AllChecks, depths: tuple[str, ...]) -> dict[str, str]:
    """Run a program whose arguments are depths; without one it runs those of `depths`.

    The program starts itself for each depth, and prints what that printed. Returns the output of each. Exits with
    status 1 if a depth failed, after all have run, or if an argument is no depth.
    """
    if words[:1] == ["--one"]:
        _run_one(words[1], all_checks)
    if unknown := [word for word in words if word not in DEPTHS]:
        sys.exit(f"{document}\nunknown: {', '.join(unknown)}")
    wrong, said = [], {}
    for depth in words or depths:
        said[depth], passed = _start(depth)
        print(said[depth], end="", flush=True)
        if not passed:
            wrong.append(depth)
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")
    return said


def _start(depth: str) -> tuple[str, bool]:
    command = [sys.executable, sys.argv[0], "--one", depth]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return f"{(late.stdout or b'').decode(errors='replace')}\n{depth}: not done in {_LIMIT_S} s\n", False
    return done.stdout, done.returncode == 0


def _run_one(depth: str, all_checks: AllChecks) -> None:
    import torch

    import warpheap.torch

    checks = Checks(depth)
    begin = time.monotonic()
    if depth in warpheap.torch.DEPTHS:
        warpheap.torch.install(depth)
        print(f"torch {torch.__version__}, installed in {time.monotonic() - begin:.1f} s", flush=True)
    if depth == "mem_pool":
        with torch.cuda.use_mem_pool(warpheap.torch.mem_pool()):
            all_checks(checks, depth, torch, warpheap.torch.pool())
    else:
        all_checks(checks, depth, torch, None if depth == "none" else warpheap.torch.pool())
    checks.end()
