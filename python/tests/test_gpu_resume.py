# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A GPU run that goes on with an earlier one."""

import json
from pathlib import Path

import pytest
from conftest import SECONDS_TO_START
from gpu_runs import Command, MakeTests, expect, lines, statuses


def _resumable(fake_tests: MakeTests, tmp_path: Path) -> tuple[str | Path, ...]:
    fake_tests("a_cuda", tests="A.good")
    fake_tests("b_cuda", tests="B.fails")
    fake_tests("c_cuda", tests="C.hangs C.after")
    expect(tmp_path, "a_cuda", "b_cuda", "c_cuda")
    return ("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "tests", "--jobs", "1", "--resume")


def test_a_resumed_run_keeps_what_ended_and_runs_the_rest(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    words = _resumable(fake_tests, tmp_path)
    file = tmp_path / "out" / "tests.jsonl"
    assert warpheap(*words, "--time-limit", SECONDS_TO_START).code == 1
    before = lines(file)[0]
    assert "resumed" not in before, "there was no run to go on with"
    # Now the first two would end otherwise, and the third one has mended its ways.
    for name, tests in (("a_cuda", "A.fails"), ("b_cuda", "B.good"), ("c_cuda", "C.good C.after")):
        fake_tests(name, tests=tests)
    assert warpheap(*words).code == 1, "a fault stays a fault"
    assert statuses(file) == {"A.good": "ok", "B.fails": "failed", "C.good": "ok", "C.after": "ok"}
    head, end = lines(file)[0], lines(file)[-1]
    assert head["started"] == before["started"]
    (part,) = head["resumed"]
    assert part["again"] == {"c_cuda": "timeout"}
    assert part["jobs"] == 1
    assert end["programs"].keys() == {"a_cuda", "b_cuda", "c_cuda"}
    assert end["counts"]["ok"] == 3
    assert end["seconds"] > SECONDS_TO_START


def test_a_program_with_a_fault_is_not_repeated_for_what_it_lacks(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    words = _resumable(fake_tests, tmp_path)
    file = tmp_path / "out" / "tests.jsonl"
    fake_tests("c_cuda", tests="C.fails C.hangs")
    assert warpheap(*words, "--time-limit", SECONDS_TO_START).code == 1
    fake_tests("c_cuda", tests="C.good")
    (tmp_path / "bin" / "a_cuda").unlink()  # and one that is not there any more keeps what it said
    assert warpheap(*words).code == 1
    assert statuses(file) == {"A.good": "ok", "B.fails": "failed", "C.fails": "failed", "C.hangs": "timeout"}


def test_a_resumed_run_repeats_the_program_that_an_interruption_may_have_cut(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    words = _resumable(fake_tests, tmp_path)
    file = tmp_path / "out" / "tests.jsonl"
    fake_tests("c_cuda", tests="C.good C.after")
    warpheap(*words)
    written = file.read_text().splitlines()
    file.write_text("\n".join(written[:-2]) + "\n" + written[-2][:9])  # without C.after and the end
    warpheap(*words)
    assert statuses(file) == {"A.good": "ok", "B.fails": "failed", "C.good": "ok", "C.after": "ok"}
    assert lines(file)[0]["resumed"][0]["again"] == {"c_cuda": "interrupted"}


def test_runs_that_are_killed_between_programs_lose_nothing(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    words = _resumable(fake_tests, tmp_path)
    file = tmp_path / "out" / "tests.jsonl"
    fake_tests("c_cuda", tests="C.good")
    warpheap(*words)
    for name in ("a_cuda", "b_cuda", "c_cuda"):
        fake_tests(name, tests="X.fails")
    for earlier in range(2):
        file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")  # without the end
        warpheap(*words)
        assert statuses(file) == {"A.good": "ok", "B.fails": "failed", "C.good": "ok"}
        assert [part["again"] for part in lines(file)[0]["resumed"]] == [{}] * (earlier + 1)


def test_a_faulty_program_whose_results_were_cut_is_not_whole(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    words = _resumable(fake_tests, tmp_path)
    file = tmp_path / "out" / "tests.jsonl"
    fake_tests("c_cuda", tests="C.fails C.after")
    warpheap(*words)
    written = file.read_text().splitlines()
    file.write_text("\n".join(written[:-2]) + "\n" + written[-2][:9])  # without C.after and the end
    warpheap(*words)
    assert statuses(file) == {"A.good": "ok", "B.fails": "failed", "C.fails": "failed", "c_cuda": "missed"}


def _example(tmp_path: Path, name: str, words: str) -> None:
    program = tmp_path / "bin" / name
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)


def test_an_example_in_python_runs_again_once_its_packages_fit(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    broken, lacking, other = "example_python_a_cuda", "example_python_b_cuda", "example_c_cuda"
    fake_tests("a_cuda", tests="A.good")
    for name, end in ((broken, "echo 'numpy is too old' >&2; exit 1"), (lacking, "exit 77"), (other, "exit 1")):
        _example(tmp_path, name, end)
    expect(tmp_path, "a_cuda", broken, lacking, other)
    words = ("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "tests", "--resume")
    file = tmp_path / "out" / "tests.jsonl"
    warpheap(*words)
    assert statuses(file) == {"A.good": "ok", broken: "failed", lacking: "skipped", other: "failed"}
    for name in (broken, lacking, other):
        _example(tmp_path, name, "exit 0")
    done = warpheap(*words)
    assert statuses(file) == {"A.good": "ok", broken: "ok", lacking: "ok", other: "failed"}
    assert f"runs again, and had failed: {broken}" in done.out
    (part,) = lines(file)[0]["resumed"]
    assert part["again"] == {broken: "failed", lacking: "skipped"}
    (fault,) = part["faults"]
    assert (fault["program"], fault["name"], fault["status"]) == (broken, broken, "failed")
    assert "numpy is too old" in fault["reason"]
    # Later runs keep what was told.
    warpheap(*words)
    assert [len(part.get("faults", [])) for part in lines(file)[0]["resumed"]] == [1, 0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"evidence": "0" * 64}, "another evidence"),
        ({"sources": "0" * 64}, "another sources"),
        ({"device": "another"}, "another device"),
        ({"scale": "small"}, "another scale"),
        ({"filter": "A.*"}, "another filter"),
        ({"partial": "no list of programs"}, "another partial"),
        ({"kind": "walk"}, "does not begin with the line of a run"),
        ({"programs": None}, "does not begin with the line of a run"),
        ({"evidence": ""}, "does not name the state"),
        ({"programs": []}, "other programs"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_run_of_another_kind_is_not_gone_on_with(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    words = _resumable(fake_tests, tmp_path)
    fake_tests("c_cuda", tests="C.good")
    warpheap(*words)
    file = tmp_path / "out" / "tests.jsonl"
    head, *others = lines(file)
    file.write_text("\n".join(json.dumps(line) for line in ({**head, **changed}, *others)) + "\n")
    folder = {each.name: each.read_bytes() for each in file.parent.iterdir()}
    done = warpheap(*words)
    assert done.code == 2
    assert said in done.err
    assert "Leave --resume out" in done.err
    after = {each.name: each.read_bytes() for each in file.parent.iterdir()}
    if "programs" not in said and "partial" not in said:  # these are known after a build
        assert after == folder
    assert after[file.name] == folder[file.name]


def test_a_part_of_another_kind_is_told_before_any_part_runs(
    warpheap: Command, fake_tests: MakeTests, tmp_path: Path
) -> None:
    fake_tests("a_cuda", tests="A.good")
    expect(tmp_path, "a_cuda")
    words = ("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path, "--only", "tests,memcheck", "--resume")
    warpheap(*words)
    tests, checked = (tmp_path / "out" / f"{what}.jsonl" for what in ("tests", "memcheck"))
    head, *others = lines(checked)
    checked.write_text("\n".join(json.dumps(line) for line in ({**head, "driver": "another"}, *others)) + "\n")
    before = tests.read_text()
    done = warpheap(*words)
    assert done.code == 2
    assert "another driver" in done.err
    assert tests.read_text() == before
