# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the experiments with semaphores and with read-copy-update."""

import json
from pathlib import Path
from typing import Any

import pytest

from warpheap.report.sync_figures import charts, main, read


def ran(case: str, subject: str, time: float, threads: int, **more: Any) -> dict[str, Any]:
    times = {"median": time, "median_low": None, "median_high": None}
    return {"case": case, "subject": subject, "threads": threads, "operations": threads,
            "rate": threads / time * 1e6, "time_us": times} | more  # fmt: skip


RECORDS = [
    ran("semaphores", "counting", 8.0, 64, batch=512),
    ran("semaphores", "bulk", 4.0, 64, batch=512),
    ran("delegation", "classical", 30.0, 64, readers_per_writer=4),
    ran("delegation", "delegating", 10.0, 64, readers_per_writer=4),
    ran("delegation", "classical", 40.0, 128, readers_per_writer=4),
]


def test_a_panel_for_each_batch_has_both_semaphores() -> None:
    panel = charts(RECORDS)[0].panels[0]
    assert panel.title == "batches of 512"
    assert [(line.allocator, line.points[0].y) for line in panel.lines] == [("counting", 8e6), ("bulk", 16e6)]


def test_delegation_is_shown_over_the_classical_barrier_where_both_ran() -> None:
    line = charts(RECORDS)[1].panels[0].lines[0]
    assert [(point.x, point.y) for point in line.points] == [(64, pytest.approx(3.0))]


def test_figures_are_written(tmp_path: Path) -> None:
    records = tmp_path / "sync.jsonl"
    records.write_text("".join(json.dumps(each) + "\n" for each in RECORDS), encoding="utf-8")
    assert read(records) == RECORDS
    assert main([str(records), str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["delegation.png", "semaphores.png"]
    assert main([]) == 2
