# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_evidence: a whole, clean record passes, and each thing that it is there to find is found and named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OWN, OLD = "e" * 64, "d" * 64
SOURCES, OTHER_SOURCES = "5" * 64, "6" * 64
PROGRAMS = ("heap_heap_cuda", "sync_lock_cuda")

needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")


def head_of(part: str, **changes) -> dict:
    made = {
        "kind": "run",
        "what": part,
        "evidence": OWN,
        "sources": SOURCES,
        "device": "NVIDIA H100",
        "driver": "580",
        "nvcc": "13.0",
        "started": "2026-11-26T10:00:00Z",
        "scale": "normal" if part == "tests" else "small",
        "programs": list(PROGRAMS),
    }
    return {name: value for name, value in (made | changes).items() if value is not None}


def result_of(program: str, status: str = "ok", name: str = "suite.test", kind: str = "test") -> dict:
    return {"kind": kind, "program": program, "name": name, "status": status, "seconds": 1.0, "reason": ""}


END = {"kind": "end", "seconds": 2.0, "counts": {"ok": 2}}


def write(path: Path, lines: list) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def write_run(folder: Path, what: str, head: dict | None = None, results: list | None = None, end: bool = True) -> None:
    results = [result_of(program) for program in PROGRAMS] if results is None else results
    write(folder / f"{what}.jsonl", [head or head_of(what), *results, *([END] if end else [])])


def write_record(folder: Path, **changes) -> None:
    """Writes a whole, clean record with `changes` in the heads of its runs."""
    for what in ("tests", "memcheck"):
        write_run(folder, what, head_of(what, **changes))
    for name in ("survey", "sync", "pool"):
        point = {"case": "churn", "status": "ok", "sources": changes.get("sources", SOURCES)}
        write(folder / f"{name}.jsonl", [point, {"case": "fill", "status": "skipped"}])


@pytest.fixture
def record(tmp_path) -> Path:
    """The folder of a whole, clean record in a tree that has nothing else."""
    folder = tmp_path / "results" / "h100"
    write_record(folder)
    return folder


def run_check(root: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, REPOSITORY / "tools/check_evidence", root, *options]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.stderr == ""
    return check.returncode, check.stdout


def assert_found(folder: Path, *words: str) -> str:
    """The check of the fingerprint OWN fails, says these words, and says what to do."""
    status, text = run_check(folder.parents[1], "--fingerprint", OWN)
    assert status == 1, text
    for word in (*words, "./run gpu --only tests,memcheck --out results/<gpu>", "results/pending.md", OWN):
        assert word in text
    return text


def pend(folder: Path, text: str) -> None:
    (folder.parent / "pending.md").write_text(text)


def test_whole_clean_record_passes(record):
    status, text = run_check(record.parents[1], "--fingerprint", OWN)
    assert status == 0, text
    assert "results/h100 is a whole, clean record" in text


def test_skipped_test_is_no_fault(record):
    write_run(record, "tests", results=[result_of(each, "skipped") for each in PROGRAMS])
    assert run_check(record.parents[1], "--fingerprint", OWN)[0] == 0


def test_no_record(tmp_path):
    folder = tmp_path / "results" / "h100"
    folder.mkdir(parents=True)
    assert_found(folder, "there is no record")


def test_record_of_another_fingerprint(record):
    write_record(record, evidence=OLD)
    assert_found(record, f"wanted is a record of {OWN[:12]}; results/h100 is of {OLD[:12]}")


@pytest.mark.parametrize("what", ["tests", "memcheck"])
@pytest.mark.parametrize("status", ["failed", "timeout", "crashed", "missed"])
def test_fault(record, what, status):
    results = [result_of("heap_heap_cuda"), result_of("sync_lock_cuda", status, "lock.is_fair")]
    write_run(record, what, results=results)
    assert_found(record, f"results/h100/{what}.jsonl has 1 of status '{status}': sync_lock_cuda lock.is_fair")


def test_failed_build(record):
    results = [*(result_of(each) for each in PROGRAMS), result_of("cuda", "failed", "cmake --build", "build")]
    write_run(record, "tests", results=results)
    assert_found(record, "has 1 of status 'failed': cuda cmake --build")


def test_many_faults_are_counted_and_some_of_them_named(record):
    results = [result_of(program, "failed", f"suite.test_{n}") for program in PROGRAMS for n in range(10)]
    write_run(record, "tests", results=results)
    text = assert_found(record, "has 20 of status 'failed'", "suite.test_9, and 10 more")
    assert text.count("sync_lock_cuda") == 0


@pytest.mark.parametrize("what", ["tests", "memcheck"])
def test_run_without_its_end(record, what):
    write_run(record, what, end=False)
    assert_found(record, f"results/h100/{what}.jsonl has no line of kind 'end'")


@pytest.mark.parametrize("what", ["tests", "memcheck"])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"filter": "heap.*"}, "has only the tests of the filter 'heap.*'"),
        ({"partial": "no list of programs"}, "is partial: no list of programs"),
        ({"scale": "full"}, "was run at the scale 'full'"),
        ({"what": "bench"}, "is a run of 'bench'"),
        ({"programs": None}, "names no program that is expected"),
        ({"programs": [*PROGRAMS, "pool_pool_cuda"]}, "has no result of pool_pool_cuda"),
        ({"kind": "test"}, "does not begin with a line of kind 'run'"),
    ],
    ids=str,
)
def test_run_that_cannot_stand_for_all_tests(record, what, changes, words):
    write_run(record, what, head_of(what, **changes))
    assert_found(record, f"results/h100/{what}.jsonl {words}")


def test_tests_at_the_small_scale(record):
    write_run(record, "tests", head_of("tests", scale="small"))
    assert_found(record, "results/h100/tests.jsonl was run at the scale 'small', not 'normal'")


def test_line_that_is_cut_short(record):
    path = record / "tests.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:20], *lines[1:]]))
    assert_found(record, "results/h100/tests.jsonl has a line that is no JSON object")


@pytest.mark.parametrize("what", ["tests", "memcheck"])
def test_missing_part(record, what):
    (record / f"{what}.jsonl").unlink()
    assert_found(record, f"results/h100/{what}.jsonl is not there")


def test_memcheck_of_another_fingerprint(record):
    write_run(record, "memcheck", head_of("memcheck", evidence=OLD))
    assert_found(record, f"results/h100/memcheck.jsonl is of {OLD[:12]}, tests.jsonl beside it of {OWN[:12]}")


@pytest.mark.parametrize("name", ["survey.jsonl", "sync.jsonl", "pool.jsonl"])
def test_measurements_of_other_sources(record, name):
    write(record / name, [{"sources": SOURCES}, {"sources": OTHER_SOURCES}])
    assert_found(record, f"results/h100/{name} is of the sources {OTHER_SOURCES[:12]}", SOURCES[:12])


@pytest.mark.parametrize("name", ["survey.jsonl", "sync.jsonl", "pool.jsonl"])
def test_measurements_may_be_absent(record, name):
    (record / name).unlink()
    assert run_check(record.parents[1], "--fingerprint", OWN)[0] == 0


def test_folder_of_another_card_may_be_whole_for_an_older_fingerprint(record):
    other = record.with_name("h200")
    write_record(other, evidence=OLD, sources=OTHER_SOURCES)
    status, text = run_check(record.parents[1], "--fingerprint", OWN)
    assert status == 0, text
    write(other / "sync.jsonl", [{"sources": SOURCES}])
    assert_found(record, f"results/h200/sync.jsonl is of the sources {SOURCES[:12]}")


def test_folder_of_another_card_that_has_no_tests(record):
    write(record.with_name("h200") / "survey.jsonl", [{"sources": OTHER_SOURCES}])
    assert_found(record, "results/h200/tests.jsonl is not there")


@pytest.mark.parametrize(
    "text",
    [
        f"# Pending\n\n`{OWN}`: no GPU was lent on this day.\n",
        f"No GPU was lent on this day, so the record of\n{OWN} is still to come.\n",
        f"{OWN}\n\nNo GPU was lent on this day.\n",
        f"`{OLD}`: a session before had none.\n\n`{OWN}`: no GPU was lent on this day.\n",
    ],
    ids=["beside", "before", "after", "second"],
)
def test_pending_with_a_reason(record, text):
    write_record(record, evidence=OLD)
    pend(record, text)
    status, said = run_check(record.parents[1], "--fingerprint", OWN)
    assert status == 0, said
    assert f"evidence for {OWN} is pending" in said
    assert "o GPU was lent on this day" in said


@pytest.mark.parametrize(
    "text",
    [
        f"{OWN}\n",
        f"`{OWN}`: later.\n# No GPU was lent on this day.\n",
        f"`{OWN}`: later. <!-- No GPU was lent on this day. -->\n",
        f"`{OLD}`: no GPU was lent on this day.\n\n`{OWN}`\n",
        f"`{OWN}`\n\n`{OLD}`: no GPU was lent on this day.\n",
        f"{OLD}: no GPU was lent on this day.\n",
        f"{OWN[:12]}: no GPU was lent on this day.\n",
    ],
    ids=[
        "nothing",
        "heading",
        "comment",
        "reason_before_of_another",
        "reason_after_of_another",
        "another",
        "shortened",
    ],
)
def test_pending_without_a_reason_for_this_fingerprint(record, text):
    write_record(record, evidence=OLD)
    pend(record, text)
    assert_found(record, "results/pending.md does not name the fingerprint with a reason")


def test_what_is_wrong_is_told_even_where_it_is_pending(record):
    write_run(record, "memcheck", end=False)
    pend(record, f"`{OWN}`: the GPU was taken back during memcheck.")
    status, text = run_check(record.parents[1], "--fingerprint", OWN)
    assert status == 0
    assert "results/h100/memcheck.jsonl has no line of kind 'end'" in text


# --- The fingerprint --------------------------------------------------------------------------------------------------

TREE = {
    "include/warpheap/heap/heap.hpp": "a heap",
    "include/warpheap/platform/host/lane.hpp": "a lane of the host",
    "src/executor/worker.cpp": "a worker",
    "src/mam/mam.cpp": "an interface",
    "benchmarks/driver.cpp": "a driver",
    "examples/first.cu": "an example",
    "tests/heap/heap_test.cpp": "a test",
    "tests/heap/separate/unit.cu.in": "a unit",
    "tests/support/scale.hpp": "a scale",
    "tests/pool/host/engine_test.cpp": "a test of the host",
    "tests/heap/CMakeLists.txt": "tests",
    "tests/layout/run_test.py": "a test of the layout",
    "tests/consumer/consumer.cpp": "a consumer",
    "benchmarks/CMakeLists.txt": "benchmarks",
    "benchmarks/notes.md": "notes",
    "docs/guide.md": "a guide",
    "python/warpheap/cli.py": "a command line",
    "CMakeLists.txt": "a project",
}
WHAT_COUNTS = (
    "include/warpheap/heap/heap.hpp",
    "src/mam/mam.cpp",
    "benchmarks/driver.cpp",
    "examples/first.cu",
    "tests/heap/heap_test.cpp",
    "tests/heap/separate/unit.cu.in",
    "tests/support/scale.hpp",
)


@pytest.fixture
def tree(tmp_path) -> Path:
    """A small tree with the script that makes fingerprints."""
    for name, text in TREE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "cmake").mkdir()
    shutil.copy(REPOSITORY / "cmake/fingerprint.cmake", tmp_path / "cmake")
    return tmp_path


def fingerprint(root: Path, *options: str) -> str:
    command = ["cmake", *options, "-P", root / "cmake/fingerprint.cmake"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@needs_cmake
@pytest.mark.parametrize("name", TREE)
def test_evidence_changes_with_what_cuda_tests_are_made_of(tree, name):
    before = fingerprint(tree, "-D", "SCOPE=evidence")
    (tree / name).write_text("something else")
    assert (fingerprint(tree, "-D", "SCOPE=evidence") != before) == (name in WHAT_COUNTS)


@needs_cmake
def test_evidence_changes_with_a_new_file_and_a_new_name(tree):
    before = fingerprint(tree, "-D", "SCOPE=evidence")
    (tree / "tests/heap/heap_test.cpp").rename(tree / "tests/heap/whole_heap_test.cpp")
    renamed = fingerprint(tree, "-D", "SCOPE=evidence")
    (tree / "tests/heap/more_test.cpp").write_text("more")
    assert len({before, renamed, fingerprint(tree, "-D", "SCOPE=evidence")}) == 3


@needs_cmake
@pytest.mark.parametrize("name", TREE)
def test_sources_are_those_of_measurements(tree, name):
    before = fingerprint(tree)
    assert fingerprint(tree, "-D", "SCOPE=sources") == before
    (tree / name).write_text("something else")
    assert (fingerprint(tree) != before) == name.startswith(("include/", "src/", "benchmarks/"))


@needs_cmake
def test_fingerprint_of_the_tree_is_looked_for(tree):
    write_record(tree / "results" / "h100", evidence=fingerprint(tree, "-D", "SCOPE=evidence"))
    assert run_check(tree)[0] == 0
    (tree / "docs/guide.md").write_text("a better guide")
    (tree / "python/warpheap/cli.py").write_text("a better command line")
    assert run_check(tree)[0] == 0
    (tree / "include/warpheap/heap/heap.hpp").write_text("a better heap")
    status, text = run_check(tree)
    assert status == 1
    assert fingerprint(tree, "-D", "SCOPE=evidence") in text


def test_folder_that_is_no_checkout(tmp_path):
    command = [sys.executable, REPOSITORY / "tools/check_evidence", tmp_path]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 2
    assert "fingerprint" in check.stderr


# --- The step of ./run test -------------------------------------------------------------------------------------------

STEP = """
set -euo pipefail
root=$1
source "$2/tools/setup.sh"
source "$2/tools/steps.sh"
step "evidence" check_evidence
summary
"""


def run_step(root: Path) -> subprocess.CompletedProcess:
    (root / "tools").mkdir()
    (root / "tools/check_evidence").symlink_to(REPOSITORY / "tools/check_evidence")
    command = ["bash", "-c", STEP, "step", root, REPOSITORY]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHON": sys.executable})


@needs_cmake
def test_step_without_evidence_fails(tree):
    shown = run_step(tree)
    assert shown.returncode != 0
    assert "evidence" in shown.stdout
    assert "FAILED" in shown.stdout
    assert "there is no record" in shown.stdout
    assert "tests: 0 passed, 1 failed" in shown.stdout


@needs_cmake
def test_step_counts_as_one_test_whatever_a_reason_says(tree):
    own = fingerprint(tree, "-D", "SCOPE=evidence")
    write_record(tree / "results" / "h100", evidence=OLD)
    pend(tree / "results" / "h100", f"`{own}`: of the last run 12 failed and 3 passed, and the GPU went.\n")
    shown = run_step(tree)
    assert shown.returncode == 0, shown.stdout
    assert "tests: 1 passed, 0 failed" in shown.stdout


def test_run_checks_evidence_only_in_ci():
    steps = (REPOSITORY / "run").read_text()
    layers, evidence = steps.index('step "layers"'), steps.index('step "evidence" check_evidence')
    assert layers < evidence < steps.index('step "headers alone"')
    line = steps[steps.rindex("\n", 0, evidence) : evidence]
    assert line.strip() == "if [[ -n ${CI:-} ]]; then"
