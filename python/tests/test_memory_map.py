# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What a pool's addresses hold, as a page and for PyTorch's memory viewer."""

import json
import pickle
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from warpheap.errors import UsageError
from warpheap.memory_map import for_pytorch, page, write
from warpheap.stream_pools import Segment, Snapshot

BASE = 0x7F0000000000
KIB = 1 << 10
MIB = 1 << 20
STATES = {
    "base": hex(BASE),
    "reserved_bytes": 1024 * MIB,
    "granule_bytes": 256,
    "segments": [
        {"offset": 0, "bytes": MIB, "state": "live", "stream": "0x10"},
        {"offset": MIB, "bytes": 512 * KIB, "state": "deferred"},
        {"offset": MIB + 512 * KIB, "bytes": 512 * KIB, "state": "free", "stream": "0x10"},
        {"offset": 2 * MIB, "bytes": 510 * MIB, "state": "absent"},
        {"offset": 512 * MIB, "bytes": 2 * MIB, "state": "live", "stream": "0x20", "capture": [7, 9]},
        {"offset": 514 * MIB, "bytes": 256, "state": "live", "stream": "0x20", "capture": [7, 9]},
        {"offset": 514 * MIB + 256, "bytes": 2 * MIB - 256, "state": "free"},
        {"offset": 516 * MIB, "bytes": 508 * MIB, "state": "absent"},
    ],
}


def changed(**members: Any) -> str:
    return json.dumps(STATES | members)


@pytest.fixture
def snapshot() -> Snapshot:
    return Snapshot.read(json.dumps(STATES))


def pictures(text: str) -> ElementTree.Element:
    """The map of a page."""
    found = re.search(r'<svg viewBox="0 0 \d+ \d+" role="img">.*?</svg>', text, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found.group())


def marks(text: str) -> list[tuple[str, str]]:
    """The colour and the words of each mark of the map."""
    return [(each.attrib["class"], each.findtext("title") or "") for each in pictures(text).iter("rect")]


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_is_read(snapshot: Snapshot) -> None:
    assert snapshot.segments[0] == Segment(BASE, MIB, "live", 0x10, None)
    assert snapshot.segments[4] == Segment(BASE + 512 * MIB, 2 * MIB, "live", 0x20, (7, 9))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        changed(base="somewhere"),
        changed(segments=[{"offset": 0, "bytes": 256}]),
        changed(segments=[{"offset": 0, "bytes": 256, "state": "lost"}]),
        changed(segments=[{"offset": 0, "bytes": 0, "state": "live"}]),
        changed(segments=[{"offset": 0, "bytes": 512, "state": "live"}, {"offset": 256, "bytes": 9, "state": "free"}]),
        changed(segments=[{"offset": 0, "bytes": STATES["reserved_bytes"] + 1, "state": "live"}]),
        changed(segments=[1]),
        changed(segments={"a": 1}),
        changed(segments=[{"offset": 0, "bytes": "256", "state": "live"}]),
        changed(segments=[{"offset": 0, "bytes": 256.5, "state": "live"}]),
        changed(segments=[{"offset": 0, "bytes": 256, "state": "live", "stream": 5}]),
        changed(segments=[{"offset": 0, "bytes": 256, "state": "live", "capture": "ab"}]),
        changed(segments=[{"offset": 0, "bytes": 256, "state": "live", "capture": [1]}]),
        changed(reserved_bytes=float("inf")),
        "[" * 100_000,
    ],
)
def test_what_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="this is no snapshot of a pool"):
        Snapshot.read(text)


def test_the_command_names_the_file_that_is_no_snapshot(tmp_path: Path) -> None:
    file = tmp_path / "pool.json"
    file.write_text("{}")
    with pytest.raises(
        UsageError, match=rf"^{re.escape(str(file))}: this is no snapshot of a pool: KeyError: 'base'; "
    ):
        write(file, tmp_path / "pool.html", None)
    assert list(tmp_path.iterdir()) == [file]


# --- The page ---------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else(snapshot: Snapshot) -> None:
    text = page(snapshot, "a <pool>")
    assert "a &lt;pool&gt;" in text
    assert not re.search(r"<script|<link|src=|@import|url\(|http", text)


def test_the_page_has_the_sums(snapshot: Snapshot) -> None:
    text = re.sub(r"<[^>]+>", " ", page(snapshot))
    assert re.search(r"memory +6 MiB", text)
    assert re.search(r"live +3 MiB +3 blocks, 50.0% of the memory", text)
    assert re.search(r"free +2.5 MiB +the largest stretch has 2 MiB", text)
    assert re.search(r"0x20 +7/9 +2 MiB +0 B +0 B", text), "who has the memory"


def test_only_free_memory_is_a_free_stretch() -> None:
    segments = [{"offset": 0, "bytes": 8 * MIB, "state": "live"}, {"offset": 8 * MIB, "bytes": MIB, "state": "free"}]
    assert "the largest stretch has 1 MiB" in page(Snapshot.read(changed(segments=segments)))


def test_the_map_shows_each_state_where_it_is(snapshot: Snapshot) -> None:
    seen = marks(page(snapshot))
    assert {state for state, _ in seen} == {"live", "deferred", "free", "mixed"}
    told = [words for _, words in seen]
    assert any(words == f"live: 1 MiB at {BASE:#x}, stream 0x10" for words in told)
    assert any("capture 7/9" in words for words in told)
    # Widths are shares of the memory: a cell of four units has a 250th of a row.
    text = page(snapshot)
    row = re.search(r"A row is (\d+) KiB", text)
    assert row is not None
    cells = sum(float(each.attrib["width"]) for each in pictures(text).iter("rect")) / 4
    assert cells == pytest.approx(6 * KIB / int(row[1]) * 250)
    assert "510 MiB of addresses without memory" in text


def test_a_row_has_many_segments_and_few_marks() -> None:
    many = [{"offset": 512 * i, "bytes": 256, "state": "live", "stream": "0x1"} for i in range(20_000)] + [
        {"offset": 512 * i + 256, "bytes": 256, "state": "free"} for i in range(20_000)
    ]
    text = page(Snapshot.read(changed(segments=sorted(many, key=lambda each: each["offset"]))))
    assert len(marks(text)) < 64 * 250
    assert ("mixed", "several segments") in marks(text)
    assert "and 19,950 others" in text


def test_addresses_without_memory_cost_nothing() -> None:
    end = 1 << 46
    segments = [
        {"offset": 0, "bytes": 256, "state": "live"},
        {"offset": 256, "bytes": end - 512, "state": "absent"},
        {"offset": end - 256, "bytes": 256, "state": "live"},
    ]
    text = page(Snapshot.read(changed(reserved_bytes=end, segments=segments)))
    assert [state for state, _ in marks(text)] == ["live", "live"]
    assert "64 TiB of addresses without memory" in text


def test_a_pool_without_memory_has_a_page() -> None:
    text = page(Snapshot.read(changed(segments=[{"offset": 0, "bytes": 1024 * MIB, "state": "absent"}])))
    assert "The pool has no memory." in text


def test_the_page_of_a_real_pool_shows_its_blocks() -> None:
    from warpheap import Pool

    with Pool(backend="host", reserve_bytes=64 * MIB) as pool:
        blocks = [pool.allocate(each) for each in (1000, 3 * MIB, 256)]
        pool.deallocate(blocks[1])
        text = page(pool.snapshot())
        found = for_pytorch(pool.snapshot())
    assert f"{blocks[0]:#x}" in text
    live = [block for each in found["segments"] for block in each["blocks"] if block["state"] == "active_allocated"]
    assert [each["address"] for each in live] == [blocks[0], blocks[2]]


# --- PyTorch's viewer -------------------------------------------------------------------------------------------------


def test_each_owner_s_stretch_is_a_segment(snapshot: Snapshot) -> None:
    found = for_pytorch(snapshot, device=1)
    assert [(each["address"] - BASE, each["total_size"], each["stream"]) for each in found["segments"]] == [
        (0, MIB, 0x10),
        (MIB, 512 * KIB, 0),
        (MIB + 512 * KIB, 512 * KIB, 0x10),
        (512 * MIB, 2 * MIB + 256, 0x20),
        (514 * MIB + 256, 2 * MIB - 256, 0),
    ]
    assert len(found["device_traces"]) == 2
    assert {each["device"] for each in found["segments"]} == {1}
    captured = found["segments"][3]
    assert captured["segment_pool_id"] == (7, 9)
    assert captured["allocated_size"] == 2 * MIB + 256
    assert found["segments"][1]["allocated_size"] == 0
    assert found["segments"][1]["active_size"] == 512 * KIB, "a deferred block is in use still"


def test_a_capture_has_a_segment_of_its_own() -> None:
    stream = {"bytes": MIB, "state": "live", "stream": "0x20"}
    segments = [{"offset": 0, **stream}, {"offset": MIB, **stream, "capture": [7, 9]}]
    assert len(for_pytorch(Snapshot.read(changed(segments=segments)))["segments"]) == 2


def test_blocks_fill_their_segment(snapshot: Snapshot) -> None:
    for each in for_pytorch(snapshot)["segments"]:
        at = each["address"]
        for block in each["blocks"]:
            assert block["address"] == at
            at += block["size"]
        assert at == each["address"] + each["total_size"]


# --- The command ------------------------------------------------------------------------------------------------------


def test_files_are_written(tmp_path: Path) -> None:
    file = tmp_path / "pool.json"
    file.write_text(json.dumps(STATES), encoding="utf-8")
    write(file, tmp_path / "pool.html", tmp_path / "pool.pickle")
    assert "<h1>pool</h1>" in (tmp_path / "pool.html").read_text(encoding="utf-8")
    assert pickle.loads((tmp_path / "pool.pickle").read_bytes())["segments"]


def test_nothing_is_written_for_a_wrong_file(tmp_path: Path) -> None:
    file = tmp_path / "pool.json"
    file.write_text("{}", encoding="utf-8")
    for wrong in (file, tmp_path / "missing"):
        with pytest.raises(UsageError):
            write(wrong, tmp_path / "pool.html", tmp_path / "pool.pickle")
    with pytest.raises(UsageError, match="--page FILE"):
        write(file, None, None)
    assert sorted(tmp_path.iterdir()) == [file]
