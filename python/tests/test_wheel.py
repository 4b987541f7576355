# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A package that a wheel brought: where it finds its files, and how it builds the driver on first use."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import warpheap
from warpheap import builds, device_code, devices, project
from warpheap.errors import UsageError
from warpheap.experiments.driver import Driver as ExperimentDriver
from warpheap.fingerprints import fingerprint
from warpheap.heaps.library import find_library

# Writes its words into `calls`, and makes the targets that it is asked for; `make` as CMake, it fails once told to.
CMAKE = """#!{python}
import os, shutil, sys
from pathlib import Path
here = Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if (here / "fails").exists():
    print("x.cpp:1: error: the compiler does not like it", file=sys.stderr)
    sys.exit(1)
if sys.argv[1] == "--build":
    folder = Path(sys.argv[2]) / "bin"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[sys.argv.index("--target") + 1:]:
        shutil.copy(here / "driver", folder / name) if (here / "driver").exists() else (folder / name).touch()
"""
ANSWERS = "#!/bin/sh\necho '{text}'\n"


def tool(path: Path, text: str) -> Path:
    """A program with that text."""
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a wheel brings along, in the place of this package's."""
    made = tmp_path / "site" / "tree"
    for name in (
        "CMakePresets.json",
        "include/warpheap.hpp",
        "src/device/shims.cu",
        "benchmarks/trace/one.trace",
        "lib/libwarpheap_heap_host.so",
        "lib/cmake/warpheap/warpheapConfig.cmake",
        "lib/warpheap_device.fatbin",
    ):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name, encoding="utf-8")
    (made / "lib" / "warpheap_device.fingerprint").write_text(fingerprint(made, "device") + "\n", encoding="ascii")
    monkeypatch.setattr(project, "_TREE", made)
    monkeypatch.delenv(device_code.VARIABLE, raising=False)
    device_code._fingerprint_of.cache_clear()
    return made


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a CMake and a compiler that only seem to work, the only ones on the PATH; and an empty cache."""
    folder = tmp_path / "tools"
    folder.mkdir()
    tool(folder / "cmake", CMAKE.format(python=sys.executable))
    tool(folder / "ninja", "#!/bin/sh\n")
    tool(folder / "c++", ANSWERS.format(text="compiler 12"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv(builds.VARIABLE, str(tmp_path / "cache"))
    for name in ("CXX", "CUDACXX"):
        monkeypatch.delenv(name, raising=False)
    return folder


def calls(tools: Path) -> list[str]:
    """The words that CMake was called with."""
    file = tools / "calls"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


# --- Where everything is ----------------------------------------------------------------------------------------------


def test_files_are_those_of_the_wheel(tree: Path) -> None:
    assert warpheap.include() == tree / "include"
    assert warpheap.cmake() == tree / "lib" / "cmake" / "warpheap"
    assert find_library("host") == tree / "lib" / "libwarpheap_heap_host.so"
    assert find_library("cuda") is None
    assert device_code.library("device") == tree / "lib" / "warpheap_device.fatbin"
    assert project.shipped_traces() == ["one"]


def test_a_checkout_has_no_cmake_package() -> None:
    with pytest.raises(UsageError, match="add_subdirectory"):
        warpheap.cmake()


def test_a_device_library_of_other_headers_is_refused(tree: Path) -> None:
    (tree / "include" / "warpheap.hpp").write_text("of another state", encoding="utf-8")
    device_code._fingerprint_of.cache_clear()
    with pytest.raises(UsageError, match=r"warpheap_device\.fatbin is of other sources .*--target warpheap_device"):
        device_code.library("device")


def test_a_device_library_that_does_not_say_its_sources_is_refused(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(device_code.VARIABLE, str(tmp_path))
    (tmp_path / "warpheap_device.fatbin").touch()
    with pytest.raises(UsageError, match="is of other sources"):
        device_code.library("device")
    (tmp_path / "warpheap_device.fingerprint").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is of other sources"):
        device_code.library("device")
    (tmp_path / "warpheap_device.fingerprint").write_text(fingerprint(tree, "device"), encoding="ascii")
    assert device_code.library("device") == tmp_path / "warpheap_device.fatbin"


def test_of_two_builds_the_current_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(device_code.VARIABLE, raising=False)
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder in folders:
        folder.mkdir()
        (folder / "warpheap_device.fatbin").touch()
        (folder / "warpheap_device.fingerprint").write_text("0" * 64, encoding="ascii")
    current = fingerprint(Path(__file__).parents[2], "device")
    (folders[1] / "warpheap_device.fingerprint").write_text(current, encoding="ascii")
    monkeypatch.setattr(device_code, "library_folders", lambda presets: folders)
    device_code._fingerprint_of.cache_clear()
    assert device_code.library("device") == folders[1] / "warpheap_device.fatbin"


# --- The driver, on first use -----------------------------------------------------------------------------------------


def test_a_checkout_builds_nothing(tools: Path) -> None:
    assert builds.find_program("warpheap_bench_host", "host") is None
    assert calls(tools) == []


def test_a_program_is_built_once(tree: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = builds.find_program("warpheap_bench_host", "host")
    assert first is not None and first.is_file()
    assert "building warpheap_bench_host, once" in capsys.readouterr().err
    configure, build = calls(tools)
    assert f"-S {tree} " in configure and "-DWARPHEAP_CUDA=OFF" in configure
    assert build.endswith("--target warpheap_bench_host")
    assert builds.find_program("warpheap_bench_host", "host") == first
    assert len(calls(tools)) == 2
    assert capsys.readouterr().err == ""


CHANGED_FILES = {
    "sources": "src/device/shims.cu",
    "root": "CMakeLists.txt",
    "presets": "CMakePresets.json",
    "functions": "cmake/deep/options.cmake",
}


@pytest.mark.parametrize("what", [*CHANGED_FILES, "compiler"])
def test_a_program_of_something_else_is_built_anew(tree: Path, tools: Path, what: str) -> None:
    (tree / "cmake" / "deep").mkdir(parents=True, exist_ok=True)
    for name in CHANGED_FILES.values():
        (tree / name).write_text("as it was", encoding="utf-8")
    first = builds.find_program("warpheap_bench_host", "host")
    assert builds.find_program("warpheap_bench_host", "host") == first
    if what in CHANGED_FILES:
        (tree / CHANGED_FILES[what]).write_text("changed", encoding="utf-8")
    else:
        tool(tools / "c++", ANSWERS.format(text="compiler 13"))
    second = builds.find_program("warpheap_bench_host", "host")
    assert first is not None and second is not None
    assert second != first
    assert first.is_file()


def test_a_build_that_fails_is_told_and_tried_again(tree: Path, tools: Path) -> None:
    (tools / "fails").touch()
    with pytest.raises(UsageError, match=r"the compiler does not like it; the whole log is .*build\.log"):
        builds.find_program("warpheap_bench_host", "host")
    (tools / "fails").unlink()
    assert builds.find_program("warpheap_bench_host", "host") is not None


def test_a_build_that_was_cut_short_does_not_count(tree: Path, tools: Path) -> None:
    first = builds.find_program("warpheap_bench_host", "host")
    assert first is not None
    (first.parents[1] / "built.warpheap_bench_host").unlink()
    builds.find_program("warpheap_bench_host", "host")
    assert len(calls(tools)) == 4


def test_what_is_missing_is_named(tree: Path, tools: Path) -> None:
    (tools / "ninja").unlink()
    (tools / "c++").unlink()
    with pytest.raises(UsageError, match=r"lacks ninja or make, c\+\+ \(or the environment variable CXX\)"):
        builds.find_program("warpheap_bench_host", "host")


def test_a_program_for_a_gpu_is_built_for_those_of_the_machine(
    tree: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = tool(tools / "other_nvcc", ANSWERS.format(text="release 13.0"))
    monkeypatch.setenv("CUDACXX", str(nvcc))
    with pytest.raises(UsageError, match="nvidia-smi names none"):
        builds.find_program("warpheap_bench_cuda", "cuda")
    assert not builds.prefers_gpu()
    tool(tools / "nvidia-smi", "#!/bin/sh\necho 9.0\necho 12.0\necho 9.0\n")
    assert builds.prefers_gpu()
    builds.find_program("warpheap_bench_cuda", "cuda", "warpheap_footprints")
    configure, build = calls(tools)
    assert "-DWARPHEAP_CUDA_ARCHITECTURES=120;90" in configure
    assert f"-DCMAKE_CUDA_COMPILER={nvcc}" in configure
    assert build.endswith("--target warpheap_bench_cuda warpheap_footprints")


@pytest.mark.parametrize(("name", "variable"), [("c++", None), ("g++", None), ("of_nvcc", "CUDAHOSTCXX")])
def test_another_host_compiler_makes_another_program_for_a_gpu(
    tree: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str | None
) -> None:
    tool(tools / "nvcc", ANSWERS.format(text="release 13.0"))
    tool(tools / "nvidia-smi", "#!/bin/sh\necho 9.0\n")
    compiler = tool(tools / name, ANSWERS.format(text="compiler 12"))
    for each in ("CUDAHOSTCXX", "NVCC_CCBIN"):
        monkeypatch.delenv(each, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, str(compiler))
    first = builds.find_program("warpheap_bench_cuda", "cuda")
    assert builds.find_program("warpheap_bench_cuda", "cuda") == first
    tool(compiler, ANSWERS.format(text="compiler 13"))
    assert builds.find_program("warpheap_bench_cuda", "cuda") != first


def test_one_process_builds_while_others_wait(tree: Path, tools: Path) -> None:
    other = (
        "import sys; from pathlib import Path; from warpheap import builds, project; "
        "project._TREE = Path(sys.argv[1]); print(builds.find_program('warpheap_bench_host', 'host'))"
    )
    slow = (
        (tools / "cmake").read_text(encoding="utf-8").replace("import os,", "import time; time.sleep(0.5)\nimport os,")
    )
    tool(tools / "cmake", slow)
    environment = os.environ | {"PYTHONPATH": str(Path(warpheap.__file__).parents[1])}
    processes = [
        subprocess.Popen([sys.executable, "-c", other, tree], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert len(set(said)) == 1 and "warpheap_bench_host" in said[0]
    assert len(calls(tools)) == 2


def test_the_survey_takes_the_driver_that_it_builds(tree: Path, tools: Path, fake_driver: Callable[..., Path]) -> None:
    fake_driver(backend="host").rename(tools / "driver")
    driver = devices.find_driver(None, "auto")
    assert driver.backend == "host"
    assert driver.path.is_relative_to(tools.parent / "cache")


def test_an_experiment_takes_the_driver_that_it_builds(tree: Path, tools: Path) -> None:
    found = ExperimentDriver("warpheap_sync_bench", ("--help",)).find(None, "auto")
    assert found.name == "warpheap_sync_bench_host" and found.is_relative_to(tools.parent / "cache")
