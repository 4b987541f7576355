# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The survey: what runs, what is recorded, and what is not run again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SECONDS_TO_START, Finished, environment, run_without, wait_until

from warpheap import builds, plan, project
from warpheap.cases.base import Case
from warpheap.driver import Driver
from warpheap.record import read_records
from warpheap.runner import CannotRunError, Runner

Command = Callable[..., Finished]
MakeDriver = Callable[..., Path]
SMALL = ("--cases", "throughput", "--modes", "thread", "--threads", "1000", "--sizes", "16,256")


def asked(driver: Path) -> list[str]:
    """What the driver was asked to measure so far."""
    log = Path(f"{driver}.log")
    return log.read_text().splitlines() if log.exists() else []


def records(folder: Path) -> list[dict[str, Any]]:
    return read_records(folder / "survey.jsonl")


def test_every_allocator_of_the_registry_is_measured(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(allocators="one two three")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL)
    assert done.code == 0, done.err
    cases = {(each["allocator"], each["size"]) for each in records(tmp_path / "out")}
    assert cases == {(name, size) for name in ("one", "two", "three") for size in (16, 256)}
    assert done.out.splitlines()[-1] == f"Report: {tmp_path / 'out' / 'report.html'}"
    assert (tmp_path / "out" / "report.html").is_file()
    assert json.loads((tmp_path / "out" / "machine.json").read_text())["capability"] == 90


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_a_survey_without_what_plots_tells_how_to_make_its_report(
    fake_driver: MakeDriver, tmp_path: Path, missing: str
) -> None:
    lacking, folder = tmp_path / "lacking", tmp_path / "out"
    done = run_without(missing, lacking, "survey", "--driver", fake_driver(), "--out", folder, *SMALL)
    assert done.code == 0, done.err
    told = f"{folder / 'survey.jsonl'}. For the report {missing} is missing here; where it is:"
    assert done.out.splitlines()[-1] == f"The measurements are in {told} python3 -m warpheap report {folder}"
    assert records(folder) and not (folder / "report.html").exists()
    report = run_without(missing, lacking, "report", folder)
    assert (report.code, report.err.strip()) == (
        2,
        f"warpheap: a report needs {missing}, which is missing here: install it",
    )


def test_allocators_take_turns_at_going_first(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="one two three")
    warpheap("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL)
    order = [line.split()[line.split().index("--allocator") + 1] for line in asked(driver)]
    assert order == ["one", "two", "three", "two", "three", "one"]


def test_what_is_recorded_is_not_measured_again(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver()
    arguments = ("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL)
    warpheap(*arguments)
    assert len(asked(driver)) == 4
    again = warpheap(*arguments)
    assert len(asked(driver)) == 4
    assert "4 of 4 cases are in" in again.out
    warpheap(*arguments, "--sizes", "16,256,4K")
    assert len(asked(driver)) == 6
    warpheap(*arguments, "--fresh")
    assert len(asked(driver)) == 10
    assert len(records(tmp_path / "out")) == 4


def test_other_sources_are_measured_anew_and_old_records_kept(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    arguments = ("--out", tmp_path / "out", *SMALL)
    warpheap("survey", "--driver", fake_driver(), *arguments)
    driver = fake_driver(sources="b" * 64)
    done = warpheap("survey", "--driver", driver, *arguments)
    assert "4 records of other sources" in done.out
    assert {each["sources"] for each in records(tmp_path / "out")} == {"b" * 64}
    assert len(read_records(tmp_path / "out" / "survey.other.jsonl")) == 4


def test_what_was_moved_aside_comes_back_with_its_sources(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    arguments = ("--out", tmp_path / "out", *SMALL)
    first = fake_driver()
    warpheap("survey", "--driver", first, *arguments)
    before = records(tmp_path / "out")
    warpheap("survey", "--driver", fake_driver(sources="b" * 64), *arguments)
    assert "4 of 4 cases are in" in warpheap("survey", "--driver", fake_driver(), *arguments).out
    assert records(tmp_path / "out") == before
    assert {each["sources"] for each in read_records(tmp_path / "out" / "survey.other.jsonl")} == {"b" * 64}
    assert "4 of 4 cases are in" not in warpheap("survey", "--driver", fake_driver(), *arguments, "--fresh").out


def test_a_case_that_cannot_run_here_stays_in_the_report(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = fake_driver(cases="throughput churn", allocators="good")
    words = ("survey", "--driver", driver, "--out", tmp_path, "--preset", "quick")
    assert warpheap(*words).code == 0
    real = plan.runner_of

    def without_churn(case: Case, driver: Driver) -> Runner:
        if case.name == "churn":
            raise CannotRunError("this machine lacks what it needs")
        return real(case, driver)

    monkeypatch.setattr(plan, "runner_of", without_churn)
    done = warpheap(*words)
    assert "this machine lacks what it needs" in done.out
    assert 'id="churn' in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_hangs_crashes_and_faults_are_results(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="hangs crashes babbles contradicts overlaps good")
    done = warpheap(
        *("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL[:6]),
        *("--sizes", "16", "--time-limit", SECONDS_TO_START),
    )
    assert done.code == 0, done.err
    by_name = {each["allocator"]: each for each in records(tmp_path / "out")}
    assert by_name["hangs"]["status"] == "timeout"
    assert "still waiting for a lock" in by_name["hangs"]["reason"]
    assert by_name["hangs"]["time_limit_s"] == SECONDS_TO_START
    assert by_name["crashes"]["status"] == "crashed"
    assert "SIGSEGV" in by_name["crashes"]["reason"]
    assert "terminate called" in by_name["crashes"]["reason"]
    assert by_name["babbles"]["status"] == "crashed"
    assert by_name["contradicts"]["status"] == "crashed"
    assert "its median should lie between 'median_low' and 'median_high'" in by_name["contradicts"]["reason"]
    assert by_name["overlaps"]["status"] == "failed"
    assert by_name["good"]["status"] == "ok"
    assert [each["measures"] for name, each in by_name.items() if name != "good"] == [{}] * 5
    page = (tmp_path / "out" / "report.html").read_text()
    for name in ("hangs", "crashes", "overlaps"):
        assert name in page
    assert "still waiting for a lock" in page
    assert "request 1 overlaps request 2 &lt;&amp;&gt;" in page


@pytest.mark.parametrize("words", [(), ("--share-process",), ("--devices", "all")], ids=str)
@pytest.mark.parametrize(
    ("allocator", "said"),
    [("loses_the_gpu", "no GPU answers. What was measured is kept"), ("is_built_anew", "built from other sources")],
)
def test_what_tells_nothing_of_a_case_is_no_result_of_it(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, words: tuple[str, ...], allocator: str, said: str
) -> None:
    driver = fake_driver(allocators=f"good {allocator}")
    done = warpheap("survey", "--driver", driver, "--out", tmp_path, *words, *SMALL, "--sizes", "16,256,512")
    assert (done.code, said in done.err) == (2, True), done.err
    assert {(each["size"], each["status"]) for each in records(tmp_path)} == {(16, "ok")}


def test_a_record_of_another_case_is_none_of_what_was_asked(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    words = ("--driver", fake_driver(allocators="confuses"), "--out", tmp_path, *SMALL[:6], "--sizes", "16")
    warpheap("survey", *words)
    (only,) = records(tmp_path)
    assert (only["size"], only["status"]) == (16, "crashed")
    assert "another case: 'size' is 4096, not 16" in only["reason"]
    assert "1 of 1 cases are in" in warpheap("survey", *words).out


def test_a_timeout_is_tried_again_only_with_more_time(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(allocators="hangs")
    arguments = ("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL[:6], "--sizes", "16", "--time-limit")

    def limit_of_record(limit: str) -> tuple[bool, float]:
        """Whether the record was there before, and the limit it was made with."""
        done = warpheap(*arguments, limit)
        (only,) = records(tmp_path / "out")
        assert only["status"] == "timeout"
        return "1 of 1 cases are in" in done.out, only["time_limit_s"]

    assert limit_of_record("1") == (False, 1)
    asked_before = asked(driver)  # one line, or none if the second was over before the child wrote it
    assert limit_of_record("1") == (True, 1)
    assert limit_of_record("0.5") == (True, 1)
    assert asked(driver) == asked_before
    assert limit_of_record("1.5") == (False, 1.5)


@pytest.mark.parametrize("share", [(), ("--share-process",)], ids=["alone", "shared"])
def test_what_the_driver_gave_up_for_its_time_is_tried_again_only_with_more(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, share: tuple[str, ...]
) -> None:
    driver = fake_driver(allocators="slow")
    arguments = ("survey", "--driver", driver, "--out", tmp_path, *SMALL[:6], "--sizes", "16", *share, "--time-limit")

    def runs() -> int:
        return sum(line != "--serve" for line in asked(driver))

    for limit, status, ran in (("9", "failed", 1), ("9", "failed", 1), ("6", "failed", 1), ("20", "ok", 2)):
        assert warpheap(*arguments, limit).code == 0
        (only,) = records(tmp_path)
        assert (only["status"], runs()) == (status, ran), f"a limit of {limit} s"


def test_what_the_time_left_uncertain_is_measured_again_with_more(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    driver = fake_driver(allocators="good", noisy="malloc")
    arguments = ("survey", "--driver", driver, "--out", tmp_path, *SMALL[:6], "--sizes", "16", "--time-limit")
    warpheap(*arguments, "10")
    warpheap(*arguments, "20")
    assert len(asked(driver)) == 1, "it had time for all its rounds"
    path = tmp_path / "survey.jsonl"
    path.write_text(json.dumps(records(tmp_path)[0] | {"seconds": 5.1}) + "\n")
    warpheap(*arguments, "10")
    assert len(asked(driver)) == 1, "it would get as far again"
    assert "more --most-iterations or --time-limit narrow them" in warpheap(*arguments, "20").out
    assert len(asked(driver)) == 2


def test_a_result_outlives_a_run_with_less_time(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="slow", noisy="malloc")
    arguments = ("survey", "--driver", driver, "--out", tmp_path, *SMALL[:6], "--sizes", "16")
    warpheap(*arguments, "--time-limit", "60")
    before = records(tmp_path)
    assert [each["status"] for each in before] == ["ok"]
    done = warpheap(*arguments, "--time-limit", "9", "--most-iterations", "1000")
    assert len(asked(driver)) == 2
    assert "the time was over" in done.out
    assert records(tmp_path) == before


def heed_interrupts() -> None:
    """A shell has its background jobs ignore interrupts, and so what they start, these tests among them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interruption_leaves_a_record_to_go_on_from(fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="interrupts good")
    command = [sys.executable, "-m", "warpheap", "survey", "--driver", driver, "--out", tmp_path / "out", *SMALL]
    start = time.monotonic()
    # A group of its own, as a shell gives it; the driver interrupts us in the middle of its third case.
    child = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, preexec_fn=heed_interrupts
    )
    assert time.monotonic() - start < 60
    assert child.returncode == 130, child.stderr
    assert "Interrupted: 3 of 4 cases" in child.stdout
    assert "./run survey --driver" in child.stdout
    assert len(records(tmp_path / "out")) == 3


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (("--allocators", "bmp"), "good, slow_free"),
        (("--allocators", ""), "good, slow_free"),
        (("--modes", "threads"), "thread, warp, mixed"),
        (("--cases", "thrughput"), "throughput"),
        (("--preset", "fast"), "quick, default, paper, full"),
        (("--cases", "orders", "--modes", "thread"), "same_kernel, as_allocated"),
        (("--cases", "orders", "--preset", "paper"), "quick, default, full"),
        (("--sizes", "64..16"), "low to high"),
        (("--threads", "1..1G+1"), "larger step"),
        (("--iterations", "9", "--most-iterations", "5"), "at least as many"),
        (("--device", "first"), "a number such as 0"),
        (("--device", "7"), "no GPU '7' here"),
        (("--backend", "gpu"), "auto, host, cuda"),
        (("--threads", "ten"), "10k"),
        (("--sizes", "0"), "4KiB"),
        (("--heap", "8 parsecs"), "8GiB"),
        (("--heap", "99TiB"), "16 GiB of memory"),
        (("--backend", "host"), "cuda backend"),
    ],
    ids=str,
)
def test_wrong_words_are_answered_with_right_ones(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, arguments: tuple[str, str], right: str
) -> None:
    done = warpheap("survey", "--driver", fake_driver(), "--out", tmp_path / "out", *arguments)
    assert done.code == 2
    assert right in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("words", [("--backend", "cuda"), ("--device", "0"), ("--devices", "all")], ids=str)
def test_a_machine_without_a_gpu_is_told_before_a_build(
    warpheap: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    monkeypatch.setattr(project, "find_built_driver", lambda backend: None)
    monkeypatch.setattr(builds, "gpu_architectures", str)
    done = warpheap("--check", "survey", *words)
    assert done.code == 2
    assert done.err.startswith(f"warpheap: {words[0]}: nvidia-smi names no GPU here")
    monkeypatch.setattr(builds, "gpu_architectures", lambda: "90")
    monkeypatch.setattr(builds, "_find", lambda name, variable: None)
    assert f"{words[0]}: no nvcc is on the PATH here" in warpheap("--check", "survey", *words).err
    monkeypatch.setattr(builds, "_find", lambda name, variable: name)
    assert warpheap("--check", "survey", *words).code == 0
    # Nothing is built yet, and who starts the package itself is told what the build needs.
    assert "where a GPU answers and nvcc is on the PATH" in warpheap("survey", *words).err


def test_what_the_host_has_not_is_told_before_a_build(warpheap: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "find_built_driver", lambda backend: None)
    words = ("--check", "survey", "--preset", "quick", "--cases", "latency")
    monkeypatch.setattr(builds, "prefers_gpu", lambda: True)
    assert warpheap(*words).code == 0
    monkeypatch.setattr(builds, "prefers_gpu", lambda: False)
    assert "latency has no part in preset quick on the host backend" in warpheap(*words).err


def test_a_driver_that_is_none_is_refused(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    assert "there is no program" in warpheap("survey", "--driver", tmp_path / "nowhere").err
    done = warpheap("survey", "--driver", "/bin/echo", "--out", tmp_path / "out")
    assert done.code == 2
    assert "no warpheap benchmark driver" in done.err
    done = warpheap("survey", "--driver", fake_driver(no_machine="1"))
    assert done.code == 2
    assert "no GPU answers" in done.err


def test_a_driver_of_another_schema_is_refused(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    done = warpheap("survey", "--driver", fake_driver(schema="1"), "--out", tmp_path / "out")
    assert done.code == 2
    assert "schema 1, this package reads 2; build it anew" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "line", ['{"name": "foreign"}', '{"schema": 9}', '{"schema": 2, "case": "throughp', "binary\0"]
)
def test_a_record_that_is_none_is_never_overwritten(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, line: str
) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(line + "\n")
    done = warpheap("survey", "--driver", fake_driver(), "--out", tmp_path, *SMALL)
    assert done.code == 2
    assert f"{path}, line 1" in done.err
    assert len(done.err.splitlines()) == 1
    assert path.read_text() == line + "\n"


def test_a_folder_that_cannot_be_written_is_one_line(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = warpheap("survey", "--driver", fake_driver(), "--out", tmp_path / "file" / "below")
    assert done.code == 2
    assert "cannot be written" in done.err


def test_two_commands_do_not_write_into_one_folder(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="hangs")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", *SMALL)
    child = subprocess.Popen([sys.executable, "-m", "warpheap", *words], env=environment(), stdout=subprocess.DEVNULL)
    while not asked(driver):
        time.sleep(0.05)
    for command in (words, ("gpu", "--out", tmp_path / "out", "--prebuilt", tmp_path)):
        done = warpheap(*command)
        assert (done.code, f"another command writes into {tmp_path / 'out'}" in done.err) == (2, True), done.err
    child.kill()
    child.wait(60)
    fake_driver(allocators="good")
    assert warpheap(*words).code == 0, "the lock ended with its process"


@pytest.mark.parametrize("share", [(), ("--share-process",)], ids=["alone", "shared"])
def test_what_is_not_ok_runs_again_if_that_is_asked_for(
    warpheap: Command, fake_driver: MakeDriver, tmp_path: Path, share: tuple[str, ...]
) -> None:
    driver = fake_driver(allocators="good overlaps crashes")
    arguments = ("survey", "--driver", driver, "--out", tmp_path, *SMALL[:6], *share)
    warpheap(*arguments, "--sizes", "16,256")
    Path(f"{driver}.log").unlink()
    done = warpheap(*arguments, "--sizes", "16", "--retry")
    assert f"2 records that are not ok were moved to {tmp_path / 'survey.retried.jsonl'}" in done.out
    again = [line.split() for line in asked(driver) if line != "--serve"]
    assert {(words[words.index("--allocator") + 1], words[words.index("--size") + 1]) for words in again} == {
        ("overlaps", "16"), ("crashes", "16"),
    }  # fmt: skip
    assert len(records(tmp_path)) == 6
    before = read_records(tmp_path / "survey.retried.jsonl")
    assert {(each["allocator"], each["status"]) for each in before} == {("overlaps", "failed"), ("crashes", "crashed")}
    done = warpheap(*arguments, "--retry", "--fresh")
    assert (done.code, "leave one of them away" in done.err) == (2, True)


def test_presets_leave_out_what_cannot_fit(warpheap: Command, fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="good")
    warpheap("survey", "--driver", driver, "--out", tmp_path / "out", "--cases", "throughput", "--heap", "1GiB")
    biggest = max(each["threads"] * each["size"] for each in records(tmp_path / "out"))
    assert biggest == 100_000 * 4096  # the next, 100,000 x 8 KiB, is more than three quarters of the heap
    # What is named is run all the same.
    done = warpheap(
        *("survey", "--driver", driver, "--out", tmp_path / "two", "--cases", "throughput"),
        *("--threads", "1M", "--sizes", "8K", "--heap", "1GiB"),
    )
    assert done.code == 0
    assert len(records(tmp_path / "two")) == 3


def test_the_sender_of_a_signal_is_not_the_only_one_to_end(fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="hangs")
    command = [sys.executable, "-m", "warpheap", "survey", "--driver", driver, "--out", tmp_path / "out", *SMALL]
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    while not asked(driver):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "0 of 2 cases" in out
    assert wait_until(lambda: not alive(driver)), "a process of the case is left"


@pytest.mark.parametrize("share", [(), ("--share-process",)], ids=["alone", "shared"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whoever_ends_a_survey_ends_its_driver_on_each_gpu(
    fake_driver: MakeDriver, tmp_path: Path, sent: signal.Signals, share: tuple[str, ...]
) -> None:
    driver = fake_driver(allocators="good hangs", gpus="2")
    words = ("survey", "--driver", driver, "--out", tmp_path / "out", "--devices", "all", *share, *SMALL)
    child = subprocess.Popen(
        [sys.executable, "-m", "warpheap", *words], env=environment(), stdout=subprocess.PIPE, text=True
    )
    while sum("--allocator hangs" in line for line in asked(driver)) < 2:
        time.sleep(0.05)
    for _ in range(2):  # as `timeout` does: to the process, and to its group
        child.send_signal(sent)
    out, _ = child.communicate(timeout=30)
    assert wait_until(lambda: not alive(driver)), "a driver goes on beside the next survey"
    if sent is signal.SIGKILL:
        return
    assert child.returncode == 130
    assert "Interrupted: 1 of 4 cases" in out
    assert [each["allocator"] for each in records(tmp_path / "out")] == ["good"]
    assert not list((tmp_path / "out").glob("survey.gpu-*"))


def test_a_hang_up_that_is_ignored_ends_no_survey(fake_driver: MakeDriver, tmp_path: Path) -> None:
    driver = fake_driver(allocators="good", seconds="1")
    command = ["nohup", sys.executable, "-m", "warpheap", "survey", "--driver", driver, "--out", tmp_path, *SMALL]
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not asked(driver):
        time.sleep(0.05)
    child.send_signal(signal.SIGHUP)
    assert child.wait(60) == 0


def alive(driver: Path) -> list[Path]:
    """The processes of that driver."""
    return [pid for pid in Path("/proc").iterdir() if pid.name.isdigit() and _runs(pid, str(driver))]


def _runs(pid: Path, program: str) -> bool:
    try:
        words = (pid / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    return f"FAKE_SELF={program}" in words and pid.name != str(os.getpid())
