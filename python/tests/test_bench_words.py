# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What `./run bench` refuses before it builds is what the driver refuses."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from warpheap import bench_words, project
from warpheap.cases import CASES
from warpheap.driver import Driver
from warpheap.errors import UsageError

# Another build than the preset's can be named.
NAMED = os.environ.get("WARPHEAP_BENCH_HOST")
BUILT = Path(NAMED) if NAMED else project.find_built_driver("host")
needs_driver = pytest.mark.skipif(BUILT is None, reason="the host driver is not built")

DESIGN = ("--allocator", "bump")
WRONG = [
    ("--case", "x", *DESIGN),
    ("--case", "registers", *DESIGN),
    ("--allocator", "bmp"),
    ("--allocator", "cuda_malloc"),
    (),
    ("--mode", "x", *DESIGN),
    ("--mode", "cold", *DESIGN),
    ("--case", "trace", "--mode", "x", *DESIGN),
    ("--trace", "some.trace", *DESIGN),
    ("--case", "trace", "--mode", "adjacency", "--trace", "some.trace", *DESIGN),
    ("--verify", "some", *DESIGN),
    ("--mode", "mixed", "--size", "3", *DESIGN),
    ("--list", "--mode", "mixed", "--size=3"),
    ("--list", "--threads", "0"),
    ("--list", "stray"),
    ("stray", *DESIGN, "--threads", "many"),
    ("--size", "9" * 5001, *DESIGN),
    ("--size", "+1", *DESIGN),
    ("--size", "", *DESIGN),
    ("--threads", "1", "--threads", "-1", *DESIGN),
    *((f"--{name}", value, *DESIGN) for name in bench_words.REAL for value in ("x", "-1", "nan", "1e999", "0x1", "")),
    *(
        (f"--{name}", str(value), *DESIGN)
        for name, (least, most) in bench_words.WHOLE.items()
        for value in (least - 1, most + 1)
    ),
]
# The driver says only that it does not know the word or lacks its value.
UNREADABLE = [("--frobnicate", "3"), ("--frobnicate=3",), ("--",), ("-x",), ("--list=3",), ("--size",)]
RIGHT = [
    DESIGN,
    ("--allocator=bump", "--size=64", "--threads", "64"),
    ("--case", "churn", "--mode", "mixed", "--verify", "all", "--size", "8", "--threads", "64", *DESIGN),
    ("--precision", "1e-1", "--soft-limit", ".5", "--most-iterations", "7", *DESIGN),
    ("--precision", "-0", "--soft-limit", "inf", *DESIGN),
    ("--allocator", "bmp", *DESIGN),
    ("--list", "--case", "x"),
]


def refusal(words: tuple[str, ...], backend: str = "host") -> str:
    """What the check says of the words; empty if they are right."""
    try:
        bench_words.check(words, backend)
    except UsageError as problem:
        return str(problem)
    return ""


def said_by_driver(words: tuple[str, ...]) -> str:
    """What the driver says of them; empty if it takes them."""
    assert BUILT is not None
    done = subprocess.run([BUILT, *words], capture_output=True, text=True, timeout=60)
    if done.returncode != 2:
        return ""
    return done.stderr.removeprefix("warpheap_bench: ").removesuffix("\n")


@needs_driver
@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words)[:40])
def test_wrong_words_are_refused_as_the_driver_refuses_them(words: tuple[str, ...]) -> None:
    assert refusal(words) != ""
    assert refusal(words) == said_by_driver(words)


@needs_driver
@pytest.mark.parametrize("words", UNREADABLE, ids=" ".join)
def test_words_that_are_no_options_are_refused(words: tuple[str, ...]) -> None:
    assert words[0] in refusal(words)
    assert said_by_driver(words) != "" or words == ("--",)


@needs_driver
@pytest.mark.parametrize("words", RIGHT, ids=" ".join)
def test_right_words_are_let_through(words: tuple[str, ...]) -> None:
    assert refusal(words) == said_by_driver(words) == ""


@needs_driver
def test_every_mode_of_every_case_is_known() -> None:
    assert BUILT is not None
    driver = Driver.start(BUILT)
    assert driver.cases.keys() == {case.name for case in CASES.values() if case.runner is None}
    for case, modes in driver.cases.items():
        for mode in modes:
            assert refusal(("--case", case, "--mode", mode, *DESIGN)) == ""
        assert refusal(("--case", case, "--mode", "x", *DESIGN)).endswith(f"use one of: {', '.join(modes)}")


def test_the_options_are_those_of_the_driver() -> None:
    checkout = project.find_checkout()
    assert checkout is not None
    source = (checkout / "benchmarks" / "options.cpp").read_text(encoding="utf-8")
    found = re.findall(r'\{"([a-z-]+)", (no|required)_argument', source)
    assert [name for name, value in found if value == "no"] == list(bench_words.QUESTIONS)
    known = {*bench_words.NAMES, *bench_words.WHOLE, *bench_words.REAL}
    assert {name for name, value in found if value == "required"} == known


def test_a_gpu_has_designs_that_the_host_lacks() -> None:
    words = ("--allocator", "cuda_malloc")
    assert refusal(words, "cuda") == ""
    assert "'cuda_malloc' is unknown here" in refusal(words, "host")


def test_a_file_of_a_trace_is_left_to_the_driver() -> None:
    assert refusal(("--case", "trace", "--trace", "/nowhere/some.trace", *DESIGN)) == ""


def test_the_command_says_what_is_wrong_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_words.main(["host", *DESIGN]) == 0
    assert capsys.readouterr() == ("", "")
    assert bench_words.main(["host", *DESIGN, "--case", "two\nlines"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("warpheap: --case: 'two lines' is unknown here; use one of: throughput, latency, ")
    assert err.count("\n") == 1
