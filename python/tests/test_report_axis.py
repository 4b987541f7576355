# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The page's script makes the axes that Python makes, and moves the marks with them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from warpheap.report import numbers
from warpheap.report.scale import Scale, scale_of

AXIS = Path(__file__).parents[1] / "warpheap" / "report" / "axis.js"
STUB = Path(__file__).with_name("axis_probe.js")


def run(script: str) -> Any:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on the PATH: apt-get install nodejs")
    source = f"const axis = require({json.dumps(str(AXIS))}); console.log(JSON.stringify({script}));"
    done = subprocess.run([node, "-e", source], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_texts_are_those_of_python() -> None:
    values = (0.0005, 0.25, 1, 7.136, 45, 999.4, 999.9, 1500, 12_345, 2.5e6, 8.1e10)
    wanted, calls = [], []
    for unit in ("us", "bytes", "ratio", "share", "%", "ops/s", "count", "cycles"):
        for value in values:
            share = unit == "share"
            wanted.append(numbers.show(value, "ratio" if share else unit, share=share))
            calls.append(f"axis.show({value}, {unit!r})")
    assert run(f"[{', '.join(calls)}]") == wanted


@pytest.mark.parametrize(
    ("values", "unit"),
    [([1, 1000], "us"), ([3.6, 101], "us"), ([20, 70], "us"), ([5, 6], "us"), ([2.0**10, 2.0**24], "bytes"),
     ([3, 4], "ratio"), ([1e-3, 1e6], "ops/s"), ([0, 5e6], "bytes")],
)  # fmt: skip
def test_axes_and_ticks_are_those_of_python(values: list[float], unit: str) -> None:
    scale: Scale = scale_of(values, unit)
    kind = json.dumps({"log": scale.log, "unit": unit})
    own = run(f"axis.around({values}, {kind})")
    assert (own["low"], own["high"]) == pytest.approx((scale.low, scale.high))
    assert run(f"axis.ticks(axis.around({values}, {kind}))") == pytest.approx(scale.ticks())


def test_marks_and_strokes_move_with_the_axis_and_come_back() -> None:
    seen = run(f"require({json.dumps(str(STUB))})(axis)")
    # The axis was 1 to 10,000 over 26 to 210: without the highest, the next one is near the top.
    assert seen["hidden"]["low"] == pytest.approx(seen["hidden"]["stroke"], abs=0.11)
    assert seen["hidden"]["low"] > seen["hidden"]["middle"]
    assert 26 <= seen["hidden"]["middle"] < 50 < seen["shown"]["middle"]
    assert seen["hidden"]["whisker"] == pytest.approx(seen["hidden"]["middle"], abs=0.11)
    assert "10 µs" in seen["hidden"]["ticks"]
    assert "10 ms" not in seen["hidden"]["ticks"]
    assert seen["again"] == seen["shown"]
