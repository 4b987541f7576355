# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The registers case: what a compiled kernel takes, read from its file."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished

from warpheap.cases.registers.cubin import CubinError, read_cubin
from warpheap.record import read_records

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
CUOBJDUMP = shutil.which("cuobjdump") or shutil.which("cuobjdump", path="/usr/local/cuda/bin")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc")

# A frame that calls frames, so that the stack is more than the kernel's own; the second kernel has none.
SOURCE = """
template <int N> __device__ __noinline__ int deep(int x) {
  int a[N];
  for (int i = 0; i < N; ++i) a[(i * x) % N] = i;
  if constexpr (N > 10) return a[x % N] + deep<N / 2>(a[x % 7]);
  return a[x % N];
}
extern "C" __global__ void warpheap_footprint_malloc(int* p, int n) { p[threadIdx.x] = deep<80>(n); }
#ifndef NO_FREE
extern "C" __global__ void warpheap_footprint_free(int* p) { p[threadIdx.x] = 1; }
#endif
"""


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("cubin") / "good.cubin")


def compiled(path: Path, *options: str) -> Path:
    assert NVCC is not None
    source = path.with_suffix(".cu")
    source.write_text(SOURCE)
    subprocess.run([NVCC, "-arch=sm_90", "-cubin", *options, "-o", path, source], check=True, capture_output=True)
    return path


@needs_nvcc
def test_registers_stack_and_code_are_read(cubin: Path) -> None:
    kernels = read_cubin(cubin)
    assert set(kernels) == {"warpheap_footprint_malloc", "warpheap_footprint_free"}
    deep, flat = kernels["warpheap_footprint_malloc"], kernels["warpheap_footprint_free"]
    assert deep.stack >= (80 + 40 + 20 + 10) * 4  # the frames of all that it calls
    assert flat.stack == 0
    assert 8 <= flat.registers <= deep.registers <= 255
    assert 0 < flat.code < deep.code


@needs_nvcc
@pytest.mark.skipif(CUOBJDUMP is None, reason="there is no cuobjdump")
def test_cuobjdump_says_the_same(cubin: Path) -> None:
    assert CUOBJDUMP is not None
    text = subprocess.run([CUOBJDUMP, "-res-usage", cubin], check=True, capture_output=True, text=True).stdout
    told = {
        name: (int(regs), int(stack))
        for name, regs, stack in re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", text)
    }
    assert told == {name: (kernel.registers, kernel.stack) for name, kernel in read_cubin(cubin).items()}


@needs_nvcc
def test_what_is_cut_short_or_foreign_is_told(cubin: Path, tmp_path: Path) -> None:
    image = cubin.read_bytes()
    for number, broken in enumerate(
        (b"", b"\x7fELF", image[:200], image[: len(image) // 2], Path("/bin/sh").read_bytes())
    ):
        path = tmp_path / f"{number}.cubin"
        path.write_bytes(broken)
        with pytest.raises(CubinError, match=path.name):
            read_cubin(path)


@needs_nvcc
def test_the_case_records_what_was_compiled(
    warpheap: Command, fake_driver: MakeDriver, cubin: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "footprints"
    folder.mkdir()
    shutil.copy(cubin, folder / "good.cubin")
    compiled(folder / "no_free.cubin", "-DNO_FREE")
    (folder / "broken.cubin").write_bytes(b"not one")
    driver = fake_driver(allocators="good no_free broken host_only", backend="host")
    done = warpheap(
        "survey", "--driver", driver, "--out", tmp_path / "out", "--preset", "quick", "--cases", "registers"
    )
    assert done.code == 0, done.err
    by_name = {each["allocator"]: each for each in read_records(tmp_path / "out" / "survey.jsonl")}
    measures = by_name["good"]["measures"]
    assert set(measures) == {f"{one}_{what}" for one in ("malloc", "free") for what in ("registers", "stack", "code")}
    assert measures["malloc_registers"]["median"] == read_cubin(cubin)["warpheap_footprint_malloc"].registers
    assert not any(measure["timing"] for measure in measures.values())
    assert by_name["good"]["backend"] == "host"
    assert by_name["no_free"]["status"] == "ok"
    assert by_name["no_free"]["measures"]["free_registers"] is None
    assert by_name["broken"]["status"] == "failed"
    assert "no cubin" in by_name["broken"]["reason"]
    assert "was not built" in by_name["host_only"]["reason"]


def test_without_footprints_the_case_is_left_out(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    words = ("survey", "--driver", fake_driver(allocators="good", backend="host"), "--out", tmp_path / "out")
    done = warpheap(*words, "--preset", "quick")
    assert done.code == 0, done.err
    assert "registers is left out: it needs nvcc" in done.out
    done = warpheap(*words, "--cases", "registers")
    assert done.code == 2
    assert "warpheap_footprints" in done.err
    assert len(done.err.splitlines()) == 1
