# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The chapter of any case, from its measures: against size, threads or heap; bars where none of them varies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from warpheap.cases import CASES
from warpheap.record import Measure
from warpheap.report import data, texts
from warpheap.report.chart import Bars, Chart, Panel
from warpheap.report.lines import bars_of, is_share, panel_of, spread_over
from warpheap.report.record_set import RecordSet
from warpheap.report.rounds import series_charts
from warpheap.report.sections import Section
from warpheap.units import show_bytes, show_count

# Panels that one figure has at most for one measure and mode; the rest of the record stays in the record.
_MOST = 4
# Which field becomes the axis where several vary equally.
_AXES = ("size", "threads", "heap_bytes")


@dataclass(frozen=True)
class Drawn:
    """A panel with what it shows, until figures are made of them."""

    mode: str
    measure: str
    point: str  # the values of the fields that are not its axis
    records: RecordSet
    panel: Panel | Bars


def sections(records: RecordSet) -> list[Section]:
    """One chapter with all figures of the case, or none if it has nothing that may be shown."""
    return section(records, charts(records) + series_charts(records))


def section(records: RecordSet, drawn: Sequence[Chart]) -> list[Section]:
    """The chapter of the case with these figures."""
    if not drawn:
        return []
    case = records[0]["case"]
    return [Section(texts.title_of(case), texts.TEXTS.get(case, ""), drawn)]


def charts(
    records: RecordSet,
    only: Callable[[str], bool] = lambda name: True,
    change: Callable[[Drawn], Panel | Bars] = lambda drawn: drawn.panel,
) -> list[Chart]:
    """Figures of the measures that `only` wants; `change` may add to each panel."""
    measures = {name: value for name, value in records.measures.items() if only(name)}
    drawn = [
        each
        for name, example in measures.items()
        for mode in records.modes
        for each in _panels(records.where(mode=mode), name, example)
    ]
    if not drawn:
        return []
    case = records[0]["case"]
    if len({(each.mode, each.measure) for each in drawn}) == len(drawn):
        return _by_measure(case, drawn, measures, change)
    made = []
    for mode in dict.fromkeys(each.mode for each in drawn):
        panels = [_titled(each, change(each), False) for each in drawn if each.mode == mode]
        made.append(Chart(f"{case}-{mode}", mode_title(case, mode), panels))
    return made


def against(
    records: RecordSet,
    names: Sequence[str],
    field: str,
    most: int = 3,
    change: Callable[[Drawn], Panel | Bars] = lambda drawn: drawn.panel,
) -> Chart | None:
    """One figure of some measures of one mode against a field: a panel for each of a few values of the other.

    `change` may add to each panel.
    """
    measures = {name: value for name, value in records.measures.items() if name in names}
    other = "threads" if field == "size" else "size"
    if not measures or len(records.values(field)) < 2:
        return None
    case, mode = records[0]["case"], records[0]["mode"]
    panels = []
    for name, example in measures.items():
        for value in spread_over(records.values(other), most):
            own = records.where(**{other: value})
            panel = panel_of(own, field, name, example, "")
            drawn = Drawn(mode, name, value_text(other, value, mode), own, panel)
            if any(line.points for line in panel.lines):
                panels.append(_titled(drawn, change(drawn), False))
    title = f"{mode_title(case, mode)} · against {field}"
    return Chart(f"{case}-{mode}-{field}", title, panels)


def mode_title(case: str, mode: str) -> str:
    """The mode with what it means."""
    what = CASES[case].modes.get(mode) if case in CASES else None
    return f"{texts.words(mode).capitalize()}: {what}" if what else texts.words(mode).capitalize()


def value_text(field: str, value: int, mode: str) -> str:
    """A value of a field that is not the axis, for a panel's title."""
    if field == "threads":
        return f"{show_count(value)} {'warps' if mode == 'warp' else 'threads' if value != 1 else 'thread'}"
    if field == "heap_bytes":
        return f"heap of {show_bytes(value)}"
    return f"{'up to ' if mode == 'mixed' else ''}{show_bytes(value)}"


def _panels(records: RecordSet, name: str, example: Measure) -> list[Drawn]:
    own = records.only(lambda each: name in (each.get("measures") or {}) or each["status"] != "ok")
    if not any(data.measure(each, name) for each in own):
        return []
    axis = max(_AXES, key=lambda field: len(own.values(field)))
    fields = [field for field in _AXES if field != axis and len(own.values(field)) > 1]
    places = sorted({tuple(each[field] for field in fields) for each in own})
    chosen = [places[index] for index in spread_over(range(len(places)), _MOST)]
    mode, made = records[0]["mode"], []
    for place in chosen:
        part = own.where(**dict(zip(fields, place, strict=True)))
        words = [value_text(field, value, mode) for field, value in zip(fields, place, strict=True)]
        if len(part.values(axis)) > 1:
            panel: Panel | Bars = panel_of(part, axis, name, example, "")
        else:
            words += [value_text(axis, part[0][axis], mode)] if len(own.values(axis)) > 1 else []
            panel = bars_of(part, name, example, "")
        made.append(Drawn(mode, name, ", ".join(words), part, panel))
    return [each for each in made if any(data.measure(record, name) for record in each.records)]


def _by_measure(
    case: str, drawn: Sequence[Drawn], measures: dict[str, Measure], change: Callable[[Drawn], Panel | Bars]
) -> list[Chart]:
    """Where each mode has one panel of a measure: measures of one unit share a figure if it stays small."""
    modes = len({each.mode for each in drawn})
    if all(isinstance(each.panel, Bars) for each in drawn) and modes == 1:
        return [Chart(f"{case}-all", _where(drawn), [_titled(each, change(each), False) for each in drawn])]
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, value in measures.items():
        kind = (value["unit"], is_share(value["unit"], value["better"]))
        groups.setdefault((*kind, name) if modes > 3 else kind, []).append(name)
    made = []
    for names in groups.values():
        own = [each for each in drawn if each.measure in names]
        if own:
            title = ", ".join(texts.words(name) for name in names).capitalize()
            panels = [_titled(each, change(each), modes > 1) for each in own]
            made.append(Chart(f"{case}-{'-'.join(names)}", title, panels))
    return made


def _where(drawn: Sequence[Drawn]) -> str:
    own = drawn[0].records
    if len({each["allocator"] for each in own}) == len(own) and own[0]["case"] not in ("registers", "initialisation"):
        return f"{value_text('threads', own[0]['threads'], own[0]['mode'])}, {show_bytes(own[0]['size'])}"
    return "All measures"


def _titled(drawn: Drawn, panel: Panel | Bars, with_mode: bool) -> Panel | Bars:
    words = [texts.words(drawn.measure), *([texts.words(drawn.mode)] if with_mode else []), drawn.point]
    return replace(panel, title=", ".join(word for word in words if word))
