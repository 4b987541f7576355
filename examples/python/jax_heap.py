# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of JAX that take blocks from a heap and give them back, in the middle of a compiled function.

    python jax_heap.py [--compile FOLDER]

nvcc compiles jax_heap.cu beside this file into a library, which JAX calls by its foreign function interface. The status
is 0 if all blocks are apart and came back, 1 if not, and 77 where no GPU answers. `--compile` only makes the library
for compute capability 9.0 in a folder, loads it and makes its calls known to JAX, which needs no GPU.
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import warpheap

COUNT = 100_000
NO_GPU = 77
CALLS = ("warpheap_malloc", "warpheap_free")


def build(folder: Path, architecture: str) -> Path:
    """Compiles the library into a folder. Raises `subprocess.CalledProcessError` if nvcc refuses it."""
    library = folder / "libjax_heap.so"
    source = Path(__file__).with_name("jax_heap.cu")
    headers = [f"-I{warpheap.include()}", f"-isystem={jax.ffi.include_dir()}"]
    words = ["-std=c++20", f"-arch={architecture}", "-O3", "-shared", "-Xcompiler=-fPIC", *headers]
    subprocess.run(["nvcc", *words, "-o", library, source], check=True)
    return library


def make_known(library: Path) -> None:
    """Lets JAX call the functions of the library."""
    loaded = ctypes.CDLL(str(library))
    for name in CALLS:
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(loaded, name)), platform="CUDA")


def call(name: str, heap: jax.Array, values: jax.Array) -> jax.Array:
    """One of the calls; it changes the heap, so XLA may neither drop it nor make it twice."""
    result = jax.ShapeDtypeStruct(values.shape, jnp.uint64)
    return jax.ffi.ffi_call(name, result, has_side_effect=True)(heap, values)


@jax.jit
def take_and_give(heap: jax.Array, sizes: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The addresses of a block for each size, which are free again, and the number of those that were served."""
    blocks = call("warpheap_malloc", heap, sizes)
    return blocks, call("warpheap_free", heap, blocks).sum()


def run() -> int:
    """Runs the function twice, and returns how much is wrong."""
    sizes = jnp.arange(COUNT, dtype=jnp.uint64) % 700 + 1
    wrong = 0
    with warpheap.Heap(1 << 30) as heap:
        handle = jnp.array(heap.handle, dtype=jnp.uint64)
        for _ in range(2):
            blocks, served = take_and_give(handle, sizes)
            order = np.argsort(np.asarray(blocks))
            starts, bytes_of = np.asarray(blocks)[order], np.asarray(sizes)[order]
            wrong += int(served != COUNT) + int(np.count_nonzero(starts[:-1] + bytes_of[:-1] > starts[1:]))
        wrong += heap.statistics().live_bytes or 0
    print(f"jax_heap: {wrong} faults")
    return wrong


def main() -> int:
    """Returns the status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)  # addresses have 64 bits
    if given.compile is not None:
        make_known(build(given.compile, "sm_90"))
        return 0
    try:
        jax.devices("gpu")
    except RuntimeError:
        print("jax_heap: no GPU answers")
        return NO_GPU
    with tempfile.TemporaryDirectory() as folder:
        make_known(build(Path(folder), "native"))
        return 1 if run() else 0


if __name__ == "__main__":
    sys.exit(main())
