# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A page that shows what a pool's addresses hold; it needs no other file, no script and no network."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from warpheap.stream_pools import Segment, Snapshot
from warpheap.units import show_bytes

_CELLS = 250  # of a row of the map
_MOST_ROWS = 64
_MOST_BLOCKS = 50  # that are listed
_CELL, _ROW = 4, 14  # the size of a cell, in units of the picture
_LABEL = 130

_STYLE = """
:root { --paper: #fff; --ink: #1b1f24; --faint: #d7dce1; --live: #2166ac; --deferred: #e08214; --free: #a6dba0;
        --mixed: #8073ac; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e8ea; --faint: #3a4046; --live: #5aa2e0; --deferred: #f0a34a; --free: #2f6b3a;
          --mixed: #a99bd6; }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto;
       max-width: 76rem; padding: 0 1rem; }
svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font: 9px ui-monospace, monospace; }
.live { fill: var(--live); } .deferred { fill: var(--deferred); } .free { fill: var(--free); }
.mixed { fill: var(--mixed); } .absent { fill: var(--faint); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
th { border-bottom: 1px solid var(--faint); font-weight: 600; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .35em 0 1em; }
.scroll { overflow-x: auto; }
"""
_KEYS = (
    ("live", "in blocks"),
    ("deferred", "taken back, and other streams still use it"),
    ("free", "free"),
    ("mixed", "several of these"),
    ("absent", "without memory"),
)


def page(snapshot: Snapshot, title: str = "pool") -> str:
    """HTML of a snapshot: sums, a map of the addresses, who has the memory, and the largest blocks.

    The map leaves out rows of addresses without memory. A cell of it that holds several states has a colour of its own.
    """
    parts = (
        f"<h1>{escape(title)}</h1>",
        _sums(snapshot),
        "<h2>Addresses</h2>",
        _legend(),
        _map(snapshot),
        "<h2>Who has the memory</h2>",
        _owners(snapshot),
        "<h2>The largest live blocks</h2>",
        _largest(snapshot),
    )
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f"<!doctype html><html><head>{head}<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"


def _sums(snapshot: Snapshot) -> str:
    by_state: Counter[str] = Counter()
    for each in snapshot.segments:
        by_state[each.state] += each.bytes
    blocks = sum(each.state == "live" for each in snapshot.segments)
    committed = by_state["live"] + by_state["deferred"] + by_state["free"]
    largest = max((each.bytes for each in snapshot.segments if each.state == "free"), default=0)
    rows = (
        ("addresses", show_bytes(snapshot.reserved_bytes), f"from {snapshot.address:#x} on"),
        ("memory", show_bytes(committed), ""),
        (
            "live",
            show_bytes(by_state["live"]),
            f"{blocks:,} blocks, {_share(by_state['live'], committed)} of the memory",
        ),
        ("deferred", show_bytes(by_state["deferred"]), ""),
        ("free", show_bytes(by_state["free"]), f"the largest stretch has {show_bytes(largest)}"),
    )
    return _table((), (((name, False), (size, True), (more, False)) for name, size, more in rows))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _legend() -> str:
    keys = (
        f'<svg class="key" viewBox="0 0 1 1"><rect class="{name}" width="1" height="1"/></svg>{text}'
        for name, text in _KEYS
    )
    return f"<p>{''.join(keys)}</p>"


@dataclass(frozen=True)
class _Row:
    """A row of the map: addresses of `bytes` bytes from `begin` on, and what of them each segment has."""

    begin: int
    bytes: int
    parts: list[tuple[Segment, int, int]]  # with the part's begin and end

    def cells(self) -> Iterator[tuple[int, int, str, str]]:
        """Runs of cells that look the same: the first, how many, the state, and what a pointer held over them shows."""
        seen: list[set[str]] = [set() for _ in range(_CELLS)]
        words: list[str] = [""] * _CELLS
        for segment, begin, end in self.parts:
            for cell in range((begin - self.begin) * _CELLS // self.bytes, _last_cell(end - self.begin, self.bytes)):
                seen[cell].add(segment.state)
                words[cell] = _told(segment) if len(words[cell]) == 0 else "several segments"
        first = 0
        for cell in range(1, _CELLS + 1):
            if cell < _CELLS and (seen[cell], words[cell]) == (seen[first], words[first]):
                continue
            states = seen[first]
            if states:
                yield first, cell - first, states.copy().pop() if len(states) == 1 else "mixed", words[first]
            first = cell


def _last_cell(end: int, row_bytes: int) -> int:
    return -(-end * _CELLS // row_bytes)


def _told(segment: Segment) -> str:
    stream = "" if segment.stream is None else f", stream {segment.stream:#x}"
    capture = "" if segment.capture is None else f", capture {segment.capture[0]}/{segment.capture[1]}"
    return f"{segment.state}: {show_bytes(segment.bytes)} at {segment.address:#x}{stream}{capture}"


def _rows(snapshot: Snapshot) -> list[_Row]:
    """Rows that have memory, and lie side by side where they can; their size fits all of them on the page."""
    there = [each for each in snapshot.segments if each.state != "absent"]
    if not there:
        return []
    row_bytes = max(snapshot.granule_bytes, 1)
    while len(_numbers(snapshot, there, row_bytes)) > _MOST_ROWS:
        row_bytes *= 2
    numbers = sorted(_numbers(snapshot, there, row_bytes))
    parts: dict[int, list[tuple[Segment, int, int]]] = {number: [] for number in numbers}
    for segment in snapshot.segments:
        at, end = segment.address - snapshot.address, segment.address - snapshot.address + segment.bytes
        # Addresses without memory may be as long as a billion rows, of which few are shown.
        first, last = bisect_left(numbers, at // row_bytes), bisect_left(numbers, -(-end // row_bytes))
        for number in numbers[first:last]:
            begin = max(at, number * row_bytes)
            parts[number].append(
                (segment, snapshot.address + begin, snapshot.address + min(end, (number + 1) * row_bytes))
            )
    return [_Row(snapshot.address + number * row_bytes, row_bytes, parts[number]) for number in numbers]


def _numbers(snapshot: Snapshot, segments: list[Segment], row_bytes: int) -> set[int]:
    """Numbers of the rows of that size which have memory; at once, when they are more than fit."""
    found: set[int] = set()
    for each in segments:
        at = each.address - snapshot.address
        found.update(range(at // row_bytes, min(-(-(at + each.bytes) // row_bytes), at // row_bytes + _MOST_ROWS + 1)))
        if len(found) > _MOST_ROWS:
            break
    return found


def _map(snapshot: Snapshot) -> str:
    rows = _rows(snapshot)
    if not rows:
        return "<p>The pool has no memory.</p>"
    shapes = []
    y = 0
    before = rows[0].begin
    for row in rows:
        if row.begin != before:
            gap = show_bytes(row.begin - before)
            shapes.append(f'<text x="{_LABEL}" y="{y + _ROW - 4}">{gap} of addresses without memory</text>')
            y += _ROW
        before = row.begin + row.bytes
        shapes.append(f'<text x="0" y="{y + _ROW - 4}">{row.begin:#x}</text>')
        shapes.extend(
            f'<rect class="{state}" x="{_LABEL + first * _CELL}" y="{y}" width="{count * _CELL}" height="{_ROW - 2}">'
            f"<title>{escape(words)}</title></rect>"
            for first, count, state, words in row.cells()
        )
        y += _ROW
    size = f"{_LABEL + _CELLS * _CELL} {y}"
    return (
        f"<p>A row is {show_bytes(rows[0].bytes)}.</p>"
        + f'<svg viewBox="0 0 {size}" role="img">{"".join(shapes)}</svg>'
    )


def _owners(snapshot: Snapshot) -> str:
    sums: dict[tuple[str, str], Counter[str]] = {}
    for each in snapshot.segments:
        if each.state == "absent":
            continue
        stream = "any" if each.stream is None else f"{each.stream:#x}"
        capture = "" if each.capture is None else f"{each.capture[0]}/{each.capture[1]}"
        sums.setdefault((stream, capture), Counter())[each.state] += each.bytes
    rows = (
        ((stream, False), (capture, False), *((show_bytes(of[state]), True) for state in ("live", "deferred", "free")))
        for (stream, capture), of in sorted(sums.items())
    )
    return _table(("stream", "capture", "live", "deferred", "free"), rows)


def _largest(snapshot: Snapshot) -> str:
    live = sorted((each for each in snapshot.segments if each.state == "live"), key=lambda each: -each.bytes)
    rows = (
        ((f"{each.address:#x}", False), (show_bytes(each.bytes), True), (f"{each.bytes:,}", True),
         ("any" if each.stream is None else f"{each.stream:#x}", False))
        for each in live[:_MOST_BLOCKS]
    )  # fmt: skip
    more = f"<p>and {len(live) - _MOST_BLOCKS:,} others</p>" if len(live) > _MOST_BLOCKS else ""
    return _table(("address", "size", "bytes", "stream"), rows) + more


def _table(head: tuple[str, ...], rows: Iterator[tuple[tuple[str, bool], ...]]) -> str:
    """A table; each cell says whether it is a number, which stands to the right."""
    top = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=n' if is_number else ''}>{escape(text)}</td>" for text, is_number in row)
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table>{f"<tr>{top}</tr>" if head else ""}{body}</table></div>'
