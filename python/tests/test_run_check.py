# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run --mode check`: what programs do wrong with the driver's memory is said, and nothing else."""

import re
from pathlib import Path

import pytest
from interposed import End, Laboratory, needs_library, split

pytestmark = needs_library


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("check"))


@pytest.fixture(params=[(), ("--audit",)], ids=["preload", "audit"])
def way_in(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param


def checked(laboratory: Laboratory, *steps: str, options: tuple[str, ...] = (), way: str = "table", **more: str) -> End:
    program = laboratory.linked if way == "linked" else laboratory.program
    return laboratory.run(program, way, *steps, options=("--mode", "check", *options), **more)


def faults(end: End) -> list[str]:
    """What each fault is, without the number of the process and addresses."""
    found = re.findall(r"^warpheap run\[\d+\]: fault (\d+): (.*)$", end.said, re.MULTILINE)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    return [re.sub(r"0x[0-9a-f]+", "AT", text) for _, text in found]


def leaks(end: End) -> list[str]:
    """The lines of what was not freed, without addresses."""
    return [re.sub(r" at 0x[0-9a-f]+$", "", line) for line in re.findall(r"^  leak: (.*)$", end.said, re.MULTILINE)]


def summary(end: End) -> str:
    found = re.findall(r"^  (faults: .*)$", end.said, re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


@pytest.mark.parametrize("way", ["table", "opened", "linked"])
def test_a_program_without_faults_has_none(laboratory: Laboratory, way_in: tuple[str, ...], way: str) -> None:
    steps = ["take:100", "write:0:0", "write:0:99", "async:40", "host:30", "give:0", "give-async:1", "give-host:2"]
    end = checked(laboratory, *steps, options=way_in, way=way)
    assert (end.code, faults(end), leaks(end)) == (0, [], [])
    assert summary(end) == "faults: 0; not freed: 0 blocks, 0 bytes"


@pytest.mark.parametrize("way", ["table", "opened", "linked"])
@pytest.mark.parametrize("past", [0, 1, 255])
def test_a_write_past_the_end_is_found(laboratory: Laboratory, way_in: tuple[str, ...], way: str, past: int) -> None:
    steps = ["take:100", "take:50", f"write:1:{50 + past}", "give:0", "give:1"]
    end = checked(laboratory, *steps, options=way_in, way=way)
    what = f"block 2 at AT of 50 bytes was written past its end: byte {50 + past} holds AT (seen by cuMemFree_v2)"
    assert faults(end) == [what]
    assert summary(end).startswith("faults: 1;")
    assert end.code == 0


def test_two_frees_are_told_from_a_foreign_one(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = ["take:100", "give:0", "give:0", "give-address:4660", "host:70", "give-host:1", "give-host:1"]
    end = checked(laboratory, *steps, options=way_in)
    refused = "which the driver refused with error 1)"
    assert faults(end) == [
        f"block 1 at AT of 100 bytes was freed twice (second time by cuMemFree_v2, {refused}",
        f"AT is no block that is live (cuMemFree_v2, {refused}",
        f"block 2 at AT of 70 bytes was freed twice (second time by cuMemFreeHost, {refused}",
    ]
    assert "0x1234 is no block" in end.said
    assert end.printed == laboratory.alone(laboratory.program, "table", *steps).printed


def test_handles_live_until_their_last_reference_is_given_back(laboratory: Laboratory) -> None:
    held = checked(laboratory, "create:500", "retain:0", "release:0")
    assert leaks(held) == ["1 of 500 bytes, physical, the first is block 1"]
    freed = checked(laboratory, "create:500", "retain:0", "release:0", "release:0", "release:0")
    assert leaks(freed) == []
    assert [text.split(" (")[0] for text in faults(freed)] == ["block 1 at AT of 500 bytes was freed twice"]


def test_memory_that_was_taken_out_of_sight_is_no_fault(laboratory: Laboratory) -> None:
    end = checked(laboratory, "later:100", "give:0")
    assert faults(end) == []
    assert "frees of memory that was taken out of sight: 1\n" in end.said


def test_leaks_have_their_sizes(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = ["take:10", "take:300", "take:10", "managed:5", "async:6", "pool:6", "host:8", "create:9", "pitch:10:2"]
    end = checked(laboratory, *steps, "take:77", "give:9", "_exit:3", options=way_in)
    assert end.code == 3
    assert summary(end) == "faults: 0; not freed: 9 blocks, 1378 bytes"
    assert leaks(end) == [
        "1 of 1024 bytes, device, the first is block 9",
        "1 of 300 bytes, device, the first is block 2",
        "2 of 10 bytes, device, the first is block 1",
        "1 of 5 bytes, managed, the first is block 4",
        "2 of 6 bytes, stream, the first is block 5",
        "1 of 8 bytes, host, the first is block 7",
        "1 of 9 bytes, physical, the first is block 8",
    ]


def test_a_long_list_of_leaks_is_cut_off(laboratory: Laboratory) -> None:
    end = checked(laboratory, *(f"take:{size}" for size in range(1, 91)))
    assert [line.split()[2] for line in leaks(end)] == [str(size) for size in range(90, 40, -1)]
    assert "  and 40 blocks more\n" in end.said


def test_faults_are_said_at_once(laboratory: Laboratory) -> None:
    end = checked(laboratory, "take:10", "write:0:10", "give:0", "kill")
    assert end.code == -9
    assert len(faults(end)) == 1
    assert "not freed" not in end.said


def test_without_room_for_a_red_zone_the_program_gets_its_block(laboratory: Laboratory) -> None:
    end = checked(laboratory, "take:1000", "write:0:999", "range:0:5", "give:0", "take:1001", STAND_IN_BYTES="1000")
    assert end.printed.splitlines() == ["take 0", "write 0", "1 1000 range 0", "give 0", "take 2"]
    assert faults(end) == []


def test_the_range_of_a_block_is_without_its_red_zone(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = checked(laboratory, "take:1000", "range:0:999", options=way_in)
    assert end.printed == "take 0\n1 1000 range 0\n"
    assert end.asked[0] == "cuMemAlloc_v2 1256"


def test_a_capture_goes_on_when_its_end_is_refused(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("capture end-capture-elsewhere take:9 end-capture take:7")
    end = checked(laboratory, *steps, options=way_in)
    assert end.printed == laboratory.alone(laboratory.program, "table", *steps).printed
    assert "the capture is spoilt" not in end.asked
    taken = [line for line in end.asked if line.startswith("cuMemAlloc_v2")]
    assert taken == ["cuMemAlloc_v2 9", "cuMemAlloc_v2 263"]


def test_a_capture_is_not_disturbed(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:8 capture async:4 give:0 take:9 end-capture give:2 take:7 end-capture give:3 write:0:8 give:0")
    end = checked(laboratory, *steps, options=way_in)
    assert "give 900" in end.printed
    assert end.printed == laboratory.alone(laboratory.program, "table", *steps).printed
    assert "the capture is spoilt" not in end.asked
    # A block of a capture has no red zone; one that is taken after it has.
    assert [line for line in end.asked if line.startswith("cuMemAlloc_v2")] == [
        "cuMemAlloc_v2 264",
        "cuMemAlloc_v2 9",
        "cuMemAlloc_v2 263",
    ]
    # What could not be looked at in the capture is looked at later: the free was refused, and the block stayed.
    assert [text.split(" was ")[0] for text in faults(end)] == ["block 1 at AT of 8 bytes"]
    assert leaks(end) == ["1 of 4 bytes, stream, the first is block 2"]


@pytest.mark.parametrize("begins", [150, 450])
def test_a_capture_that_begins_while_memory_is_taken_is_not_disturbed(
    laboratory: Laboratory, way_in: tuple[str, ...], begins: int
) -> None:
    # The driver takes 300 ms for the block, and then 300 for the red zone.
    end = checked(laboratory, f"race:50:{begins}", "give:0", options=way_in, STAND_IN_SLOW="300")
    assert end.printed.split() == ["race", "0", "give", "0"]
    assert "the capture is spoilt" not in end.asked
    assert faults(end) == []


def test_a_capture_ends_with_its_stream(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = checked(laboratory, *split("capture take:9 destroy-stream take:7 give:1"), options=way_in)
    assert end.printed.split()[1::2] == ["0"] * 5
    taken = [line for line in end.asked if line.startswith("cuMemAlloc_v2")]
    assert taken == ["cuMemAlloc_v2 9", "cuMemAlloc_v2 263"]


def test_another_stream_ends_no_capture(laboratory: Laboratory) -> None:
    end = checked(laboratory, *split("destroy-stream capture take:9 end-capture destroy-stream take:7"))
    taken = [line for line in end.asked if line.startswith("cuMemAlloc_v2")]
    assert taken == ["cuMemAlloc_v2 9", "cuMemAlloc_v2 263"]


@pytest.mark.parametrize("way", ["table", "opened", "linked"])
def test_the_first_form_of_a_capture_is_seen(laboratory: Laboratory, way_in: tuple[str, ...], way: str) -> None:
    end = checked(laboratory, *split("capture-first take:9 end-capture take:7"), options=way_in, way=way)
    assert "the capture is spoilt" not in end.asked
    taken = [line for line in end.asked if line.startswith("cuMemAlloc_v2")]
    assert taken == ["cuMemAlloc_v2 9", "cuMemAlloc_v2 263"]


def test_a_live_block_that_the_driver_refuses_to_free_is_a_fault(
    laboratory: Laboratory, way_in: tuple[str, ...]
) -> None:
    # A block that the driver has lost, as it does after a free out of the library's sight.
    end = checked(laboratory, "take:100", "lose:0", "give:0", options=way_in)
    assert end.printed.split()[-1] == "1"
    assert faults(end) == [
        "block 1 at AT of 100 bytes is live, and cuMemFree_v2 cannot free it: it is memory of the kind device (the"
        " driver refused with error 1)"
    ]


def test_a_broken_context_accuses_no_pointer(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:100 take:20 give:1 break give:0 give:1 give-address:4660")
    end = checked(laboratory, *steps, options=way_in)
    assert end.printed.split()[-5::2] == ["700", "700", "700"]
    assert faults(end) == []
    assert "  frees that the driver refused for another reason than the pointer: 3\n" in end.said
    assert summary(end) == "faults: 0; not freed: 1 blocks, 100 bytes"


def test_freed_blocks_that_come_again_are_live(laboratory: Laboratory) -> None:
    end = checked(laboratory, "threads:2000", "take:10", "give:0", "give:0")
    assert len(faults(end)) == 1
    assert summary(end) == "faults: 1; not freed: 0 blocks, 0 bytes"


def test_the_report_goes_into_a_file(laboratory: Laboratory, tmp_path: Path) -> None:
    out = tmp_path / "report"
    out.write_text("of another time\n")
    end = checked(laboratory, "take:10", "give:0", "give:0", options=("--out", str(out)))
    assert end.said == ""
    text = out.read_text()
    assert text.startswith("warpheap run[")
    assert "was freed twice" in text and "check of program\n  faults: 1; not freed: 0 blocks, 0 bytes\n" in text


def test_a_program_that_clears_its_environment_is_checked(
    laboratory: Laboratory, way_in: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "report"
    end = checked(laboratory, "clear", "take:10", "give:0", "give:0", options=(*way_in, "--out", str(out)))
    assert (end.code, end.said) == (0, "")
    assert "was freed twice" in out.read_text() and ": check of program\n  faults: 1;" in out.read_text()
