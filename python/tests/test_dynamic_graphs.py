# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `graph`: what it measures, what becomes of what fails, and what tables, figures and bars say."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HERE, Finished, program

from warpheap import cli, process
from warpheap.dynamic_graphs import measure
from warpheap.dynamic_graphs.figures import charts_of, limits_of
from warpheap.dynamic_graphs.run import Job, plan_of
from warpheap.dynamic_graphs.text import markdown_of
from warpheap.errors import UsageError
from warpheap.experiments.records import Record, read
from warpheap.graphs import write_csr
from warpheap.graphs.graph import Graph

GRAPH = "stand-in of delaunay_n20"


def times(median: float) -> dict[str, float | None]:
    return {"median": median, "median_low": None, "median_high": None, "min": median / 2, "max": median * 2, "count": 3}


def ran(case: str, subject: str, time: float, **more: Any) -> Record:
    record: Record = {"case": case, "subject": subject, "graph": GRAPH, "edges": 600, "vertices": 100,
                      "layout": "paged" if subject == "faim_graph" else "contiguous", "device": "Some GPU",
                      "backend": "cuda", "timing_comparable": True, "time_us": times(time), "status": "ok"}  # fmt: skip
    if case in ("update", "rebuild"):
        record["batch_edges"] = 100
    if case == "update":
        counts = {"offered": 300, "added": 290, "present": 5, "repeated": 4, "loops": 1, "refused": 0}
        record |= {"add_us": times(time * 0.6), "remove_us": times(time * 0.4), "add_counts": counts, "add_rate": 2e8}
        stages = {"sort": 15.0, "mark": 5.0, "allocate": 10.0, "move": 10.0, "settle": 10.0, "at_once": 0.0}
        record |= {"add_stages_us": stages, "remove_stages_us": dict.fromkeys(stages, 0.0)}
    if case == "init":
        record["memory"] = {"block_bytes": 4800}
    if case == "triangles":
        record["triangles"] = 200
    return record | more


RECORDS = [
    ran("init", "warp_slab", 10),
    ran("update", "warp_slab", 50),
    ran("pagerank", "warp_slab", 110, csr_us=times(100)),
    ran("triangles", "warp_slab", 140, csr_us=times(100)),
    ran("rebuild", "warp_slab", 400),
    ran("init", "faim_graph", 20, memory={"block_bytes": 9600}),
    ran("update", "faim_graph", 70),
    ran("pagerank", "faim_graph", 300, csr_us=times(104)),
    ran("triangles", "faim_graph", 500, csr_us=times(100)),
    ran("init", "cuda_alloc_graph", 6000),
]


def by_title(words: str, records: list[Record] = RECORDS) -> Any:
    return next(each for each in limits_of(records) if words in each.title)


def test_a_panel_for_each_graph_has_a_bar_for_each_system() -> None:
    charts = {chart.name: chart for chart in charts_of(RECORDS)}
    panel = charts["init"].panels[0]
    assert panel.title == GRAPH + ", 100 vertices"
    assert [(bar.allocator, bar.point.y) for bar in panel.bars] == [
        ("warp_slab", 10), ("faim_graph", 20), ("cuda_alloc_graph", 6000),
    ]  # fmt: skip
    assert [bar.point.y for bar in charts["memory"].panels[0].bars] == [8, 16, 8]
    assert (charts["update-add"].panels[0].reference, charts["pagerank"].panels[0].reference) == (400, 100)
    assert "delete" not in charts


def test_the_bars_are_judged_for_contiguous_lists_alone() -> None:
    assert (by_title("PageRank").value, by_title("PageRank").verdict) == (pytest.approx(1.1), "met")
    assert (by_title("triangle").value, by_title("triangle").verdict) == (pytest.approx(1.4), "missed")
    assert (by_title("cuda_alloc_graph").value, by_title("cuda_alloc_graph").verdict) == (600, "met")
    assert by_title("wrong").measured == "not measured"
    assert by_title("wrong", [*RECORDS, ran("init", "bulk", 1, verified=True)]).verdict == "met"
    wrong = {**ran("init", "bulk", 1), "status": "failed", "reason": "a list is wrong", "verified": False}
    assert by_title("wrong", [*RECORDS, wrong]).verdict == "missed"
    host = [each | {"timing_comparable": False} for each in RECORDS]
    assert by_title("triangle", host).verdict == ""
    assert "they mean nothing" in markdown_of(host, "./run graph")


def test_memory_is_judged_on_roads_alone() -> None:
    assert by_title("roads").measured == "not measured"
    road = {"graph": "stand-in of luxembourg_osm"}
    records = [ran("init", "faim_graph", 1, memory={"block_bytes": 6400}, **road),
               ran("init", "ouro_graph_va_p", 1, memory={"block_bytes": 1600}, **road),
               ran("init", "ouro_graph_vl_c", 1, memory={"block_bytes": 4800}, **road)]  # fmt: skip
    assert (by_title("roads", records[:2]).value, by_title("roads", records[:2]).verdict) == (0.25, "met")
    assert by_title("roads", records).verdict == "missed"


def test_tables_have_times_counts_and_what_is_missing() -> None:
    lost: Record = {"case": "init", "subject": "bulk", "graph": GRAPH, "status": "timeout", "reason": "too long"}
    text = markdown_of([*RECORDS, lost], "./run graph --out here")
    assert "## Stages of a batch" in text
    row = next(line for line in text.splitlines() if "warp_slab" in line and ", add |" in line)
    assert "| 50" in row
    assert "| 30% | 10% | 20% | 20% | 20% | 0% |" in row
    assert f"| {GRAPH}, 100 vertices | 10 µs | 20 µs | 6 ms | timeout |" in text
    assert f"| update faim_graph on {GRAPH} | 300 | 290 | 5 | 4 | 1 | 0 | 200 M/s |" in text
    assert f"- init bulk on {GRAPH}: timeout, too long" in text
    assert "on Some GPU" in text


def test_a_plan_takes_what_the_driver_has() -> None:
    job = Job(Path(), None, "host")
    plan = plan_of(job, ["bump", "warp_slab", "faim_graph"])
    assert (plan.systems, plan.vertices, plan.batch) == (["warp_slab", "faim_graph"], 10_000, 10_000)
    paper = plan_of(Job(Path(), None, "cuda", "paper", batch=5), ["bump", "warp_slab"])
    assert (paper.systems, len(paper.graphs), paper.vertices, paper.batch) == (["bump", "warp_slab"], 14, None, 5)
    assert "--vertices" not in paper.words("bump", "ldoor", ["init"])
    assert plan.words("bump", "ldoor", ["init"])[-3:] == ["--vertices", "10000", "--verify"]
    assert plan_of(Job(Path(), None, "host", verify=False), ["bump"]).words("bump", "ldoor", ["init"])[-1] == "10000"
    assert paper.words("bump", "ldoor", ["init", "update"])[:6] == [
        "--system", "bump", "--graph", "ldoor", "--case", "init,update",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="--systems"):
        plan_of(Job(Path(), None, "host", systems="slab"), ["bump"])


@pytest.fixture
def driver(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder with a driver that has the records, and fails if it is told to."""

    def make(*more: Record, **settings: str) -> Path:
        known = tmp_path / "known.jsonl"
        known.write_text("".join(json.dumps(each) + "\n" for each in [*RECORDS, *more]), encoding="utf-8")
        folder = tmp_path / "built"
        program(folder / "warpheap_graph_bench_host", HERE / "fake_graph_driver.py", {"records": str(known)} | settings)
        return folder

    return make


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["warpheap", "graph", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def words_for(out: Path, built: Path) -> list[object]:
    return ["--out", out, "--prebuilt", built, "--backend", "host", "--graphs", "delaunay_n20"]


def test_it_measures_and_writes_tables_report_and_figures(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run(monkeypatch, *words_for(out, driver())) == 0
    # A rebuild is asked for once a graph, so none is lost and none is twice.
    assert read(out / "graph.jsonl", measure.NEEDS) == RECORDS
    assert "| PageRank of contiguous lists over that of rows, most | 1.1x |" in (out / "graph.md").read_text("utf-8")
    assert "warpheap graph" in (out / "graph.html").read_text(encoding="utf-8")
    names = {path.name for path in (out / "figures").iterdir()}
    assert {"init.png", "memory.svg", "update-add.png", "pagerank.png", "triangles.png"} <= names
    (out / "graph.md").unlink()
    assert run(monkeypatch, "--out", out, "--no-measure") == 0
    assert (out / "graph.md").is_file()


def test_what_a_process_told_before_it_crashed_is_kept_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run(monkeypatch, *words_for(out, driver(fails="warp_slab pagerank"))) == 1
    records = read(out / "graph.jsonl", measure.NEEDS)
    own = [(each["case"], each["status"]) for each in records if each["subject"] == "warp_slab"]
    assert own == [("init", "ok"), ("update", "ok"), ("pressure", "failed")]
    failed = next(each for each in records if each["status"] == "failed")
    assert "a list was lost" in failed["reason"]
    assert failed["graph"] == GRAPH
    assert [each for each in records if each["subject"] != "warp_slab"] == RECORDS[5:]


def test_a_process_that_does_not_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = [*words_for(out, driver(hangs="faim_graph init")), "--systems", "faim_graph", "--cases", "init"]
    assert run(monkeypatch, *words, "--time-limit", 3) == 1
    assert [each["status"] for each in read(out / "graph.jsonl", measure.NEEDS)] == ["timeout"]


def test_a_case_that_the_driver_tells_as_failed_is_no_second_record(
    monkeypatch: pytest.MonkeyPatch, driver: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    wrong = {**ran("init", "bulk", 1), "status": "failed", "reason": "a list is wrong", "verified": False}
    words = [*words_for(out, driver(wrong)), "--systems", "bulk", "--cases", "init"]
    assert run(monkeypatch, *words) == 1
    assert read(out / "graph.jsonl", measure.NEEDS) == [wrong]


def test_names_and_drivers_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--out", tmp_path / "out", "--prebuilt", tmp_path) == 2
    assert "--target warpheap_graph_bench_cuda" in capsys.readouterr().err
    for words in (("--cases", "inits"), ("--preset", "large"), ("--no-measure",), ("--vertices", "10")):
        assert run(monkeypatch, "--out", tmp_path / "out", *words) == 2


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (("--graphs", "rmat,gird"), "--graphs: 'gird' is unknown here; use one of: rmat, "),
        (("--systems", "warp_slab,slab"), "--systems: 'slab' is unknown here; use one of: bump, warp_slab, "),
        (("--systems", "cuda_alloc_graph", "--backend", "host"), "--systems: 'cuda_alloc_graph' is unknown here"),
    ],
    ids=str,
)
def test_wrong_names_are_told_before_a_build(
    warpheap: Callable[..., Finished], tmp_path: Path, words: tuple[str, ...], right: str
) -> None:
    done = warpheap("--check", "graph", "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert right in done.err
    assert warpheap("--check", "graph", "--out", tmp_path / "out", "--systems", "cuda_alloc_graph").code == 0


def test_names_are_those_of_the_sources() -> None:
    folder = HERE.parents[1] / "benchmarks" / "graph"
    (listed,) = re.findall(r" generators\[\] = {(.*?)};", (folder / "inputs.cpp").read_text(), re.DOTALL)
    assert re.findall(r'"(\w+)"', listed) == list(measure.GENERATORS)
    added = re.findall(r'{"(\w+)", "', (folder / "subject.cpp").read_text())
    assert (measure.known_systems("cuda") or [])[-len(added) :] == added


def built() -> Path | None:
    try:
        return measure.DRIVER.find(None, "host")
    except UsageError:
        return None


@pytest.mark.skipif(built() is None, reason="the driver of the host backend is not built")
def test_the_real_driver_measures_every_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("--backend", "host", "--systems", "warp_slab,faim_graph", "--graphs", "luxembourg_osm,uniform",
             "--vertices", "1000", "--batch", "200", "--iterations", "1", "--heap", "64MiB")  # fmt: skip
    assert run(monkeypatch, "--out", tmp_path, *words) == 0
    records = read(tmp_path / "graph.jsonl", measure.NEEDS)
    assert {each["status"] for each in records} == {"ok"}
    assert all(each["verified"] for each in records)
    assert len(records) == 2 * (2 * len(measure.CASES) - 1)
    found = {(each["graph"], each["triangles"]) for each in records if each["case"] == "triangles"}
    assert len(found) == 2, "both systems find the same triangles"


@pytest.mark.skipif(built() is None, reason="the driver of the host backend is not built")
def test_the_real_driver_reads_files(tmp_path: Path) -> None:
    def ends(neighbours: list[int], *cases: str) -> process.Outcome:
        path = tmp_path / "a.csr"
        write_csr(path, Graph(3, np.array([0, 1, 1, 2]), np.array(neighbours, np.uint32), None, True))
        words = ["--csr", path, "--case", ",".join(cases), "--iterations", "1", "--heap-bytes", "67108864", "--verify"]
        return process.run([measure.DRIVER.find(None, "host"), *words], 60)

    done = ends([1, 0], "init", "triangles")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["case"], each["graph"], each["status"]) for each in records] == [
        ("init", "a.csr", "ok"), ("triangles", "a.csr", "skipped"),
    ]  # fmt: skip
    assert done.exit_code == 0
    loop = ends([1, 2], "init")
    assert loop.exit_code == 2
    assert "vertex 2 has an edge to itself" in loop.stderr
