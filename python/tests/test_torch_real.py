# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch itself over a pool of the host: a stand-in for CUDA's runtime is preloaded, so that no GPU is needed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import environment

from warpheap.stream_pools.library import find_library

HERE = Path(__file__).parent


def torch_folder() -> Path | None:
    """The folder of a PyTorch that was built for CUDA."""
    found = importlib.util.find_spec("torch")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    own = Path(folders[0]) if folders else None
    return own if own is not None and (own / "lib/libtorch_cuda.so").is_file() else None


TORCH = torch_folder()
NVCC = shutil.which("nvcc")

pytestmark = [
    pytest.mark.skipif(find_library("host") is None, reason="libwarpheap_pool_host.so is not built"),
    pytest.mark.skipif(TORCH is None, reason="PyTorch for CUDA is not installed"),
    pytest.mark.skipif(NVCC is None, reason="no CUDA toolkit was found"),
    pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja was not found"),
]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runtime to preload, and a driver library in which each function does nothing."""
    assert TORCH is not None and NVCC is not None
    folder = tmp_path_factory.mktemp("runtime")
    include = Path(NVCC).resolve().parents[1] / "include"
    build = ["cc", "-shared", "-fPIC"]
    subprocess.run(
        [*build, f"-I{include}", HERE / "fake_cuda_runtime.c", "-o", folder / "fake_cuda_runtime.so"], check=True
    )
    names: set[str] = set()
    for library in (TORCH / "lib").glob("*.so"):
        shown = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True)
        names |= set(re.findall(r" U (cu[A-Z]\w*)", shown.stdout))
    known = re.compile(r"cu(?:blas|solver|sparse|fft|rand|dnn|File|pti)")
    driver = folder / "driver.c"
    driver.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(names) if not known.match(name)))
    subprocess.run([*build, "-w", "-Wl,-soname,libcuda.so.1", driver, "-o", folder / "libcuda.so.1"], check=True)
    return folder


@pytest.mark.parametrize(("depth", "checks"), [("full", 7), ("symbols", 2)])
def test_pytorch_over_a_pool(runtime: Path, tmp_path: Path, depth: str, checks: int) -> None:
    variables = environment() | {
        "LD_PRELOAD": str(runtime / "fake_cuda_runtime.so"),
        "LD_LIBRARY_PATH": str(runtime),
        "WARPHEAP_CACHE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    command = [sys.executable, HERE / "torch_on_host.py", depth]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=variables, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.split()) == checks
