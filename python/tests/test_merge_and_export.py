# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records of several machines in one, and records as CSV files."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished
from records import measure, record, single

from warpheap.record import read_records, write_records

Command = Callable[..., Finished]


def test_records_of_two_machines_and_their_descriptions_come_together(warpheap: Command, tmp_path: Path) -> None:
    for name, device in (("one", "GPU 1"), ("two", "GPU 2")):
        (tmp_path / name).mkdir()
        write_records(tmp_path / name / "survey.jsonl", [record(device=device), record(device=device, size=64)])
        (tmp_path / name / "machine.json").write_text(json.dumps({"gpu": f"{device}, 700 W"}))
    out = tmp_path / "both" / "survey.jsonl"
    done = warpheap("merge", out, tmp_path / "one", tmp_path / "two" / "survey.jsonl")
    assert done.code == 0, done.err
    assert "4 records of GPU 1, GPU 2" in done.out
    assert {each["device"] for each in read_records(out)} == {"GPU 1", "GPU 2"}
    machines = json.loads((tmp_path / "both" / "machine.json").read_text())
    assert [(each["device"], each["gpu"]) for each in machines] == [
        ("GPU 1", "GPU 1, 700 W"),
        ("GPU 2", "GPU 2, 700 W"),
    ]
    page = warpheap("report", out, "--out", tmp_path / "page.html")
    assert page.code == 0, page.err
    text = (tmp_path / "page.html").read_text()
    assert "GPU 1, 700 W" in text
    assert "GPU 2, 700 W" in text


def test_a_folder_stands_for_the_record_in_it(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "survey.jsonl", [record(size=size) for size in (16, 64)])
    for words in (("report",), ("export", "--out", tmp_path / "csv"), ("plot", "--out", tmp_path / "picture.png")):
        done = warpheap(words[0], tmp_path, *words[1:])
        assert done.code == 0, done.err
    names = {"csv", "picture.png", "report.html", "survey.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_of_the_same_case_the_newest_is_kept(warpheap: Command, tmp_path: Path) -> None:
    for name, time in (("old", "2026-01-01T00:00:00Z"), ("new", "2026-02-01T00:00:00Z")):
        write_records(tmp_path / f"{name}.jsonl", [record(time=time)])
    done = warpheap("merge", tmp_path / "out.jsonl", tmp_path / "new.jsonl", tmp_path / "old.jsonl")
    assert "1 older" in done.out
    (kept,) = read_records(tmp_path / "out.jsonl")
    assert kept["time"].startswith("2026-02")
    # What is there is not written over by mistake.
    done = warpheap("merge", tmp_path / "out.jsonl", tmp_path / "old.jsonl")
    assert done.code == 2
    assert "is there already" in done.err
    assert warpheap("merge", tmp_path / "out.jsonl", tmp_path / "old.jsonl", "--force").code == 0


def test_a_file_beside_the_record_is_left_alone(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", [record()])
    beside = tmp_path / "all.draft"
    beside.write_text("a letter\n")
    assert warpheap("merge", tmp_path / "all.jsonl", tmp_path / "a.jsonl").code == 0
    assert beside.read_text() == "a letter\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.jsonl", "all.draft", "all.jsonl"]


def test_a_record_that_cannot_be_written_leaves_the_old_one_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    write_records(path, [record()])
    before = path.read_text()
    unwritable: Any = {"case": object()}
    with pytest.raises(TypeError):
        write_records(path, [unwritable])
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_brackets_in_a_path_are_no_markup(warpheap: Command, tmp_path: Path) -> None:
    done = warpheap("merge", tmp_path / "out.jsonl", tmp_path / "[" / "old]" / "a.jsonl")
    assert done.code == 2
    assert "/[/old]/a.jsonl" in done.err
    folder = tmp_path / "[" / "old]"
    folder.mkdir(parents=True)
    write_records(folder / "a.jsonl", [record()])
    done = warpheap("merge", folder / "all.jsonl", folder / "a.jsonl")
    assert done.code == 0, done.err
    assert "/[/old]/all.jsonl" in done.out


def test_bad_input_of_merge_and_export_is_one_line(warpheap: Command, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", [record()])
    (tmp_path / "newer.jsonl").write_text('{"schema": 3}\n')
    for words in (
        ("merge", tmp_path / "out.jsonl", tmp_path / "nowhere.jsonl"),
        ("merge", tmp_path / "out.jsonl", tmp_path / "newer.jsonl"),
        ("merge", tmp_path / "a.jsonl" / "below.jsonl", tmp_path / "a.jsonl"),
        ("export", tmp_path / "newer.jsonl", "--out", tmp_path / "csv"),
        ("export", tmp_path / "a.jsonl", "--out", tmp_path / "a.jsonl"),
    ):
        done = warpheap(*words)
        assert done.code == 2, words
        assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out.jsonl").exists()


@pytest.fixture
def exported(warpheap: Command, tmp_path: Path) -> Callable[..., dict[str, list[list[str]]]]:
    def make(*records: dict[str, Any]) -> dict[str, list[list[str]]]:
        write_records(tmp_path / "survey.jsonl", records)
        done = warpheap("export", tmp_path / "survey.jsonl", "--out", tmp_path / "csv")
        assert done.code == 0, done.err
        return {
            path.name: list(csv.reader(path.read_text().splitlines(), skipinitialspace=True))
            for path in (tmp_path / "csv").rglob("*.csv")
        }

    return make


HEADER = ["AllocationSize (in Byte)", "mean", "std-dev", "min", "max", "median"]


def test_throughput_has_the_original_names_columns_and_milliseconds(exported: Callable[..., Any]) -> None:
    sizes = [record(size=64), record(size=4, status="timeout"), record(size=8192, measures={"malloc": measure(2000)})]
    files = exported(*sizes, record(mode="mixed", size=64), record(mode="warp"))
    assert files["perf_alloc_bump_10000_4-8192.csv"] == [
        HEADER,
        ["4", "", "", "", "", ""],
        ["64", "0.0075", "", "0.007125", "0.007875", "0.0075"],
        ["8192", "2", "", "1.9", "2.1", "2"],
    ]
    assert [row[0] for row in files["perf_free_bump_10000_4-8192.csv"]] == [HEADER[0], "4", "64", "8192"]
    assert files["perf_mixed_alloc_bump_10000_64-64.csv"][0][0] == "AllocationRange (in Byte)"
    assert files["perf_mixed_alloc_bump_10000_64-64.csv"][1][0] == "4-64"
    assert "warp_perf_alloc_bump_10000_16-16.csv" in files
    assert files["failures.csv"][1][-2:] == ["timeout", "it hung"]
    # Everything is in the long table too.
    row = dict(zip(*files["measures.csv"][:2], strict=True))
    assert (row["case"], row["size"], row["measure"], row["unit"], row["median"]) == (
        "throughput", "64", "malloc", "us", "7.5",
    )  # fmt: skip


def test_scaling_and_latency_and_the_rest(exported: Callable[..., Any]) -> None:
    heap = {"heap_bytes": 8 << 30}
    series = {
        name: {"unit": "ratio", "values": values} for name, values in (("range", [1, 2]), ("total_range", [1, 3]))
    }
    files = exported(
        record(case="scaling", threads=1),
        record(case="scaling", threads=1024),
        record(case="latency", measures={"malloc": measure(900, unit="cycles")}),
        record(case="fragmentation", measures={"range": single(1.5)}, series=series),
        record(case="out_of_memory", size=1024, threads=1024, **heap, measures={"share": single(0.5, better="higher")}),
        record(case="registers", measures={"malloc_registers": single(40), "free_registers": None}),
        record(case="initialisation", **heap, measures={"construct": measure(2500)}),
        record(case="work_generation", mode="mixed", size=64, measures={"generate": measure(), "baseline": measure(3)}),
        record(case="memory_access", mode="mixed", size=128, measures={"write": measure(), "packed_write": measure(3)}),
    )
    assert [row[0] for row in files["scale_alloc_bump_16_1-1024.csv"]] == ["NumThreads", "1", "1024"]
    assert files["cycles_perf_alloc_bump_10000_16-16.csv"][1] == ["16", "900", "", "855", "945", "900"]
    assert files["frag_bump_10000_16-16.csv"] == [
        ["AllocationSize (in Byte)", "range", "static range", "range", "static range"],
        ["16", "160000", "160000", "320000", "480000"],
    ]
    assert files["oom_bump_1024_1024-1024.csv"][1] == ["1024", "4096"]
    assert files["reg_bump.csv"] == [["Malloc-Kernel Registers", "Free-Kernel Registers"], ["40", ""]]
    assert files["init_bump_8.csv"][1] == [str(8 << 30), "", "2.5"]
    assert files["synth_bump_10000-10000_4-64.csv"][1][0] == "10000"
    assert files["synth_BaseLine_10000-10000_4-64.csv"][1][-1] == "0.003"
    assert files["synth_write_bump_10000-10000_16-128.csv"][1][-1] == "0.0075"
    assert files["synth_write_BaseLine_10000-10000_16-128.csv"][1][-1] == "0.003"


def test_host_times_are_not_exported(exported: Callable[..., Any]) -> None:
    host = {"backend": "host", "device": "CPU"}
    files = exported(record(**host), record(**host, case="registers", measures={"malloc_registers": single(40)}))
    assert set(files) == {"reg_bump.csv", "measures.csv", "failures.csv"}
    assert [row[11] for row in files["measures.csv"]] == ["measure", "malloc_registers"]


def test_each_device_has_a_folder_of_its_own(exported: Callable[..., Any], tmp_path: Path) -> None:
    exported(record(), record(device="NVIDIA H200"))
    assert {path.name for path in (tmp_path / "csv").iterdir()} == {"fake_gpu", "nvidia_h200"}
