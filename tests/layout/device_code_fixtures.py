# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests of device code from Python share: the toolkit, the device library, and Numba without a GPU.

The import of this module puts `python/` on the path, so the package can be imported after it.
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cuda_tools import REPOSITORY, device_library, find_toolkit

sys.path.insert(0, str(REPOSITORY / "python"))
from warpheap import device_code
from warpheap.cases.registers.cubin import read_cubin


@pytest.fixture(scope="module")
def toolkit() -> Path:
    return find_toolkit("nvrtc", "nvJitLink")


@pytest.fixture
def folder(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the device library, where the package looks for it."""
    made = device_library(toolkit)
    monkeypatch.setenv(device_code.VARIABLE, str(made))
    return made


def kernels(code: bytes, tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "linked.cubin"
    file.write_bytes(code)
    return read_cubin(file)


@pytest.fixture
def numba(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`warpheap.numba`, for a GPU that it believes to be there."""
    pytest.importorskip("numba.cuda.cudadrv.linkable_code", reason="numba-cuda is not installed")
    from numba.cuda import compiler, dispatcher

    device = SimpleNamespace(compute_capability=(9, 0), id=0)
    for module in (compiler, dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: device)
    import warpheap.numba

    monkeypatch.setattr(warpheap.numba.cuda, "get_current_device", lambda: device)
    for kept in (warpheap.numba._functions, warpheap.numba._code, warpheap.numba._malloc_of_arrays):
        kept.cache_clear()
    return warpheap.numba
