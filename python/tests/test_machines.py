# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""machine.json: the sessions and the machines of a record."""

from pathlib import Path

from records import record

from warpheap.machines import add_facts, differences, facts_beside, read_machines
from warpheap.report.machine import machine_grid, mixed
from warpheap.report.record_set import RecordSet

FIRST = {"device": "Fake GPU", "started": "2031-01-01T00:00:00Z", "processors": 16, "driver": "580.1", "sources": "a"}
LATER = {"device": "Fake GPU", "started": "2031-01-02T00:00:00Z", "processors": 16, "driver": "580.1", "sources": "b"}


def known_after(folder: Path, *sessions: dict[str, object]) -> list[dict[str, object]]:
    for each in sessions:
        add_facts(folder, each)
    return read_machines(folder)


def test_sessions_of_one_machine_are_one_description(tmp_path: Path) -> None:
    (only,) = known_after(tmp_path, FIRST, LATER, {"device": "Fake GPU", "memory_bytes": 7})
    assert only == FIRST | {"last_started": LATER["started"], "sources": "b", "memory_bytes": 7}


def test_a_later_session_on_another_machine_is_told_beside_the_first(tmp_path: Path) -> None:
    moved = LATER | {"processors": 26}
    assert known_after(tmp_path, FIRST, moved) == [FIRST, moved]
    assert differences([FIRST, moved]) == ["processors"]
    third = LATER | {"started": "2031-01-03T00:00:00Z"}
    assert known_after(tmp_path, third) == [FIRST | {"last_started": third["started"], "sources": "b"}, moved]


def test_the_page_tells_both_machines(tmp_path: Path) -> None:
    facts = known_after(tmp_path, FIRST, LATER | {"processors": 26})
    records = RecordSet([record()])
    rows = {row[0].text: row[1].text for row in machine_grid(records, facts).rows}
    assert (rows["processors"], rows["driver"]) == ("16 and 26", "580.1")
    assert rows["started"] == f"{FIRST['started']} and {LATER['started']}"
    (said,) = mixed(records, facts)
    assert "come from 2 machines or setups, which differ in processors: differences may come from that" in said
    assert mixed(records, facts[:1]) == []
    apart = [{"device": "Fake GPU", "processors": 16}, {"device": "Fake GPU", "system": "Linux"}]
    assert mixed(records, apart) == [], "they differ in nothing that both tell"


def test_a_survey_tells_the_machine_and_not_only_the_device() -> None:
    facts = facts_beside({"device": "Fake CPU", "memory_bytes": 7})
    assert {"system", "processors", "started", "memory_bytes"} <= set(facts)
    assert facts["device"] == "Fake CPU"
    assert "driver" not in facts, "it is of a GPU that was not measured"
