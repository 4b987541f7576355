# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command `compare`: a line for each measure of each common point, then the sums."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from warpheap.cases import is_baseline
from warpheap.compare.judge import BETTER, FASTER, REGRESSIONS, SAME, SLOWER, UNDECIDED, WORSE, Judgement, judge
from warpheap.compare.sides import Pairs, Side, of_allocator, pair, read_side
from warpheap.errors import UsageError
from warpheap.record import Measure, Record, describe
from warpheap.units import show_measured, words_of

_STYLES = {
    FASTER: "green", BETTER: "green", SAME: "dim", UNDECIDED: "yellow", SLOWER: "red", WORSE: "red",
    "BROKEN": "bold red", "MENDED": "bold green",
}  # fmt: skip
_WIDTH = max(map(len, _STYLES))


@dataclass(frozen=True)
class Options:
    """The command line of `warpheap compare`."""

    a: str
    b: str | None
    allocators: str | None
    threshold: float
    changes: bool  # only what changed
    force: bool


@dataclass(frozen=True)
class _Line:
    case: str
    text: str
    timing: bool
    judgement: Judgement


def run_compare(console: Console, options: Options) -> int:
    """Prints the comparison; returns 1 if B is worse somewhere, else 0."""
    a, b = _sides(options)
    pairs = pair(a, b, options.force)
    lines = list(_lines(pairs, options.threshold))
    broken = [(x, y) for x, y in pairs.common if x["status"] == "ok" != y["status"]]
    mended = [(x, y) for x, y in pairs.common if x["status"] != "ok" == y["status"]]
    host = any(not record["timing_comparable"] for each in pairs.common for record in each)
    if host and not lines and not options.force:
        raise UsageError(
            "times of the host backend say nothing about a GPU, and A and B have nothing else to compare; "
            "--force tells at least which points are ok"
        )
    for letter, side in (("A", a), ("B", b)):
        head = Text.assemble((letter, "bold"), f" {_describe_side(side)}")
        console.print(head, highlight=False, soft_wrap=True)
    for x, y in broken:
        _print(console, "BROKEN", "", f"{describe(x)}: {y['status']} in B: {y['reason']}")
    for line in lines:
        if not options.changes or line.judgement.verdict not in (SAME, UNDECIDED):
            _print(console, line.judgement.verdict, _ratio(line.judgement.ratio), line.text)
    for x, y in mended:
        _print(console, "MENDED", "", f"{describe(y)}: {x['status']} in A: {x['reason']}")
    _print_sums(console, lines)
    _print_rest(console, pairs, host)
    worse = sum(line.judgement.verdict in REGRESSIONS for line in lines)
    console.print(_conclusion(lines, worse, len(broken)), highlight=False, soft_wrap=True)
    return 1 if worse or broken else 0


def _sides(options: Options) -> tuple[Side, Side]:
    names = words_of(options.allocators) if options.allocators is not None else []
    if options.b is None:
        if len(names) != 2:
            raise UsageError("one record is compared with itself: name two of its allocators, --allocators ONE,TWO")
        whole = read_side(options.a)
        return of_allocator(whole, names[0]), of_allocator(whole, names[1])
    a, b = read_side(options.a), read_side(options.b)
    if (a.allocator is None) != (b.allocator is None):  # one allocator of the one file, against the same of the other
        a, b = of_allocator(a, a.allocator or b.allocator or ""), of_allocator(b, b.allocator or a.allocator or "")
    if names and a.allocator is not None:
        raise UsageError("--allocators: A and B name their allocators already")
    for name in names:
        of_allocator(a, name), of_allocator(b, name)
    if names:
        a = Side(a.name, None, [record for record in a.records if record["allocator"] in names])
        b = Side(b.name, None, [record for record in b.records if record["allocator"] in names])
    return a, b


def _lines(pairs: Pairs, threshold: float) -> Iterator[_Line]:
    for a, b in pairs.common:
        for name, of_a in a["measures"].items():
            of_b = b["measures"].get(name)
            if of_a is None or of_b is None or of_a["unit"] != of_b["unit"]:
                continue
            # What no allocator has a part in makes none better or worse.
            if is_baseline(a["case"], name):
                continue
            # Host times are those of an executor that runs threads one after the other.
            if of_a["timing"] and not (a["timing_comparable"] and b["timing_comparable"]):
                continue
            yield _Line(a["case"], _text(a, b, name, of_a, of_b), of_a["timing"], judge(of_a, of_b, threshold))


def _text(a: Record, b: Record, name: str, of_a: Measure, of_b: Measure) -> str:
    point = describe(a)
    if a["allocator"] != b["allocator"]:
        point = point.replace(a["allocator"], f"{a['allocator']} -> {b['allocator']}", 1)
    shown = [show_measured(measure["median"], measure["unit"]) for measure in (of_a, of_b)]
    return f"{name:<12}  {point}: {shown[0]} -> {shown[1]}"


def _describe_side(side: Side) -> str:
    def values(field: str, length: int) -> str:
        return ", ".join(dict.fromkeys(str(record[field])[:length] for record in side.records))

    return f"{side.name}: {values('device', 60)}, warpheap {values('version', 20)}, sources {values('sources', 8)}"


def _print(console: Console, verdict: str, ratio: str, text: str) -> None:
    console.print(Text.assemble((f"{verdict:<{_WIDTH}}", _STYLES[verdict]), f" {ratio:>6}  ", text), soft_wrap=True)


def _ratio(ratio: float) -> str:
    return "inf" if math.isinf(ratio) else f"{ratio:.3f}" if ratio < 10 else f"{ratio:.4g}"


def _print_sums(console: Console, lines: Sequence[_Line]) -> None:
    if not lines:
        return
    table = Table(title="Sums", title_justify="left", title_style="bold", header_style="bold")
    verdicts = [each for each in _STYLES if any(line.judgement.verdict == each for line in lines)]
    for column in ("case", *verdicts, "time of B over A"):
        table.add_column(column, justify="left" if column == "case" else "right", no_wrap=True)
    cases = list(dict.fromkeys(line.case for line in lines))
    groups = [(case, [line for line in lines if line.case == case]) for case in cases]
    for name, group in [*groups, *([("all", list(lines))] if len(groups) > 1 else [])]:
        counts = Counter(line.judgement.verdict for line in group)
        cells = [f"[{_STYLES[each]}]{counts[each]}[/]" if counts[each] else "" for each in verdicts]
        mean = _geometric_mean(group)
        table.add_row(escape(name), *cells, "" if mean is None else f"{mean:.3f}")
    console.print(table)
    console.print("[dim]Ratios are B over A, above 1: B is worse; rates count inverted. Sums are geometric means.[/]")


def _geometric_mean(lines: Sequence[_Line]) -> float | None:
    ratios = [line.judgement.ratio for line in lines if line.timing]
    usable = [ratio for ratio in ratios if 0 < ratio < math.inf]
    return math.exp(sum(map(math.log, usable)) / len(usable)) if usable else None


def _print_rest(console: Console, pairs: Pairs, host: bool) -> None:
    lost = sum(a["status"] != "ok" != b["status"] for a, b in pairs.common)
    notes = [f"{len(pairs.common)} points in both"]
    notes += [f"{lost} of them ok in neither"] if lost else []
    notes += [f"{pairs.only_a} only in A"] if pairs.only_a else []
    notes += [f"{pairs.only_b} only in B"] if pairs.only_b else []
    notes += ["times of the host backend were left out: they say nothing about a GPU"] if host else []
    console.print("; ".join(notes), highlight=False, soft_wrap=True)


def _conclusion(lines: Sequence[_Line], worse: int, broken: int) -> str:
    counts = Counter(line.judgement.verdict for line in lines)
    if worse or broken:
        parts = [f"worse in {worse} of {len(lines)} measures"] if worse else []
        parts += [f"not ok any more at {broken} points"] if broken else []
        return f"[red]B is {' and '.join(parts)}[/]"
    if not lines:
        return "[yellow]Nothing was compared[/]: no point is ok in both with a measure that can be"
    better = counts[FASTER] + counts[BETTER]
    if counts[UNDECIDED] == len(lines):
        return "[yellow]Nothing can be decided[/]: too few samples, or too much noise"
    rest = f"{better} of {len(lines)} measures are better, {counts[SAME]} the same, {counts[UNDECIDED]} undecided"
    return f"[green]B is nowhere found to be worse[/]: {rest}"
