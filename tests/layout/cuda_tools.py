# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""NVRTC and nvJitLink of the CUDA toolkit, which compile and link without a GPU."""

import ctypes
import fcntl
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Compiled:
    """What a compiler or a linker made of a text."""

    status: int  # 0: all is well
    log: str
    code: bytes = b""
    seconds: float = 0.0  # of a processor


def find_toolkit(*libraries: str) -> Path:
    """The folder of the CUDA toolkit; skips the test if it or one of the libraries is not installed."""
    nvcc = shutil.which("nvcc")
    root = Path(nvcc).resolve().parents[1] if nvcc else Path("/usr/local/cuda")
    for library in libraries:
        if not (root / f"lib64/lib{library}.so").exists():
            pytest.skip(f"the CUDA toolkit with {library} is not installed")
    return root


def _text(library: ctypes.CDLL, name: str, handle: ctypes.c_void_p) -> str:
    """The log that a pair of functions NAMESize and NAME gives."""
    return _bytes(library, name, handle).split(b"\0")[0].decode()


def _bytes(library: ctypes.CDLL, name: str, handle: ctypes.c_void_p) -> bytes:
    length = ctypes.c_size_t()
    assert getattr(library, f"{name}Size")(handle, ctypes.byref(length)) == 0
    place = ctypes.create_string_buffer(max(length.value, 1))
    assert getattr(library, name)(handle, place) == 0
    return place.raw[: length.value]


def _words(words: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(words))(*(word.encode() for word in words))


def compile_text(toolkit: Path, text: str, *more: str, kind: str = "PTX", include: Path | None = None) -> Compiled:
    """What NVRTC makes of a program of this text: PTX, CUBIN or LTOIR, for compute capability 9.0."""
    nvrtc = ctypes.CDLL(str(toolkit / "lib64/libnvrtc.so"))
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None) == 0
    words = ["-std=c++20", "-arch=sm_90" if kind == "CUBIN" else "-arch=compute_90"]
    words += [f"-I{include or REPOSITORY / 'include'}", f"-I{toolkit}/include", f"-I{toolkit}/include/cccl"]
    words += more
    start = time.process_time()
    status = nvrtc.nvrtcCompileProgram(program, len(words), _words(words))
    seconds = time.process_time() - start
    log = _text(nvrtc, "nvrtcGetProgramLog", program)
    name = (
        "nvrtcGetProgramLog" if status else {"PTX": "nvrtcGetPTX", "CUBIN": "nvrtcGetCUBIN"}.get(kind, "nvrtcGetLTOIR")
    )
    code = _bytes(nvrtc, name, program)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return Compiled(status, log, b"" if status else code, seconds)


_INPUT_KINDS = {"CUBIN": 1, "PTX": 2, "LTOIR": 3, "FATBIN": 4}


def link(toolkit: Path, *parts: tuple[str, bytes], options: tuple[str, ...] = ()) -> Compiled:
    """The cubin for compute capability 9.0 that nvJitLink makes of parts, each a kind and its bytes."""
    linker = ctypes.CDLL(str(toolkit / "lib64/libnvJitLink.so"))
    handle = ctypes.c_void_p()
    words = ["-arch=sm_90", *options]
    assert linker.nvJitLinkCreate(ctypes.byref(handle), len(words), _words(words)) == 0
    start = time.process_time()
    status = 0
    for number, (kind, data) in enumerate(parts):
        name = f"part{number}".encode()
        status = status or linker.nvJitLinkAddData(handle, _INPUT_KINDS[kind], data, ctypes.c_size_t(len(data)), name)
    status = status or linker.nvJitLinkComplete(handle)
    seconds = time.process_time() - start
    log = _text(linker, "nvJitLinkGetErrorLog", handle)
    code = b"" if status else _bytes(linker, "nvJitLinkGetLinkedCubin", handle)
    linker.nvJitLinkDestroy(ctypes.byref(handle))
    return Compiled(status, log, code, seconds)


def device_library(toolkit: Path) -> Path:
    """The folder with the files of the device library for compute capability 9.0, which it builds.

    It is kept in the build folder of the repository, where tests that run side by side wait for the first of them.
    """
    folder = REPOSITORY / "build/device-library"
    folder.mkdir(parents=True, exist_ok=True)
    off = [f"-DWARPHEAP_{each}=OFF" for each in ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_EXAMPLES", "HOST")]
    words = [*off, "-DWARPHEAP_DEVICE_ARCHITECTURES=90", f"-DWARPHEAP_NVCC={toolkit}/bin/nvcc"]
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            ["cmake", "-S", REPOSITORY, "-B", folder, "-G", "Ninja", *words], check=True, capture_output=True
        )
        command = ["cmake", "--build", folder, "--target", "warpheap_device", "--parallel", "2"]
        made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout
    return folder / "lib"
