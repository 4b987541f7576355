# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a record of a GPU run says of itself: its sources, its programs, and whether it is whole and evidence."""

import json
import sys
from pathlib import Path

import pytest
from conftest import HERE
from gpu_runs import Command, MakeDriver, MakeTests, expect, lines, prebuilt, results, statuses

from warpheap import process, project
from warpheap.errors import UsageError
from warpheap.gpu import build, expected, memcheck
from warpheap.gpu.result import Result, ResultFile


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> build.State:
    """The state that the checkout claims to have."""
    made = build.State("e" * 64, "a" * 64)
    monkeypatch.setattr(build, "state_of_checkout", lambda: made)
    return made


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_disk_that_is_full_is_told_with_the_file() -> None:
    with pytest.raises(UsageError, match="/dev/full cannot be written: No space left"):
        ResultFile(Path("/dev/full")).end(1.0)


def test_a_record_says_of_what_it_is_and_that_it_is_whole(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good A.skips")
    fake_tests("b_cuda", tests="B.good")
    expect(tmp_path, "b_cuda", "a_cuda")
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests").code == 0
    head, *_, end = lines(out / "tests.jsonl")
    assert head["kind"] == "run"
    assert (head["what"], head["scale"], head["programs"]) == ("tests", "normal", ["a_cuda", "b_cuda"])
    assert (head["evidence"], head["sources"]) == (state.evidence, state.sources)
    assert head["started"].endswith("Z")
    assert {"device", "driver", "nvcc"} <= set(head)
    assert not {"filter", "partial"} & set(head)
    assert end["kind"] == "end"
    assert {status: number for status, number in end["counts"].items() if number} == {"ok": 2, "skipped": 1}
    assert set(end["programs"]) == {"a_cuda", "b_cuda"}
    assert all(end["seconds"] + 0.1 >= seconds > 0 for seconds in end["programs"].values())


def test_results_of_a_program_lie_together(warpheap: Command, fake_tests: MakeTests, tmp_path: Path) -> None:
    names = [f"{letter}_cuda" for letter in "abcd"]
    for name in names:
        fake_tests(name, tests="A.one A.fails A.two A.crashes A.three")
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    programs = [each["program"] for each in results(out / "tests.jsonl")]
    order = list(dict.fromkeys(programs))
    assert sorted(order) == names
    assert programs == [name for name in order for _ in range(5)]


def test_a_filter_and_a_scale_are_recorded(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tests("a_cuda", tests="A.good A.other")
    monkeypatch.setenv("WARPHEAP_TEST_SCALE", "full")
    out = tmp_path / "out"
    warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests,memcheck", "--filter", "A.good")
    assert statuses(out / "tests.jsonl") == {"A.good": "ok"}
    heads = [lines(out / name)[0] for name in ("tests.jsonl", "memcheck.jsonl")]
    assert [(head["filter"], head["scale"]) for head in heads] == [("A.good", "full"), ("A.good", "small")]


def test_without_a_list_of_programs_a_record_is_partial(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    out = tmp_path / "out"
    done = warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert lines(out / "tests.jsonl")[0]["partial"] == "no list of programs"
    assert lines(out / "tests.jsonl")[0]["programs"] == ["a_cuda"]
    assert "no list of programs" in done.out


def test_programs_of_other_sources_make_a_partial_record(
    warpheap: Command, fake_tests: MakeTests, fake_driver: MakeDriver, tmp_path: Path, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good")
    expect(tmp_path, "a_cuda")
    out = tmp_path / "out"
    for sources, partial in ((state.sources, None), ("c" * 64, "the programs were built from other sources (cccccc")):
        folder = prebuilt(tmp_path, fake_driver, sources=sources)
        warpheap("gpu", "--out", out, "--prebuilt", folder, "--only", "tests")
        told = lines(out / "tests.jsonl")[0].get("partial")
        assert told == partial or (partial and told.startswith(partial))


def test_the_list_of_the_folder_is_preferred_to_that_of_its_bin(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("old_cuda", tests="O.good")
    expect(tmp_path / "bin", "a_cuda", "old_cuda")
    out = tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "tests")
    assert "old_cuda" in warpheap(*words).out
    assert statuses(out / "tests.jsonl") == {"A.good": "ok", "O.good": "ok"}
    expect(tmp_path, "a_cuda")
    assert "left out, since the list does not have them: old_cuda" in warpheap(*words).out
    assert statuses(out / "tests.jsonl") == {"A.good": "ok"}


def test_after_a_build_that_failed_all_programs_are_missed(
    warpheap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(tmp_path, "a_cuda", "b_cuda")
    failed = Result("build", "cuda", "cmake", "failed", 3.0, "no space")
    monkeypatch.setattr(build, "build", lambda *_: (build.collect([], expected.ProgramList.find(tmp_path)), [failed]))
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--only", "tests,memcheck").code == 1
    assert statuses(out / "tests.jsonl") == {"cmake": "failed", "a_cuda": "missed", "b_cuda": "missed"}
    assert statuses(out / "memcheck.jsonl") == {"a_cuda": "missed", "b_cuda": "missed"}
    assert (out / "build.log").is_file()


def test_sources_that_change_during_the_build_make_a_partial_record(
    warpheap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [build.State("1" * 64, "1" * 64), build.State("2" * 64, "1" * 64)]
    monkeypatch.setattr(build, "state_of_checkout", lambda: states.pop(0))
    expect(tmp_path, "a_cuda")
    monkeypatch.setattr(build, "build", lambda *_: (build.collect([], expected.ProgramList.find(tmp_path)), []))
    warpheap("gpu", "--out", tmp_path / "out", "--only", "tests")
    assert "changed while" in lines(tmp_path / "out" / "tests.jsonl")[0]["partial"]
    assert not (tmp_path / "out" / "build.log").exists()


def test_without_the_checker_every_program_is_missed(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("a_mutants_cuda", tests="A.good")
    monkeypatch.setattr(memcheck, "find_tool", lambda _: None)
    out = tmp_path / "out"
    assert warpheap("gpu", "--out", out, "--prebuilt", tmp_path, "--only", "memcheck").code == 1
    assert statuses(out / "memcheck.jsonl") == {"a_cuda": "missed", "a_mutants_cuda": "skipped"}
    assert not (out / "tests.jsonl").exists()


def test_parts_of_another_state_are_not_added_to_a_record(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: build.State
) -> None:
    fake_tests("a_cuda", tests="A.good")
    out = tmp_path / "out"
    words = ("gpu", "--out", out, "--prebuilt", tmp_path, "--only")
    warpheap(*words, "tests")
    (out / "sync.jsonl").write_text(json.dumps({"case": "semaphores", "sources": state.sources}) + "\n")
    before = (out / "tests.jsonl").read_text()
    assert warpheap(*words, "memcheck").code == 1, "this state's, without a checker"
    for changed in (build.State("f" * 64, state.sources), build.State(state.evidence, "f" * 64)):
        monkeypatch.setattr(build, "state_of_checkout", lambda changed=changed: changed)
        done = warpheap(*words, "memcheck")
        assert done.code == 2
        assert "--only tests,memcheck" in done.err
        assert state.evidence[:12] in done.err
        assert (out / "tests.jsonl").read_text() == before
    done = warpheap(*words, "tests,memcheck")
    assert f"{out / 'sync.jsonl'} is of another state" in done.out
    assert f"{out / 'memcheck.jsonl'} is of another state" not in done.out


@pytest.mark.skipif(build.find_tool("cmake") is None, reason="CMake is not installed")
def test_the_state_is_what_cmake_says_of_the_checkout() -> None:
    state = build.state_of_checkout()
    checkout = project.find_checkout()
    assert checkout is not None
    plain = process.run(["cmake", "-P", checkout / "cmake" / "fingerprint.cmake"], 60)
    assert state.sources == plain.stdout.strip()
    assert len(state.evidence) == 64
    assert state.evidence != state.sources


def test_a_whole_record_is_evidence_and_a_missed_program_ends_that(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: build.State
) -> None:
    checker = tmp_path / "checker"
    checker.write_text("#!/bin/sh\necho '========= ERROR SUMMARY: 0 errors'\n")
    checker.chmod(0o755)
    monkeypatch.setattr(memcheck, "find_tool", lambda _: str(checker))
    fake_tests("a_cuda", tests="A.good A.skips")
    fake_tests("a_mutants_cuda", tests="M.good")
    expect(tmp_path, "a_cuda", "a_mutants_cuda")
    words = ("--out", tmp_path / "results" / "h100", "--prebuilt", tmp_path, "--only", "tests,memcheck")
    check = [HERE.parents[1] / "tools" / "check_evidence", tmp_path, "--fingerprint", state.evidence]
    done = warpheap("gpu", *words)
    assert done.code == 0, done.out
    verdict = process.run([sys.executable, *check], 60)
    assert verdict.exit_code == 0, verdict.stdout
    example = tmp_path / "bin" / "example_python_a_cuda"
    expect(tmp_path, "a_cuda", "a_mutants_cuda", example.name)
    for end, more, code in (("echo 'numpy is too old' >&2; exit 1", (), 1), ("exit 0", ("--resume",), 0)):
        example.write_text(f"#!/bin/sh\n{end}\n")
        example.chmod(0o755)
        assert warpheap("gpu", *words, *more).code == code
    verdict = process.run([sys.executable, *check], 60)
    assert verdict.exit_code == 0, verdict.stdout
    assert f"tests.jsonl: {example.name} {example.name} had failed, and was run again: " in verdict.stdout
    expect(tmp_path, "a_cuda", "a_mutants_cuda", "b_cuda")
    assert warpheap("gpu", *words).code == 1
    verdict = process.run([sys.executable, *check], 60)
    assert verdict.exit_code == 1
    assert "has 1 of status 'missed': b_cuda b_cuda" in verdict.stdout
