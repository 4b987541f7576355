# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser, at the widths of a phone, a tablet and a desk."""

from typing import Any

import pytest
from browser import NAMES, Seen, find_chromium, look_at
from synthetic import DESIGNS, survey

from warpheap.report.page import write_report

WIDTHS = (360, 800, 1400)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    browser = find_chromium()
    if browser is None:
        pytest.skip(f"no Chromium on the PATH, by any of the names {', '.join(NAMES)}: apt-get install chromium")
    folder = tmp_path_factory.mktemp("browser")
    # Few designs keep the test quick; among them are failures, timeouts, crashes and one without individual free.
    chosen = [
        each for each in DESIGNS if each.name in ("bump", "ouroboros_va_p", "xmalloc", "reg_eff_cfm", "cuda_malloc")
    ]
    records = [*survey(designs=chosen), *survey("Other GPU", seed=2, designs=chosen[1:3])]
    write_report(folder / "report.html", records, "./run survey")
    return look_at(browser, folder / "report.html", WIDTHS, folder)


@pytest.fixture(params=WIDTHS)
def frame(seen: Seen, request: pytest.FixtureRequest) -> dict[str, Any]:
    return seen.frames[request.param]


def test_the_console_stays_empty(seen: Seen) -> None:
    assert seen.console == []


def test_every_figure_renders(frame: dict[str, Any]) -> None:
    assert frame["plots"] > 100
    assert frame["empty"] == []


def test_no_word_runs_out_of_its_figure(frame: dict[str, Any]) -> None:
    assert frame["outside"] == []


def test_words_in_figures_can_be_read(frame: dict[str, Any]) -> None:
    assert frame["smallest"] >= 8


def test_the_page_does_not_scroll_sideways(frame: dict[str, Any]) -> None:
    assert frame["scrollWidth"] <= int(frame["width"])


def test_links_lead_somewhere(frame: dict[str, Any]) -> None:
    assert frame["links"] > 15
    assert frame["broken"] == []
    assert frame["twice"] == []


def test_the_legend_highlights(frame: dict[str, Any]) -> None:
    assert frame["highlighted"]
    assert frame["dimmed"]
    assert frame["released"]


def test_the_legend_hides(frame: dict[str, Any]) -> None:
    assert frame["hidden"]
    assert frame["shownAgain"]


def test_the_heat_map_fits_a_desk(seen: Seen) -> None:
    assert seen.frames[1400]["heatFits"]


def test_a_pointer_shows_the_values(frame: dict[str, Any]) -> None:
    assert "ouroboros_va_p" in frame["tip"]
    assert "µs" in frame["tip"]


def test_the_theme_can_be_switched(frame: dict[str, Any]) -> None:
    light, dark = frame["grounds"]
    assert light != dark
