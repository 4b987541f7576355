# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Case after case in one process of the driver."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SECONDS_TO_START, Finished

from warpheap import process, project
from warpheap.driver import Driver
from warpheap.record import read_records
from warpheap.runner import Effort, Point
from warpheap.shared_process import SharedProcess, SharedProcesses

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]
EFFORT = Effort(60, 6, 0.02)
BUILT = project.find_built_driver("host")


def point(allocator: str, size: int = 16, case: str = "throughput", mode: str = "thread") -> Point:
    return Point(case, allocator, mode, 1000, size, 1 << 30, 6, 2, 1)


def asked(driver: Path) -> list[str]:
    """What each process was asked: --serve for one that serves, then the allocators."""
    log = Path(f"{driver}.log").read_text().splitlines()
    return [line if line == "--serve" else line.split()[line.split().index("--allocator") + 1] for line in log]


def test_cases_share_a_process(fake_driver: MakeDriver) -> None:
    path = fake_driver(allocators="one two")
    shared = SharedProcess(Driver.start(path))
    records = [shared.measure(point(name, size), EFFORT) for size in (16, 64) for name in ("one", "two")]
    shared.end()
    assert asked(path) == ["--serve", "one", "two", "one", "two"]
    assert [(each["allocator"], each["size"], each["status"]) for each in records] == [
        ("one", 16, "ok"), ("two", 16, "ok"), ("one", 64, "ok"), ("two", 64, "ok"),
    ]  # fmt: skip
    assert all(each["shared_process"] for each in records)
    assert all(0 <= each["seconds"] < 60 and each["time_limit_s"] == 60 for each in records)


@pytest.mark.parametrize("name", ["crashes", "overlaps", "babbles", "minds_others"])
def test_a_case_that_is_not_ok_is_run_by_itself_and_the_next_in_a_new_process(
    fake_driver: MakeDriver, name: str
) -> None:
    path = fake_driver(allocators=f"good {name}")
    driver = Driver.start(path)
    shared = SharedProcess(driver)
    shared.measure(point("good"), EFFORT)
    record = shared.measure(point(name), EFFORT)
    assert shared.measure(point("good", 64), EFFORT)["status"] == "ok"
    shared.end()
    assert asked(path) == ["--serve", "good", name, name, "--serve", "good"]
    assert "shared_process" not in record
    alone = driver.measure(point(name), EFFORT)
    assert (record["status"], record["reason"]) == (alone["status"], alone["reason"])
    assert (record["status"] == "ok") == (name == "minds_others")


def test_a_hang_is_a_result_at_the_limit(fake_driver: MakeDriver) -> None:
    path = fake_driver(allocators="good hangs")
    shared = SharedProcess(Driver.start(path))
    begin = time.monotonic()
    record = shared.measure(point("hangs"), Effort(SECONDS_TO_START, 6, 0.02))
    assert time.monotonic() - begin < SECONDS_TO_START + 20
    assert (record["status"], record["time_limit_s"]) == ("timeout", SECONDS_TO_START)
    assert shared.measure(point("good"), EFFORT)["status"] == "ok"
    shared.end()
    assert asked(path) == ["--serve", "hangs", "--serve", "good"]


@pytest.mark.parametrize(
    "alone", [point("outlives"), point("good", case="initialisation", mode="heap"), point("good", case="temperature")]
)
def test_what_may_not_share_has_a_process_of_its_own(fake_driver: MakeDriver, alone: Point) -> None:
    path = fake_driver(allocators="good outlives")
    shared = SharedProcess(Driver.start(path))
    assert "shared_process" not in shared.measure(alone, EFFORT)
    assert asked(path) == [alone.allocator]
    shared.end()


def test_a_process_serves_only_so_many_cases(fake_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpheap.shared_process._MOST_CASES", 2)
    path = fake_driver(allocators="good")
    shared = SharedProcess(Driver.start(path))
    for size in (16, 32, 64):
        shared.measure(point("good", size), EFFORT)
    shared.end()
    assert asked(path) == ["--serve", "good", "good", "--serve", "good"]


def test_the_processes_of_a_survey_end_with_it(fake_driver: MakeDriver) -> None:
    driver = Driver.start(fake_driver(allocators="good"))
    with SharedProcesses() as processes:
        runners = processes.replace({"throughput": driver, "scaling": driver})
        assert runners["throughput"] is runners["scaling"]
        runners["throughput"].measure(point("good"), EFFORT)
        children = list(process._running)
        assert children
    assert all(child.poll() is not None for child in children)
    assert not process._running


def test_the_survey_has_the_same_records(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="good crashes outlives")
    words = ("survey", "--driver", driver, "--cases", "throughput,initialisation", "--preset", "quick")
    assert warpheap(*words, "--out", tmp_path / "alone").code == 0
    assert warpheap(*words, "--out", tmp_path / "shared", "--share-process").code == 0

    def plain(folder: Path) -> list[dict[str, Any]]:
        dropped = ("seconds", "time", "shared_process")
        return [
            {name: value for name, value in each.items() if name not in dropped}
            for each in read_records(folder / "survey.jsonl")
        ]

    assert plain(tmp_path / "alone") == plain(tmp_path / "shared")
    shared = {
        each["allocator"] for each in read_records(tmp_path / "shared" / "survey.jsonl") if "shared_process" in each
    }
    assert shared == {"good"}


@pytest.mark.skipif(BUILT is None, reason="the host driver is not built")
def test_the_real_driver_serves() -> None:
    assert BUILT is not None
    driver = Driver.start(BUILT)
    shared = SharedProcess(driver)
    small = [Point("throughput", name, "thread", 256, 64, 1 << 20, 1, 1, 1) for name in ("warp_slab", "bulk", "bump")]
    records = [shared.measure(each, Effort(60, 1, 0.02)) for each in small]
    full = shared.measure(Point("throughput", "warp_slab", "thread", 1 << 16, 1000, 1 << 20, 1, 1, 1), EFFORT)
    shared.end()
    assert [each["status"] for each in records] == ["ok"] * 3
    assert all(each["verified"] and each["shared_process"] for each in records)
    assert full["status"] == "failed"


def test_a_conversation_tells_an_end_from_an_answer() -> None:
    script = (
        "import sys\n"
        "for line in sys.stdin:\n"
        "  if line == 'end\\n': sys.exit(0)\n"
        "  print(line * 2, end='', flush=True)\n"
    )
    talk = process.Conversation([sys.executable, "-c", script])
    assert talk.ask("one", 60) == "one"
    assert talk.ask("end", 60) == "one", "the second line of the first answer is not lost"
    assert talk.ask("more", 60) is None
    talk.end()
    talk.end()
