# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""How `warpheap.torch` installs itself, by a stand-in for PyTorch; and its sources against PyTorch's headers."""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fake_torch import FakeExtension, FakeTorch

import warpheap.torch
from warpheap.errors import UsageError
from warpheap.stream_pools.library import LIBRARIES, find_library, load_library
from warpheap.torch import extension

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "python/warpheap/torch"
BUILT = find_library("host")

needs_library = pytest.mark.skipif(BUILT is None, reason="libwarpheap_pool_host.so is not built")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler was found")

# A library with the functions of both sources, that remembers in a file what it was called with.
STAND_IN = """
#include <stdio.h>
static const char* say(const char* what, const char* path) {
  FILE* log = fopen("LOG", "a");
  fprintf(log, "%s %s\\n", what, path);
  fclose(log);
  return ANSWER;
}
const char* wh_torch_install(const char* path) { return say("install", path); }
const char* wh_torch_open(const char* path) { return say("open", path); }
void wh_torch_record_stream(void* block, void* stream) { (void)block, (void)stream; }
void wh_torch_empty_cache(void) {}
"""


class World:
    """PyTorch, its compiler, and where libraries are kept, all of them stand-ins."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "log"
        self.source = folder / "stand_in.c"
        self.cache = folder / "cache"
        self.torch = FakeTorch()
        home = folder / "cuda"
        (home / "include").mkdir(parents=True)
        (home / "include" / "cuda_runtime_api.h").touch()
        self.extension = FakeExtension(self.source, str(home))
        self.answer("0")
        monkeypatch.setitem(sys.modules, "torch", self.torch)
        monkeypatch.setitem(sys.modules, "torch.utils", FakeTorch())
        monkeypatch.setitem(sys.modules, "torch.utils.cpp_extension", self.extension)
        monkeypatch.setenv(extension.VARIABLE, str(self.cache))
        monkeypatch.setattr(warpheap.torch, "_installed", None)
        monkeypatch.setattr(warpheap.torch, "_kept", [])
        monkeypatch.setattr(warpheap.torch, "_of_mem_pools", [])
        monkeypatch.setattr(LIBRARIES, "load", lambda backend: load_library("host"))

    def answer(self, text: str) -> None:
        self.source.write_text(STAND_IN.replace("LOG", str(self.log)).replace("ANSWER", text), encoding="utf-8")

    def calls(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


# --- Installing -------------------------------------------------------------------------------------------------------


@needs_library
@needs_compiler
def test_the_full_depth_is_built_and_installed_once(world: World) -> None:
    assert warpheap.torch.installed() is None
    warpheap.torch.install()
    warpheap.torch.install()
    assert world.calls() == [f"install {BUILT}"]
    assert warpheap.torch.installed() == "full"
    with pytest.raises(UsageError, match="depth 'full' is installed"):
        warpheap.torch.install("symbols")
    with pytest.raises(UsageError, match="no MemPool is needed"):
        warpheap.torch.mem_pool()


@needs_library
@needs_compiler
def test_symbols_are_functions_that_throw(world: World) -> None:
    warpheap.torch.install("symbols")
    assert world.calls() == [f"open {BUILT}"]
    file, take, give = world.torch.current.words
    assert (Path(file).name, take, give) == ("wh_torch_symbols.so", "wh_torch_malloc", "wh_torch_free")
    assert set(world.torch.current.setters) == {"set_record_stream_fn", "set_reset_fn"}
    assert all(world.torch.current.setters.values())


@needs_library
def test_a_mem_pool_has_functions_that_return_null(world: World) -> None:
    warpheap.torch.mem_pool(use_on_oom=True)
    warpheap.torch.mem_pool()
    assert [options for _, options in world.torch.memory_pools] == [{"use_on_oom": True}, {}]
    (allocator,) = warpheap.torch._of_mem_pools
    assert allocator.words == (str(BUILT), "wh_pool_torch_malloc", "wh_pool_torch_free")
    assert [own for own, _ in world.torch.memory_pools] == [allocator.allocator()] * 2
    assert world.extension.loads == []
    assert warpheap.torch.installed() is None


@needs_library
def test_pytorch_that_has_used_cuda_is_refused(world: World) -> None:
    world.torch.used = True
    for depth in warpheap.torch.DEPTHS:
        with pytest.raises(UsageError, match=r"call warpheap.torch.install\(\) first"):
            warpheap.torch.install(depth)
    assert world.extension.loads == []
    assert warpheap.torch.installed() is None


@pytest.mark.parametrize(
    ("depth", "text"), [("mem_pool", r"use warpheap.torch.mem_pool\(\)"), ("all", "use one of: full, symbols")]
)
def test_a_depth_that_is_unknown_is_refused(world: World, depth: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        warpheap.torch.install(depth)


@needs_library
@needs_compiler
def test_what_pytorch_says_is_passed_on(world: World) -> None:
    world.answer('"Can\'t swap an allocator\\nframe 1"')
    with pytest.raises(UsageError, match=r"did not take the allocator: Can't swap an allocator$"):
        warpheap.torch.install()
    assert warpheap.torch.installed() is None


@needs_library
@needs_compiler
def test_what_pytorch_says_may_be_nothing(world: World) -> None:
    world.answer('""')
    with pytest.raises(UsageError, match=r"did not take the allocator: it does not say why$"):
        warpheap.torch.install()


@needs_library
@needs_compiler
def test_another_allocator_that_is_installed_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(allocator: object) -> None:
        raise RuntimeError("Can't swap an already initialized allocator\nframe 1")

    monkeypatch.setattr(world.torch.cuda.memory, "change_current_allocator", refuse)
    with pytest.raises(UsageError, match=r"did not take the allocator: Can't swap an already initialized allocator$"):
        warpheap.torch.install("symbols")
    assert (warpheap.torch.installed(), warpheap.torch._kept) == (None, [])


@needs_library
@needs_compiler
def test_a_compiled_source_that_cannot_be_loaded_is_named(world: World) -> None:
    file = extension.build("allocator")
    file.write_bytes(b"no library")
    with pytest.raises(UsageError, match=r"wh_torch_allocator.so does not fit this PyTorch .*: remove it"):
        warpheap.torch.install()
    file.unlink()
    warpheap.torch.install()


@needs_library
@needs_compiler
def test_threads_install_once(world: World) -> None:
    threads = [threading.Thread(target=warpheap.torch.install) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.calls() == [f"install {BUILT}"]


def test_pytorch_without_cuda_is_named(world: World) -> None:
    world.torch.version.cuda = None
    for call in (warpheap.torch.install, warpheap.torch.mem_pool):
        with pytest.raises(UsageError, match=r"PyTorch 2.11.0\+cu130 is built without CUDA"):
            call()


def test_without_pytorch_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match="pip install torch"):
        warpheap.torch.mem_pool()


@needs_library
def test_without_a_gpu_the_reason_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    library = load_library("host")
    monkeypatch.setattr(library, "device_available", lambda: 0, raising=False)
    monkeypatch.setattr(library, "error_text", lambda: "there is no driver", raising=False)
    for call in (warpheap.torch.install, warpheap.torch.mem_pool):
        with pytest.raises(UsageError, match="no GPU answers: there is no driver"):
            call()


# --- Compiling --------------------------------------------------------------------------------------------------------


@needs_compiler
def test_each_version_has_a_library_of_its_own(world: World) -> None:
    first = extension.build("allocator")
    assert extension.build("allocator") == first
    assert len(world.extension.loads) == 1
    options = world.extension.loads[0]
    assert options["sources"] == [str(SOURCES / "allocator.cpp")]
    assert options["with_cuda"] is False and options["is_python_module"] is False
    assert options["extra_ldflags"] == ["-lc10_cuda", "-ltorch_cuda"]
    assert str(Path(world.extension.CUDA_HOME or "") / "include") in options["extra_include_paths"]
    world.torch.__version__ = "2.15.0"
    second = extension.build("allocator")
    assert second.parent.name.startswith("2.15.0-") and first.parent.name.startswith("2.11.0+cu130-")
    assert len(world.extension.loads) == 2
    left = {path.name for path in world.cache.rglob("*") if path.is_file()}
    assert left == {"wh_torch_allocator.so"}


@needs_compiler
def test_changed_sources_are_compiled_anew(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = tmp_path / "sources"
    shutil.copytree(SOURCES, copies)
    monkeypatch.setattr(extension, "HERE", copies)
    first = extension.build("symbols")
    with (copies / "pool_functions.hpp").open("a", encoding="utf-8") as file:
        file.write("// another\n")
    assert extension.build("symbols") != first


@needs_compiler
def test_an_error_of_the_compiler_is_said_and_leaves_nothing(world: World) -> None:
    world.source.write_text("this is no C;\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"allocator.cpp does not compile against this PyTorch.*error:") as raised:
        extension.build("allocator")
    assert "mem_pool() needs none" in str(raised.value)
    assert [path for path in world.cache.rglob("*") if path.is_file()] == []
    world.answer("0")
    assert extension.build("allocator").is_file()


def test_a_cache_that_cannot_be_written_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(extension.VARIABLE, str(world.source))  # a file
    with pytest.raises(UsageError, match=r"cannot be written .*: name another folder with WARPHEAP_CACHE"):
        extension.build("symbols")


def test_a_compiler_that_leaves_nothing_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.extension, "load", lambda *words, **options: None)
    with pytest.raises(UsageError, match=r"left no wh_torch_symbols\*.so"):
        extension.build("symbols")


def test_a_missing_ninja_is_said(world: World) -> None:
    world.extension.ninja = False
    with pytest.raises(UsageError, match="pip install ninja"):
        extension.build("symbols")


@needs_compiler
def test_headers_of_cuda_are_those_of_a_toolkit_or_of_packages(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.extension.CUDA_HOME = None
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(UsageError, match="set CUDA_HOME"):
        extension.cuda_include()
    assert extension.build("symbols").is_file()  # which uses none
    package = tmp_path / "nvidia" / "cu13" / "include"
    package.mkdir(parents=True)
    (package / "cuda_runtime_api.h").touch()
    assert extension.cuda_include() == package


def test_the_cache_is_where_the_user_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(extension.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/kept")
    assert extension.cache_folder() == Path("/kept/warpheap/torch")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert extension.cache_folder() == Path.home() / ".cache/warpheap/torch"


# --- The sources, against PyTorch itself ------------------------------------------------------------------------------


def torch_folders() -> list[Path]:
    """Folders of PyTorch with headers of CUDA: the one installed, and those that WARPHEAP_TORCH_FOLDERS names."""
    found = importlib.util.find_spec("torch")
    own = list(found.submodule_search_locations or ()) if found is not None else []
    named = os.environ.get("WARPHEAP_TORCH_FOLDERS", "")
    folders = [Path(name) for name in (*own, *filter(None, named.split(os.pathsep)))]
    return [each for each in folders if (each / "include/torch/csrc/cuda/CUDAPluggableAllocator.h").is_file()]


def toolkit_include() -> Path | None:
    compiler = shutil.which("nvcc")
    folder = Path(compiler).resolve().parents[1] / "include" if compiler else None
    return folder if folder is not None and (folder / "cuda_runtime_api.h").is_file() else None


TORCH = torch_folders()


def compiled(torch: Path, source: Path, file: Path, *more: str) -> None:
    include = toolkit_include()
    folders = [f"-I{REPOSITORY / 'include'}", f"-I{SOURCES}", "-isystem", f"{torch / 'include'}"]
    folders += ["-isystem", str(include)] if include is not None else []
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    library = [f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}", "-lc10", *more, "-ldl"]
    command = ["c++", *flags, *folders, str(source), "-o", str(file), *library]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not TORCH, reason="no PyTorch with headers of CUDA was found")
@pytest.mark.skipif(toolkit_include() is None, reason="no CUDA toolkit was found")
@pytest.mark.parametrize("torch", TORCH, ids=str)
def test_the_allocator_compiles_and_links(torch: Path, tmp_path: Path) -> None:
    libraries = ["-lc10_cuda", "-ltorch_cuda", "-ltorch_cpu"]
    file = tmp_path / "allocator.so"
    compiled(torch, SOURCES / "allocator.cpp", file, "-shared", "-fPIC", *libraries)
    shown = subprocess.run(["nm", "-D", "--defined-only", file], check=True, capture_output=True, text=True).stdout
    assert "wh_torch_install" in shown


@pytest.mark.skipif(not TORCH, reason="no PyTorch with headers of CUDA was found")
@pytest.mark.parametrize("torch", TORCH, ids=str)
def test_the_functions_write_no_stream(torch: Path, tmp_path: Path) -> None:
    """A stream asks the locale of the process, which may be of another library of C++ than the extension's."""
    file = tmp_path / "symbols.so"
    compiled(torch, SOURCES / "symbols.cpp", file, "-shared", "-fPIC")
    shown = subprocess.run(["nm", "-DC", file], check=True, capture_output=True, text=True).stdout
    assert "wh_torch_malloc" in shown
    assert not [line for line in shown.splitlines() if "ostream" in line or "locale" in line]


PROBE = """
#include "symbols.cpp"
#include <cstdio>
#include <cstring>
int main(int, char** words) {
  if (wh_torch_open("/nowhere/lib.so") == nullptr || wh_torch_open(words[1]) != nullptr) return 1;
  if (wh_torch_malloc(0, 0, nullptr) != nullptr) return 2;
  void* block = wh_torch_malloc(1000, 0, nullptr);
  if (block == nullptr) return 3;
  std::memset(block, 7, 1000);
  wh_torch_record_stream(block, &block);
  int foreign = 0;
  wh_torch_record_stream(&foreign, &block);
  wh_torch_free(block, 1000, 0, nullptr);
  wh_torch_empty_cache();
  try {
    wh_torch_malloc(static_cast<std::ptrdiff_t>(1) << 60, 0, nullptr);
    return 4;
  } catch (const c10::OutOfMemoryError& error) {
    std::printf("%s\\n", error.what_without_backtrace());
  }
  try {
    wh_torch_malloc(10, 77, nullptr);
    return 5;
  } catch (const c10::OutOfMemoryError&) {
    return 6;
  } catch (const c10::Error& error) {
    std::printf("%s\\n", error.what_without_backtrace());
  }
  return 0;
}
"""


@needs_library
@pytest.mark.skipif(not TORCH, reason="no PyTorch with headers of CUDA was found")
@pytest.mark.parametrize("torch", TORCH, ids=str)
def test_the_symbols_throw_what_pytorch_throws(torch: Path, tmp_path: Path) -> None:
    source, program = tmp_path / "probe.cpp", tmp_path / "probe"
    source.write_text(PROBE, encoding="utf-8")
    compiled(torch, source, program)
    done = subprocess.run([program, str(BUILT)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done
    full, unknown = done.stdout.splitlines()
    assert full.startswith("CUDA out of memory. Tried to allocate 1152921504606846976 bytes on GPU 0: ")
    assert unknown.startswith("warpheap: ")
