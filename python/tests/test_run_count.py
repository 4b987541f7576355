# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run --mode count`: programs do what they do without it, and their calls are counted."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from interposed import LIBRARY, SOURCES, Laboratory, needs_library, preloaded, split

pytestmark = needs_library

# Each kind of memory, a refusal, an unknown pointer and null.
STEPS = split(
    "take:1000 take:24 pitch:100:3 managed:40 host:50 host-flags:60 async:70 pool:80 create:90 take:0 take:99999999999"
    " retain:8 info give:0 give:1 give:2 give:3 give-host:4 give-host:5 give-async:6 give-async:7 release:8 release:8"
    " give-address:4660 give-address:0 give:1 take:7 range:12:3 info"
)
WAYS = ("everywhere", "opened", "table", "first-table", "thread-table")


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("run"))


@pytest.fixture(params=[(), ("--audit",)], ids=["preload", "audit"])
def way_in(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param


def program(laboratory: Laboratory, way: str) -> Path:
    return {"linked": laboratory.linked, "everywhere": laboratory.with_driver}.get(way, laboratory.program)


@pytest.mark.parametrize("way", ("linked", *WAYS))
@pytest.mark.parametrize("mode", ["count", "check", "trace"])
def test_programs_and_the_driver_see_no_difference(
    laboratory: Laboratory, way_in: tuple[str, ...], way: str, mode: str, tmp_path: Path
) -> None:
    command = (program(laboratory, way), way, *STEPS)
    alone = laboratory.alone(*command)
    assert alone.code == 0
    run = laboratory.run(*command, options=(*way_in, "--mode", mode, "--out", tmp_path / "out"))
    assert run.code == 0, run.said
    assert run.said == ""
    if mode == "check":  # red zones are the driver's to give
        zones = {"cuMemAlloc_v2 1256": "cuMemAlloc_v2 1000", "cuMemAlloc_v2 280": "cuMemAlloc_v2 24"}
        zones["cuMemAlloc_v2 263"] = "cuMemAlloc_v2 7"
        free = [line for line in alone.printed.splitlines() if not line.endswith("info 0")]
        assert [line for line in run.printed.splitlines() if not line.endswith("info 0")] == free
        assert {zones.get(line, line).split()[0] for line in run.asked} == {line.split()[0] for line in alone.asked}
        assert set(zones) <= set(run.asked)
    else:
        assert run.printed == alone.printed
        assert run.asked == alone.asked


@pytest.mark.parametrize("way", ("linked", *WAYS))
def test_calls_and_memory_are_counted(laboratory: Laboratory, way_in: tuple[str, ...], way: str) -> None:
    end = laboratory.run(program(laboratory, way), way, *STEPS, options=way_in)
    calls = {name: numbers[1:] for name, numbers in end.calls().items() if numbers[1] != 0}
    suffix = "_ptsz" if way == "thread-table" else ""
    assert calls.pop("cuGetProcAddress_v2", [0])[0] == (20 if way in ("table", "thread-table") else 0)
    assert calls.pop("cuGetProcAddress", [0])[0] == (19 if way == "first-table" else 0)
    assert calls == {
        "cuMemAlloc_v2": [5, 2, 1031],
        "cuMemAllocPitch_v2": [1, 0, 1536],
        "cuMemAllocManaged": [1, 0, 40],
        "cuMemFree_v2": [7, 2, 1000 + 24 + 1536 + 40],
        "cuMemGetAddressRange_v2": [1, 0, 0],
        f"cuMemAllocAsync{suffix}": [1, 0, 70],
        f"cuMemAllocFromPoolAsync{suffix}": [1, 0, 80],
        f"cuMemFreeAsync{suffix}": [2, 0, 150],
        "cuMemAllocHost_v2": [1, 0, 50],
        "cuMemHostAlloc": [1, 0, 60],
        "cuMemFreeHost": [2, 0, 110],
        "cuMemCreate": [1, 0, 90],
        "cuMemRetainAllocationHandle": [1, 0, 0],
        "cuMemRelease": [2, 0, 90],
        "cuMemGetInfo_v2": [2, 0, 0],
    }
    assert end.memory() == {
        "device": [1, 7, 2560],
        "managed": [0, 0, 40],
        "stream": [0, 0, 150],
        "host": [0, 0, 110],
        "physical": [0, 0, 90],
    }


def test_what_a_program_looks_up_is_told(laboratory: Laboratory) -> None:
    looked_up = {
        way: {name: numbers[0] for name, numbers in laboratory.run(program(laboratory, way), way).calls().items()}
        for way in ("linked", *WAYS)
    }
    assert looked_up["linked"] == {}
    assert looked_up["opened"]["cuMemAlloc_v2"] == 1 and "cuGetProcAddress_v2" not in looked_up["opened"]
    assert looked_up["opened"].keys() == looked_up["everywhere"].keys()
    assert looked_up["opened"]["cuMemGetInfo_v2"] == 1
    assert looked_up["table"]["cuGetProcAddress_v2"] == 2
    assert looked_up["first-table"]["cuGetProcAddress"] == 1
    assert "cuMemFreeAsync" in looked_up["table"] and "cuMemFreeAsync_ptsz" not in looked_up["table"]
    assert "cuMemFreeAsync_ptsz" in looked_up["thread-table"] and "cuMemFreeAsync" not in looked_up["thread-table"]


def test_a_driver_that_runs_out_of_memory_says_so(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:3000 take:2000 take:1000 give:0 take:4000")
    end = laboratory.run(laboratory.program, "table", *steps, options=way_in, STAND_IN_BYTES="5500")
    assert end.printed.split() == split("take 0 take 0 take 2 give 0 take 2")
    assert end.calls()["cuMemAlloc_v2"] == [1, 4, 2, 5000]


@pytest.mark.parametrize("way", ["table", "opened", "everywhere"])
def test_a_function_that_the_driver_does_not_have_stays_away(
    laboratory: Laboratory, way_in: tuple[str, ...], way: str
) -> None:
    command = (program(laboratory, way), way, "has", "error", "take:10")
    alone = laboratory.alone(*command, driver=laboratory.old_driver)
    assert alone.printed.split() == ["has", "0", "error", "3", "take", "0"]
    end = laboratory.run(*command, options=way_in, driver=laboratory.old_driver)
    assert (end.code, end.printed) == (alone.code, alone.printed)
    assert "cuMemAllocAsync" not in end.calls()


def test_a_linked_function_that_the_driver_does_not_have_is_an_error(laboratory: Laboratory) -> None:
    end = laboratory.run(laboratory.linked, "linked", "async:10", "take:10", driver=laboratory.old_driver)
    assert end.printed.split() == ["async", "500", "take", "0"]


def test_forms_of_other_versions_are_the_drivers_own(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run(laboratory.program, "table", "later:100", "older:200", "missing", "give:0", options=way_in)
    assert end.printed.split() == ["later", "0", "older", "0", "missing", "1", "give", "0"]
    assert end.asked == ["cuMemAlloc_v9 100", "cuMemAlloc 200", "cuMemFree_v2"]
    assert end.calls()["cuMemAlloc_v2"][1] == 0
    assert "frees of memory that was taken out of sight: 1\n" in end.said


def test_a_free_that_the_driver_refuses_leaves_the_block_live(laboratory: Laboratory) -> None:
    end = laboratory.run(laboratory.program, "table", "take:40", "capture", "give:0", "end-capture", "take:2")
    assert end.memory()["device"] == [2, 42, 42]
    assert end.calls()["cuMemFree_v2"][1:] == [1, 1, 0]


def test_functions_of_other_libraries_are_left_alone(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    laboratory.shared("stand_in_driver.c", "driver/libother.so")
    command = (laboratory.program, "impostor", "take:10", "give:0", "give:0")
    end = laboratory.run(*command, options=way_in)
    assert end == laboratory.alone(*command)


def test_two_threads_are_counted(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    # Without a log the driver is quick, and the threads are at each other's heels.
    end = laboratory.run(laboratory.program, "table", "threads:500000", options=way_in, STAND_IN_LOG="")
    assert (end.code, end.printed) == (0, "threads 0\n")
    assert end.calls()["cuMemAlloc_v2"][1:] == [4000000, 0, 256000000]
    assert end.calls()["cuMemFree_v2"][1:] == [4000000, 0, 256000000]
    live, held, most = end.memory()["device"]
    assert (live, held) == (0, 0) and 256 <= most <= 512
    assert "out of sight" not in end.said


def test_many_live_blocks_are_counted(laboratory: Laboratory) -> None:
    steps = split("take:10 many:10000 take:20 many:20000")
    end = laboratory.run(laboratory.program, "opened", *steps, STAND_IN_LOG="")
    assert end.printed.split()[1::2] == ["0"] * 4
    assert end.memory()["device"] == [2, 30, 640030]
    assert end.calls()["cuMemFree_v2"][1:] == [30000, 0, 960000]
    assert "out of sight" not in end.said


def test_a_forked_child_reports_its_own_calls(laboratory: Laboratory, way_in: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = split("take:10 take:20 fork take:30 give:0")
    end = laboratory.run(laboratory.program, "opened", *steps, options=(*way_in, "--out", out))
    assert end.code == 0
    reports = out.read_text().split("warpheap run[")[1:]
    assert len({text.split("]")[0] for text in reports}) == len(reports) == 2
    counted = sorted(line.split() for text in reports for line in text.splitlines() if "cuMemAlloc_v2" in line)
    # Lookups are the parent's; the child begins with nothing.
    assert counted == [["cuMemAlloc_v2", "0", "1", "0", "30"], ["cuMemAlloc_v2", "1", "2", "0", "30"]]
    assert sum("out of sight: 1" in text for text in reports) == 1


def test_a_child_of_vfork_reports_nothing(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run(laboratory.program, "opened", "take:10", "vfork", "take:20", options=way_in)
    assert end.printed.split() == ["take", "0", "vfork", "3", "take", "0"]
    assert end.said.count("warpheap run[") == 1
    assert end.calls()["cuMemAlloc_v2"][1:] == [2, 0, 30]


@pytest.mark.parametrize(("how", "code"), [("exit:7", 7), ("_exit:8", 8), ("quick_exit:9", 9)])
def test_every_way_to_exit_has_its_report(laboratory: Laboratory, way_in: tuple[str, ...], how: str, code: int) -> None:
    end = laboratory.run(laboratory.program, "opened", "take:10", how, options=way_in)
    assert end.code == code
    assert end.printed == "take 0\n"
    assert end.calls()["cuMemAlloc_v2"][1:] == [1, 0, 10]


def test_a_signal_leaves_no_report(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run(laboratory.program, "opened", "take:10", "kill", options=way_in)
    assert (end.code, end.printed, end.said) == (-9, "take 0\n", "")


def test_a_program_without_cuda_has_no_report(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run("sh", "-c", "echo here; exit 4", options=way_in)
    assert (end.code, end.printed, end.said) == (4, "here\n", "")


def test_children_of_the_program_are_counted(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run("sh", "-c", f"{laboratory.program} opened take:10; exit 5", options=way_in)
    assert (end.code, end.printed) == (5, "take 0\n")
    assert end.calls()["cuMemAlloc_v2"][1:] == [1, 0, 10]


def test_a_reader_that_has_gone_ends_nobody(laboratory: Laboratory) -> None:
    assert LIBRARY is not None
    reader, writer = os.pipe()
    os.close(reader)
    variables = laboratory.variables(**preloaded(LIBRARY))
    command = [laboratory.program, "opened", "take:10", "exit:6"]
    # Python ignores the signal, and its children would.
    end = subprocess.run(
        command, env=variables, stderr=writer, stdout=subprocess.PIPE, restore_signals=True, timeout=60
    )
    os.close(writer)
    assert (end.returncode, end.stdout) == (6, b"take 0\n")


def test_a_file_that_has_the_number_of_stderr_is_left_alone(
    laboratory: Laboratory, way_in: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    end = laboratory.run(laboratory.program, "opened", "take:10", "reuse", options=way_in)
    assert (end.code, end.printed, end.said) == (0, "take 0\nreuse 0\n", "")
    assert (tmp_path / "own_file").read_text() == ""
    out = tmp_path / "out"
    end = laboratory.run(laboratory.program, "opened", "take:10", "reuse", options=(*way_in, "--out", out))
    assert "count of program" in out.read_text()
    assert (tmp_path / "own_file").read_text() == ""


def test_a_report_that_the_disk_does_not_take_is_told(laboratory: Laboratory) -> None:
    assert LIBRARY is not None
    variables = {**preloaded(LIBRARY), "WARPHEAP_RUN_OUT": "/dev/full"}
    end = laboratory.alone(laboratory.program, "opened", "take:10", "exit:6", **variables)
    assert (end.code, end.printed) == (6, "take 0\n")
    assert re.sub(r"\[\d+\]", "", end.said) == (
        "warpheap run: the report could not be written: error 28, no space is left on the disk\n"
    )


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("has_dlsym", [True, False])
def test_another_library_that_looks_functions_up_goes_on(laboratory: Laboratory, order: str, has_dlsym: bool) -> None:
    assert LIBRARY is not None
    options = ("-DHAS_DLSYM",) if has_dlsym else ()
    other = laboratory.compile("other_dlsym.c", f"other{has_dlsym}.so", "-shared", "-fPIC", *options)
    libraries = (other, LIBRARY) if order == "before" else (LIBRARY, other)
    command = (laboratory.program, "opened", "take:10", "give:0", "_exit:0")
    alone = laboratory.alone(*command, **preloaded(other))
    end = laboratory.alone(*command, **preloaded(*libraries))
    assert alone.code == 0
    assert (end.code, end.printed, end.asked) == (alone.code, alone.printed, alone.asked)
    # One that comes first and goes past this library is left alone, and its program is not counted.
    assert ("cuMemAlloc_v2" in end.calls()) == (not has_dlsym or order == "after")


def test_another_library_is_loaded_before_this_one(laboratory: Laboratory) -> None:
    other = laboratory.compile("other_dlsym.c", "another.so", "-shared", "-fPIC")
    end = laboratory.run(laboratory.program, "opened", "take:10", "exit:0", **preloaded(other))
    assert "the other library saw" in end.said
    assert end.calls()["cuMemAlloc_v2"][1:] == [1, 0, 10]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the PATH")
@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_cudas_runtime_gets_the_librarys_functions(
    laboratory: Laboratory, way_in: tuple[str, ...], runtime: str
) -> None:
    made = laboratory.folder / f"runtime_{runtime}"
    if not made.is_file():
        subprocess.run(["nvcc", "-cudart", runtime, "-o", made, SOURCES / "runtime.cu"], check=True, timeout=200)
    folders = [laboratory.driver.parent, *(Path(shutil.which("nvcc") or "").resolve().parents[1].glob("lib*"))]
    path = {"LD_LIBRARY_PATH": ":".join(map(str, folders))}
    alone = laboratory.alone(made, **path)
    assert alone.code == 0
    end = laboratory.run(made, options=way_in, **path)
    # The stand-in is no driver to it, and says so with and without the library.
    assert (end.code, end.printed, end.asked) == (alone.code, alone.printed, alone.asked)
    lookups = {name: numbers[0] for name, numbers in end.calls().items()}
    wanted = """cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged cuMemFree_v2 cuMemHostAlloc cuMemFreeHost
        cuMemAllocAsync cuMemAllocAsync_ptsz cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz cuMemFreeAsync
        cuMemFreeAsync_ptsz"""
    assert set(wanted.split()) <= lookups.keys()
    assert end.calls()["cuGetProcAddress_v2"][1] > 300


@pytest.mark.parametrize("mode", ["count", "check"])
def test_the_driver_can_be_closed_and_opened_again(laboratory: Laboratory, way_in: tuple[str, ...], mode: str) -> None:
    steps = split("take:10 give:0 reopen take:20 give:1")
    alone = laboratory.alone(laboratory.program, "opened", *steps)
    end = laboratory.run(laboratory.program, "opened", *steps, options=("--mode", mode, *way_in))
    assert (end.code, end.printed) == (0, alone.printed)


@pytest.mark.parametrize("mode", ["count", "trace"])
def test_blocks_end_with_their_context(
    laboratory: Laboratory, way_in: tuple[str, ...], mode: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    steps = split("take:1000 context:12288 take:50 managed:7 context:8192 take:30 reset:0 take:400 end-context:12288")
    end = laboratory.run(laboratory.program, "table", *steps, options=(*way_in, "--mode", mode, "--out", str(out)))
    assert end.code == 0
    if mode == "count":
        assert re.findall(r"^  (device|managed) +(\d+) +(\d+) +(\d+)$", out.read_text(), re.MULTILINE) == [
            ("device", "2", "430", "1080"),
            ("managed", "0", "0", "7"),
        ]
    else:
        ends = [line.split()[3:6] for line in out.read_text().splitlines()[1:] if " - " in line]
        assert sorted(ends) == [
            ["-", "1", "cuDevicePrimaryCtxReset_v2"], ["-", "2", "cuCtxDestroy_v2"], ["-", "3", "cuCtxDestroy_v2"],
        ]  # fmt: skip


def test_a_child_begins_anew_where_the_kernel_wipes_no_memory(
    laboratory: Laboratory, way_in: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # Looked up by name alone: by then nothing was noted.
    steps = split("refuse-wiping take:100 take:10 fork take:30")
    end = laboratory.run(laboratory.linked, "linked", *steps, options=(*way_in, "--out", str(out)))
    assert end.code == 0
    assert sorted(re.findall(r"^  device +(\d+) +(\d+) ", out.read_text(), re.MULTILINE)) == [("1", "30"), ("2", "110")]
