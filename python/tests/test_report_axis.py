# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The page's script makes the axes that Python makes, and moves the marks with them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from records import measure, record

from warpheap.report import numbers, svg, svg_bars
from warpheap.report.chart import Bar, Bars, Point
from warpheap.report.lines import panel_of
from warpheap.report.looks import looks_of_names
from warpheap.report.page import resource
from warpheap.report.record_set import RecordSet
from warpheap.report.scale import Scale, scale_of, shared_scales, shared_x_scales

AXIS = Path(__file__).parents[1] / "warpheap" / "report" / "axis.js"
STUB = Path(__file__).with_name("axis_probe.js")
BARS_STUB = Path(__file__).with_name("bars_probe.js")


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
    ("x", "mode", "field", "said"),
    [(1, "thread", "threads", "1 thread"), (10_000, "thread", "threads", "10,000 threads"),
     (10_000, "warp", "threads", "10,000 warps"), (4096, "thread", "size", "4 KiB")],
)  # fmt: skip
def test_the_place_under_a_pointer_is_that_of_the_axis(x: int, mode: str, field: str, said: str) -> None:
    records = RecordSet([record(mode=mode, threads=threads, size=16) for threads in (1, 10_000)])
    panel = panel_of(records, field, "malloc", measure(), "")
    drawn = svg.draw(panel, shared_x_scales([panel])[0], shared_scales([panel])[0], looks_of_names(["bump"]))
    plot = ElementTree.fromstring(drawn)
    assert run(f"axis.placeText({x}, {json.dumps(plot.get('data-u'))}, {json.dumps(plot.get('data-of'))})") == said
    assert "warpheapAxis.placeText(Number(nearest.dataset.x), plot.dataset.u, plot.dataset.of)" in resource("page.js")


def test_a_series_names_its_round() -> None:
    assert run('axis.placeText(12, "rounds", "phase")') == "phase 12"


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


NAMES = ("bump", "bulk", "xmalloc")


def bars_drawn(panel: Bars) -> dict[str, Any]:
    """The panel as the page has it: the elements that the script moves, with the allocator of each."""
    plot = ElementTree.fromstring(svg_bars.draw(panel, shared_scales([panel])[0], looks_of_names(NAMES)))
    series = {element: group.get("data-a") for group in plot.iter("g") for element in group.iter()}
    ticks = next(group for group in plot.iter("g") if group.get("class") == "xs")
    return {
        "scale": plot.get("data-scale"),
        "box": plot.get("data-box"),
        "ticks": "".join(ElementTree.tostring(each, encoding="unicode") for each in ticks),
        "elements": [
            {"attributes": each.attrib, "series": series[each]} for each in plot.iter() if "data-v" in each.attrib
        ],
    }


def rescaled(panel: Bars, *hidden: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    drawn = bars_drawn(panel)
    stub = f"require({json.dumps(str(BARS_STUB))})"
    return drawn, run(f"{stub}(axis, {json.dumps(drawn)}, {json.dumps(hidden)})")


def kinds(elements: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for each in elements:
        name = next(name for name in ("width", "cx", "d", "data-after") if name in each)
        found.setdefault(name, []).append(each)
    return found


def bar(name: str, value: float, spread: float = 0.0) -> Bar:
    return Bar(name, Point(0, value, value - spread, value + spread, value - spread, value + spread))


def test_bars_grow_when_the_longest_is_hidden_and_come_back() -> None:
    panel = Bars("a", [bar("bump", 2), bar("bulk", 4, 1), bar("xmalloc", 40)], "us", reference=3)
    drawn, (hidden, again) = rescaled(panel, ["2"], [])
    left, right, *_ = map(float, str(drawn["box"]).split())
    first, then = kinds([each["attributes"] for each in drawn["elements"]]), kinds(hidden["elements"])
    # The axis ends a little above the highest value that is left, which is the spread's.
    unit = (right - left) / (5 * 1.06)
    assert [float(each["width"]) for each in then["width"][:2]] == pytest.approx([2 * unit, 4 * unit], abs=0.11)
    assert float(then["width"][1]["width"]) > 5 * float(first["width"][1]["width"])
    reference, whisker = then["d"]
    assert float(reference["d"][1:].split()[0]) == pytest.approx(left + 3 * unit, abs=0.11)
    start, end = whisker["d"][1:].split("H")
    assert (float(start.split()[0]), float(end)) == pytest.approx((left + 3 * unit, left + 5 * unit), abs=0.11)
    texts = [float(each["x"]) for each in then["data-after"]]
    assert texts[:2] == pytest.approx([left + 2 * unit + 5, left + 5 * unit + 5], abs=0.11)
    assert "4 µs" in hidden["ticks"]
    assert "40 µs" not in hidden["ticks"]
    assert again["elements"] == [each["attributes"] for each in drawn["elements"]]


def test_the_axis_of_bars_that_comes_back_is_the_one_of_python() -> None:
    panel = Bars("a", [bar("bump", 2), bar("bulk", 4), bar("xmalloc", 40)], "us")
    drawn, (shown,) = rescaled(panel, [])
    ticks = [ElementTree.fromstring(f"<g>{each}</g>") for each in (drawn["ticks"], shown["ticks"])]
    first, again = [[(each.tag, each.attrib, each.text) for each in group] for group in ticks]
    assert again == first


def test_lollipops_move_on_a_logarithmic_axis() -> None:
    panel = Bars("a", [bar("bump", 2), bar("bulk", 200), bar("xmalloc", 20_000)], "us")
    drawn, (hidden,) = rescaled(panel, ["2"])
    assert " log " in str(drawn["scale"])
    left, right, *_ = map(float, str(drawn["box"]).split())
    dots = [float(each["cx"]) for each in kinds(hidden["elements"])["cx"]]
    strokes = [float(each["d"].split("H")[1]) for each in kinds(hidden["elements"])["d"]]
    assert strokes == pytest.approx(dots, abs=0.11)
    share = 0.05 / 1.1  # the room at both ends of the axis
    assert dots[0] == pytest.approx(left + share * (right - left), abs=0.2)
    assert dots[1] == pytest.approx(right - share * (right - left), abs=0.2)
    assert dots[2] == right


def test_ladders_move_all_their_marks() -> None:
    marks = [[("p50", value), ("p99", 3 * value)] for value in (1.0, 2.0, 30.0)]
    bars = [
        Bar(name, Point(0, each[0][1], each[0][1], each[0][1], each[0][1], each[0][1]), marks=each)
        for name, each in zip(NAMES, marks, strict=True)
    ]
    drawn, (hidden,) = rescaled(Bars("a", bars, "us"), ["2"])
    then = kinds(hidden["elements"])
    dots = [float(each["cx"]) for each in then["cx"][:4]]
    ends = [float(part.split()[0]) for each in then["d"][:2] for part in each["d"][1:].split("H")]
    assert ends == pytest.approx(dots, abs=0.11)
    assert [float(each["x"]) for each in then["data-after"][:2]] == pytest.approx([dots[1] + 8, dots[3] + 8], abs=0.11)
    before = [float(each["cx"]) for each in kinds([each["attributes"] for each in drawn["elements"]])["cx"][:4]]
    assert dots[3] - dots[0] > before[3] - before[0]
