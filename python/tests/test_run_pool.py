# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run --mode pool`: programs get memory of a pool, and see nothing of that but the addresses."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished
from interposed import LIBRARY, End, Laboratory, needs_library, needs_pools, preloaded, split

from warpheap.interposer import run as interposer
from warpheap.stream_pools import library as pools

pytestmark = [needs_library, needs_pools]

WAYS = ("linked", "everywhere", "opened", "table", "first-table", "thread-table")
NOWHERE = "(nil)"


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("pool"))


@pytest.fixture(params=[(), ("--audit",)], ids=["preload", "audit"])
def way_in(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param


def pooled(laboratory: Laboratory, *steps: str, options: tuple[str, ...] = (), way: str = "table", **more: Any) -> End:
    program = {"linked": laboratory.linked, "everywhere": laboratory.with_driver}.get(way, laboratory.program)
    return laboratory.run(program, way, *steps, options=("--mode", "pool", *options), **more)


def results(end: End) -> list[str]:
    """The last word of each line that the program printed: what each step answered."""
    return [line.split()[-1] for line in end.printed.splitlines()]


def figures(end: End) -> dict[str, int]:
    """The figures of pools in the report."""
    form = (
        r"^  pooled: (?P<pooled>\d+) blocks, (?P<pooled_bytes>\d+) bytes; "
        r"forwarded: (?P<forwarded>\d+) blocks, (?P<forwarded_bytes>\d+) bytes\n"
        r"  most bytes reserved: (?P<reserved>\d+); most bytes live: (?P<live>\d+)$"
    )
    found = re.search(form, end.said, re.MULTILINE)
    assert found is not None, end.said
    return {name: int(number) for name, number in found.groupdict().items()}


def counts(end: End) -> tuple[int, int]:
    """How many blocks came from pools, and how many from the driver."""
    found = figures(end)
    return found["pooled"], found["forwarded"]


def asked_of_pools(end: End, what: str) -> list[str]:
    """The numbers and streams of the calls of one kind that pools got."""
    return [line.removeprefix(f"pool {what} ") for line in end.asked if line.startswith(f"pool {what} ")]


def asked_of_driver(end: End) -> list[str]:
    """The blocks that the driver was asked for, but for those of the library of pools itself."""
    return [line for line in end.asked if line.startswith("cuMemAlloc") and line != "cuMemAlloc_v2 77"]


# --- Serving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_blocks_come_from_the_pool(laboratory: Laboratory, way_in: tuple[str, ...], way: str) -> None:
    steps = split("take:1000 write:0:999 async:70 write:1:69 give:0 give-async:1 take:24 async:9")
    end = pooled(laboratory, *steps, options=way_in, way=way)
    assert (end.code, set(results(end))) == (0, {"0"})
    assert asked_of_driver(end) == []
    found = figures(end)
    assert found.pop("reserved") >= 1 << 16
    assert found == {"pooled": 4, "pooled_bytes": 1103, "forwarded": 0, "forwarded_bytes": 0, "live": 1070}
    assert end.memory() == {"device": [1, 24, 1000], "stream": [1, 9, 70]}
    stream = "0x10"
    assert [line.split()[1] for line in asked_of_pools(end, "allocate")] == ["0x1100", stream, "0x1100", stream]
    assert asked_of_pools(end, "deallocate") == ["0 0x1100", f"0 {stream}"]


def test_calls_of_the_pool_are_not_the_programs(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:1000 take:24 give:0")
    end = pooled(laboratory, *steps, options=way_in)
    # The stand-in takes a block of the driver's for each of: making a pool, two blocks, and one that is given back.
    assert end.asked.count("cuMemAlloc_v2 77") == 4
    assert end.calls()["cuMemAlloc_v2"][1:] == [2, 0, 1024]
    assert end.calls()["cuMemFree_v2"][1:] == [1, 0, 1000]
    assert end.calls()["cuGetProcAddress_v2"] == [2, 20, 0, 0]


def test_a_library_of_pools_that_the_program_has_opened_makes_calls_of_its_own(laboratory: Laboratory) -> None:
    assert LIBRARY is not None
    early = laboratory.shared("stand_in_pool.c", "early.so", "-DOPENS_EARLY", "-I" + str(laboratory_headers()))
    variables = {
        **preloaded(LIBRARY, early),
        "WARPHEAP_RUN_MODE": "pool",
        "WARPHEAP_RUN_POOL": str(early),
    }
    end = laboratory.alone(laboratory.program, "table", "take:1000", "give:0", "exit:0", **variables)
    assert results(end) == ["0", "0"]
    assert counts(end) == (1, 0)
    assert end.calls()["cuMemAlloc_v2"][1:] == [1, 0, 1000]
    assert end.asked.count("cuMemAlloc_v2 77") == 3


def laboratory_headers() -> Path:
    return Path(__file__).resolve().parents[2] / "include"


def test_blocks_are_aligned_as_the_drivers(laboratory: Laboratory) -> None:
    end = pooled(laboratory, *split("take:1 take:1 async:1 async:1 align:0:512 align:1:512 align:2:512 align:3:512"))
    assert set(results(end)) == {"0"}
    assert counts(end) == (4, 0)


def test_two_threads_take_and_give_back(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, "threads:2000", options=way_in, STAND_IN_LOG="")
    assert (end.code, results(end)) == (0, ["0"])
    assert counts(end) == (16000, 0)
    live, held, most = end.memory()["device"]
    assert (live, held) == (0, 0) and 256 <= most <= 512
    assert "out of sight" not in end.said


def test_what_the_driver_serves_stays_the_drivers(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split(
        "pitch:100:3 managed:40 host:50 host-flags:60 pool:80 create:90 give:0 give:1 give-host:2 give-host:3"
        " give-async:4 release:5 take:0"
    )
    end = pooled(laboratory, *steps, options=way_in)
    assert end.printed == laboratory.alone(laboratory.program, "table", *steps).printed
    assert asked_of_pools(end, "allocate") == []
    assert counts(end) == (0, 1)


def test_wrong_pointers_are_refused_as_the_driver_does(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:100 give:0 give:0 give-address:4660 give-address:0 async:50 give-async:1 give-async:1")
    end = pooled(laboratory, *steps, options=way_in)
    assert results(end) == ["0", "0", "1", "1", "0", "0", "0", "1"]
    assert end.calls()["cuMemFree_v2"][1:] == [4, 2, 100]


# --- The order of streams ---------------------------------------------------------------------------------------------


def test_a_block_for_all_streams_is_free_after_all_work(laboratory: Laboratory) -> None:
    end = pooled(laboratory, "take:100", "give:0")
    first, last = end.asked.index("pool allocate 100 0x1100"), end.asked.index("pool deallocate 0 0x1100")
    # Memory that came from another stream is idle before the program has it, and all work is done before it goes.
    assert "cuStreamSynchronize 0x1100" in end.asked[first:last]
    assert "cuCtxSynchronize 0x1000" in end.asked[first:last]
    assert "cuStreamCreate 0x1000 1" in end.asked


def test_a_block_can_be_given_back_in_another_way(laboratory: Laboratory) -> None:
    steps = split("async:100 give:0 take:100 give-async:1 async:100 give-async-on:2:48")
    end = pooled(laboratory, *steps)
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "deallocate") == ["0 0x1100", "0 0x10", "0 0x30"]
    assert end.memory() == {"device": [0, 0, 100], "stream": [0, 0, 100]}


@pytest.mark.parametrize(("way", "name"), [("table", NOWHERE), ("thread-table", "0x2")])
def test_the_null_stream_is_that_of_the_form(laboratory: Laboratory, way: str, name: str) -> None:
    end = pooled(laboratory, "async-on:100:0", "give-async-on:0:0", "async-on:9:2", way=way)
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "allocate") == [f"100 {name}", "9 0x2"]
    assert asked_of_pools(end, "deallocate") == [f"0 {name}"]


def test_a_stream_is_forgotten_before_it_is_destroyed(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, "async:100", "destroy-stream", "give-async-on:0:48", options=way_in)
    assert set(results(end)) == {"0"}
    assert end.asked.index("pool forget 0 0x10") < end.asked.index("cuStreamDestroy_v2 0x10")


# --- Devices and contexts ---------------------------------------------------------------------------------------------


def test_each_device_has_its_pool(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    # Streams 0x40 are of the second device, and a block goes back there whichever context is current.
    steps = split("take:10 context:8192 take:20 async-on:30:64 context:4096 give:1 give:0 give-async-on:2:64")
    end = pooled(laboratory, *steps, options=way_in)
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "make") == ["0 (nil)", "1 (nil)"]
    assert asked_of_pools(end, "allocate") == ["10 0x1100", "20 0x2100", "30 0x40"]
    assert asked_of_pools(end, "deallocate") == ["0 0x2100", "0 0x1100", "0 0x40"]
    waits = [line for line in end.asked if line.startswith("cuCtxSynchronize")]
    assert waits == ["cuCtxSynchronize 0x2000", "cuCtxSynchronize 0x1000"]
    assert counts(end) == (3, 0)


def test_a_block_that_goes_back_on_a_stream_of_another_device_is_waited_for(laboratory: Laboratory) -> None:
    end = pooled(laboratory, "take:10", "give-async-on:0:64")
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "deallocate") == ["0 0x1100"]
    assert end.asked.index("cuStreamSynchronize 0x40") < end.asked.index("cuCtxSynchronize 0x1000")


def test_contexts_that_are_not_primary_are_the_drivers(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("context:12288 take:10 give:0 context:0 take:20 async-on:30:80 context:4096 take:40")
    end = pooled(laboratory, *steps, options=way_in)
    assert set(results(end)) == {"0"}
    assert asked_of_driver(end) == ["cuMemAlloc_v2 10", "cuMemAlloc_v2 20", "cuMemAllocAsync 30 0x50"]
    assert counts(end) == (1, 3)


def test_a_reset_ends_the_pool_of_a_device(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:10 async:20 context:8192 take:30 reset:0 context:4096 give:0 take:40 give:3 give:2")
    end = pooled(laboratory, *steps, options=way_in)
    # The driver does not know the first block, which is gone. From then on it serves that device.
    assert results(end) == ["0", "0", "0", "0", "0", "0", "1", "0", "0", "0"]
    assert asked_of_driver(end) == ["cuMemAlloc_v2 40"]
    assert end.memory()["device"][:2] == [0, 0] and end.memory()["stream"][:2] == [0, 0]


def test_a_block_that_was_put_off_goes_with_its_device(laboratory: Laboratory) -> None:
    end = pooled(laboratory, *split("take:8 capture give:0 reset:0 end-capture context:8192 take:7"))
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "allocate") == ["8 0x1100", "7 0x2100"]
    assert asked_of_pools(end, "deallocate") == []


def test_a_device_without_a_pool_is_the_drivers(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:10 context:8192 take:20 take:30 give:1 give:0")
    end = pooled(laboratory, *steps, options=way_in, STAND_IN_POOL_FAILS="1")
    assert set(results(end)) == {"0"}
    assert counts(end) == (1, 2)
    assert asked_of_pools(end, "make") == ["0 (nil)", "1 (nil)"]
    assert "  not pooled: " in end.said


def test_no_device_reaches_the_pool_of_another(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    assert laboratory.alone(laboratory.program, "table", "peer").printed == "1 3 0 peer 0\n"
    end = pooled(laboratory, "peer", options=way_in)
    assert end.printed == "0 0 0 peer 217\n"
    assert end.said.count("cuCtxEnablePeerAccess was refused: other devices cannot reach the memory of the pool") == 1
    assert not any(line.startswith("cuCtxEnablePeerAccess") for line in end.asked)


@pytest.mark.parametrize("call", ["use-pool", "use-pool-13"])
def test_pools_of_the_program_serve_its_streams(laboratory: Laboratory, way_in: tuple[str, ...], call: str) -> None:
    steps = split(f"async:10 {call}:0 async:20 take:30 give-async:0 give-async:1")
    end = pooled(laboratory, *steps, options=way_in)
    assert set(results(end)) == {"0"}
    assert asked_of_driver(end) == ["cuMemAllocAsync 20 0x10"]
    assert counts(end) == (2, 1)


# --- What is asked about memory ---------------------------------------------------------------------------------------


def test_the_range_of_a_block_is_the_blocks(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:1000 async:70 take:9 range:0:0 range:0:999 range:1:69 range:0:1000 give:1 range:1:0")
    end = pooled(laboratory, *steps, options=way_in)
    told = [line for line in end.printed.splitlines() if "range" in line]
    assert told[:3] == ["1 1000 range 0", "1 1000 range 0", "1 70 range 0"]
    # Between two blocks, and in one that was given back.
    assert [line.split()[-1] for line in told[3:]] == ["1", "1"]


def free_bytes(end: End) -> list[int]:
    """What `cuMemGetInfo` told, each time."""
    return [int(line.split()[0]) for line in end.printed.splitlines() if "info" in line]


def test_free_memory_is_the_drivers_and_the_pools(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    # The stand-in's pool does not take its memory of the driver, which has no more than 1 GiB: so other memory is used.
    steps = split("managed:500000000 info take:1000 info take:5000 info give:1 info give:2 info")
    before, one, both, large, none = free_bytes(pooled(laboratory, *steps, options=way_in))
    assert (one - both, large - both, none - large) == (5120, 1024, 5120)
    assert none > before, "what the pool keeps is free to the program"


def test_free_memory_of_a_pool_does_not_count_while_it_cannot_serve(
    laboratory: Laboratory, way_in: tuple[str, ...]
) -> None:
    steps = split("managed:500000000 info take:1000 info capture info end-capture info reset:0 info")
    before, pooled_too, captured, after, lost = free_bytes(pooled(laboratory, *steps, options=way_in))
    assert pooled_too == after > before
    assert captured == before
    assert lost == 1 << 30, "the reset has ended the other memory, too"


def test_free_memory_is_never_more_than_there_is(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    # In the stand-in's driver nothing is in use but what the library of pools took.
    (told,) = free_bytes(pooled(laboratory, *split("take:1000 info"), options=way_in))
    assert told == 1 << 30


def test_free_memory_is_the_drivers_without_a_pool(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = laboratory.run(laboratory.program, "table", *split("take:1000 info give:0 info"), options=way_in)
    assert [told - (1 << 30) for told in free_bytes(end)] == [-1000, 0]


def test_attributes_of_a_block_are_the_blocks(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, "take:1000", "attributes:0:999", "async:70", "attributes:1:3", options=way_in)
    told = [line for line in end.printed.splitlines() if "attributes" in line]
    # A block in a stream's order has no context, as with the driver.
    assert told == ["0x1000 2 1 1000 " * 2 + "attributes 0", "0 2 1 70 " * 2 + "attributes 0"]


def test_a_block_of_the_pool_has_no_handle_for_other_processes(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:1000 ipc:0 ipc:0 managed:5 ipc:1")
    end = pooled(laboratory, *steps, options=way_in)
    assert results(end) == ["0", "801", "801", "0", "0"]
    why = "a block of the pool is a part of an allocation, and the driver shares whole ones; run the program with"
    assert end.said.count(f"cuIpcGetMemHandle was refused: {why} another mode\n") == 1


def test_a_block_of_the_pool_has_no_handle_of_memory(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, "take:1000", "retain:0", "give:0", options=way_in)
    assert results(end) == ["0", "1", "0"]
    assert "cuMemRetainAllocationHandle" not in end.asked


# --- Captures ---------------------------------------------------------------------------------------------------------


def test_a_capture_gets_the_drivers_memory(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:8 capture async:4 take:9 async-on:5:48 end-capture take:7 async:6")
    end = pooled(laboratory, *steps, options=way_in)
    assert set(results(end)) == {"0"}
    assert asked_of_driver(end) == ["cuMemAllocAsync 4 0x10", "cuMemAlloc_v2 9", "cuMemAllocAsync 5 0x30"]
    assert counts(end) == (3, 3)


def test_a_block_that_is_given_back_in_a_capture_goes_later(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("take:8 take:9 capture give:0 give:0 give:1 end-capture take:7")
    end = pooled(laboratory, *steps, options=way_in)
    assert results(end) == ["0", "0", "0", "0", "1", "0", "0", "0"]
    assert "the capture is spoilt" not in end.asked
    ended = end.asked.index("cuStreamEndCapture 0x10")
    assert "pool deallocate 0 0x1100" not in end.asked[:ended]
    assert end.asked[ended:].count("pool deallocate 0 0x1100") == 2
    assert end.memory()["device"][:2] == [1, 7]


def test_a_block_that_a_graph_would_free_is_kept(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    # On the captured stream the graph would free the block; on another stream it goes at once.
    steps = split("async:8 async:9 capture give-async:0 give-async-on:1:48 end-capture async:7")
    end = pooled(laboratory, *steps, options=way_in)
    assert set(results(end)) == {"0"}
    assert asked_of_pools(end, "deallocate") == ["0 0x30"]
    assert "  blocks that a captured graph would free, and that were kept: 1\n" in end.said


def test_a_second_free_after_one_in_a_capture_is_refused(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    steps = split("async:8 take:9 capture give-async:0 give-async:0 give:1 end-capture give-async:1 give:0 give:1")
    end = pooled(laboratory, *steps, options=way_in)
    assert results(end) == ["0", "0", "0", "0", "1", "0", "0", "1", "1", "1"]


# --- Memory runs out --------------------------------------------------------------------------------------------------


def test_what_the_pool_cannot_hold_comes_from_the_driver(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    limits = {"STAND_IN_POOL_BYTES": str(1 << 16), "STAND_IN_BYTES": "100000"}
    steps = split("take:60000 take:50000 take:60000 async:60000 give:0 give:1 take:60000")
    end = pooled(laboratory, *steps, options=way_in, **limits)
    assert results(end) == ["0", "0", "2", "2", "0", "0", "0"]
    assert asked_of_driver(end)[:2] == ["cuMemAlloc_v2 50000", "cuMemAlloc_v2 60000"]
    assert counts(end) == (2, 1)
    first = end.asked.index("pool trim 0 (nil)")
    assert first < end.asked.index("cuMemAlloc_v2 50000")
    assert end.calls()["cuMemAlloc_v2"][1:] == [4, 1, 170000]


@pytest.mark.parametrize("step", ["managed:90000", "pitch:512:170", "create:90000", "pool:90000"])
def test_a_driver_without_memory_gets_what_the_pool_has_free(laboratory: Laboratory, step: str) -> None:
    steps = ("take:1000", "give:0", step)
    end = pooled(laboratory, *steps, STAND_IN_BYTES="80000")
    assert results(end) == ["0", "0", "2"]
    name = {"managed": "cuMemAllocManaged", "pitch": "cuMemAllocPitch_v2", "create": "cuMemCreate"}.get(
        step.split(":")[0], "cuMemAllocFromPoolAsync"
    )
    tries = [at for at, line in enumerate(end.asked) if line.split()[0] == name]
    assert len(tries) == 2
    assert "pool trim 0 (nil)" in end.asked[tries[0] : tries[1]]


# --- The end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["exit:7", "_exit:7"])
def test_a_program_ends_without_giving_back(laboratory: Laboratory, way_in: tuple[str, ...], how: str) -> None:
    end = pooled(laboratory, "take:1000", "async:70", how, options=way_in)
    assert end.code == 7
    assert figures(end)["reserved"] >= 1 << 16
    assert end.memory()["device"] == [1, 1000, 1000]


def test_a_child_is_the_drivers(laboratory: Laboratory, way_in: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = split("take:10 fork give:0 take:30 give:1 async:5")
    end = pooled(laboratory, *steps, options=(*way_in, "--out", str(out)))
    assert end.code == 0
    # The child's driver does not know the block of the parent's pool.
    assert results(end) == ["0", "0", "1", "0", "0", "0"]
    assert asked_of_driver(end) == ["cuMemAlloc_v2 30", "cuMemAllocAsync 5 0x10"]
    reports = out.read_text().split("warpheap run[")[1:]
    assert len(reports) == 2
    told = [report for report in reports if "not pooled: CUDA does not serve a child that was forked" in report]
    assert len(told) == 1 and "  most bytes reserved: 0; most bytes live: 0\n" in told[0]


def test_a_child_of_a_parent_without_memory_has_a_pool(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, *split("fork take:30 give:0"), options=way_in)
    assert set(results(end)) == {"0"}
    assert counts(end) == (1, 0)


def test_a_broken_context_is_told_by_the_driver(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, *split("take:10 async:20 break give:0 give-async:1"), options=way_in)
    assert results(end) == ["0", "0", "0", "700", "700"]
    assert end.memory()["device"][:2] == [1, 10]


# --- The library of pools ---------------------------------------------------------------------------------------------


def test_a_library_of_pools_that_cannot_serve_leaves_all_to_the_driver(
    laboratory: Laboratory, way_in: tuple[str, ...]
) -> None:
    steps = split("take:10 async:20 give:0 give-async:1 peer")
    alone = laboratory.alone(laboratory.program, "table", *steps)
    end = pooled(laboratory, *steps, options=way_in, STAND_IN_POOL_BACKEND="host")
    assert (end.printed, end.asked) == (alone.printed, alone.asked)
    assert "makes pools of the backend host, whose memory is not a GPU's" in end.said
    assert counts(end) == (0, 2)
    end = pooled(laboratory, *steps, options=way_in, **{pools.VARIABLE: str(LIBRARY)})
    assert end.printed == alone.printed
    assert "has no wh_pool_abi and is no library of pools" in end.said


def test_an_old_driver_serves_alone(laboratory: Laboratory, way_in: tuple[str, ...]) -> None:
    end = pooled(laboratory, "take:10", "give:0", options=way_in, driver=laboratory.old_driver)
    assert results(end) == ["0", "0"]
    assert "  not pooled: the driver has no cuCtxGetCurrent; CUDA 11 or later is needed\n" in end.said


def test_a_library_of_pools_that_is_not_built_is_named(
    warpheap: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(pools.VARIABLE, raising=False)
    monkeypatch.setattr(pools, "find_library", lambda backend: None)
    done = warpheap("run", "--mode", "pool", "--", "true")
    assert done.code == 2
    assert "--mode pool needs the library of pools for a GPU" in done.err and "warpheap_pool_cuda" in done.err
    monkeypatch.setenv(pools.VARIABLE, str(tmp_path / "none.so"))
    assert "none.so, which is no file" in warpheap("run", "--mode", "pool", "--", "true").err


def test_the_library_of_pools_is_for_this_mode_alone() -> None:
    job = interposer.Job(["x"], "pool")
    made = interposer.environment(job, Path("/r.so"), {}, Path("/p.so"))
    assert made["WARPHEAP_RUN_POOL"] == "/p.so"
    assert "WARPHEAP_RUN_POOL" not in interposer.environment(interposer.Job(["x"]), Path("/r.so"), made)
