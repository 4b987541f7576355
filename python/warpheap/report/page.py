# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML page that needs nothing beside itself."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from warpheap import __version__
from warpheap.cases import CASES
from warpheap.files import write_text
from warpheap.machines import read_machines
from warpheap.record import STATUSES, Record, unable
from warpheap.report import (
    chapters,
    chart_tables,
    columns,
    failures,
    guide,
    machine,
    paper,
    places,
    ranking,
    render,
    svg,
    texts,
    theme,
    verdict,
)
from warpheap.report.looks import Looks
from warpheap.report.overview import parts_of
from warpheap.report.ranking import heat_of, ratio_text, text_on
from warpheap.report.record_set import RecordSet
from warpheap.report.sections import Section
from warpheap.units import show_count

_HERE = Path(__file__).parent
_AFTER_ALLOCATORS = 1 << 20


def write_report(
    path: Path,
    records: Sequence[Record],
    command: str,
    extra: Sequence[Section] = (),
    facts: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Writes the page for `records`, which may come from several machines.

    `command` is what makes them again; `extra` chapters come after those of the cases; `facts` describe the machines,
    matched by their field `device` (machine.json beside the page, if None).
    """
    newest = RecordSet.of(records).latest()
    looks = Looks([*newest, *_lines_of(extra)])
    known = read_machines(path.parent) if facts is None else facts
    page = environment(looks).get_template("template.html.j2").render(
        title=_title(newest),
        css=theme.css(looks) + resource("style.css"),
        script=script(),
        looks=looks,
        counts=_counts(newest),
        replaced=len(records) - len(newest),
        judged=any(record.get("rounds_judged") for record in newest),
        shared=sum(bool(record.get("shared_process")) for record in newest),
        runs=len(newest),
        parts=parts_of(newest),
        chapters=[*chapters.chapters(newest), *chapters.named(extra)],
        verified=failures.verified_grid(newest, list(CASES)),
        failures=failures.failures_grid(newest),
        mixed=machine.mixed(newest, known),
        machine=machine.machine_grid(newest, known),
        command=command,
        version=__version__,
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    # Indentation serves the readers of the template, not the page.
    write_text(path, re.sub(r"\n\s+(?=<)", "\n", page))


def _lines_of(extra: Sequence[Section]) -> list[Record]:
    """As records of which only the name is known: what the figures of such chapters have beside allocators."""
    names = dict.fromkeys(name for section in extra for chart in section.charts for name in chart.allocators())
    return [{"allocator": name, "position": _AFTER_ALLOCATORS + place} for place, name in enumerate(names)]


def _title(records: RecordSet) -> str:
    devices = dict.fromkeys(device for device, _ in records.machines)
    return "GPU memory allocators on " + (" and ".join(devices) or "no machine")


def resource(name: str) -> str:
    """A file that pages are made of: style.css, page.js."""
    return (_HERE / name).read_text(encoding="utf-8")


def script() -> str:
    """Return the script of a page. A page is whole without it."""
    return resource("axis.js") + resource("page.js")


def environment(looks: Looks) -> jinja2.Environment:
    """What templates are read from and can call."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    known = {look.name for look in looks}
    made.globals |= {
        "defs": Markup(svg.shared_shapes(looks)),
        "swatch": lambda name: Markup(svg.swatch(looks[name])) if name in known else "",
        "index": lambda name: looks[name].index if name in known else "",
        "panels": lambda chart: Markup(render.panels_of(chart, looks)),
        "grids_of": chart_tables.grids_of,
        "words": texts.words,
        "case_title": texts.title_of,
        "sizes": [name for name, _ in verdict.SIZE_CLASSES],
        "rules": guide.RULES,
        "ratio_rule": ranking.RULE,
        "paper_note": paper.NOTE,
        "paper_graphs": paper.STAND_INS,
        "ratio": ratio_text,
        "heat": heat_of,
        "text_on": text_on,
        "short_case": columns.short_case,
        "count_of": places.count_of,
    }
    return made


def _counts(records: RecordSet) -> list[tuple[str, str, str]]:
    numbers = {status: sum(record["status"] == status for record in records) for status in STATUSES}
    cannot = sum(map(unable, records))
    numbers["failed"] -= sum(unable(each) and each["status"] == "failed" for each in records)
    requests = sum(record.get("requests") or 0 for record in records)
    return [
        (str(len(records.allocators)), "allocators", ""),
        (str(len({record["case"] for record in records})), "cases", ""),
        (show_count(len(records)), "runs", ""),
        *((show_count(count), status, status) for status, count in numbers.items() if count or status == "ok"),
        *([(show_count(cannot), "cannot by design", "skipped")] if cannot else []),
        *([(_short(requests), "requests checked for nulls", "")] if requests else []),
    ]


def _short(count: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return show_count(count)
