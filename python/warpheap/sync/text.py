# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the experiments as a page of Markdown, to keep beside the record."""

from collections.abc import Sequence

from warpheap.experiments.markdown import joined, lost
from warpheap.experiments.records import Record
from warpheap.report.numbers import show
from warpheap.sync.figures import charts_of, text_of
from warpheap.sync.measure import name_of
from warpheap.sync.pairs import DELEGATION, SEMAPHORES, Kind, limits_of, pairs_of
from warpheap.words import table


def markdown_of(records: Sequence[Record], command: str) -> str:
    """The page."""
    parts = [
        f"# Semaphores and read-copy-update on {joined(records, 'device')}",
        f"{text_of(records)} Sources {joined(records, 'sources')[:12]}; `{command}`.",
        table(["", "measured", "bar", ""], [[each.title, each.measured, each.asked, each.verdict]
                                             for each in limits_of(records)]),
        *(f"![{chart.title}](figures/{chart.name}.png)" for chart in charts_of(records)),
        *_case(records, SEMAPHORES, "Counting and bulk semaphores", "Batches of {:,}"),
        *_case(records, DELEGATION, "Classical barrier and delegation", "Writers to readers 1:{:,}"),
        *lost(records, name_of),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _case(records: Sequence[Record], kind: Kind, title: str, name: str) -> list[str]:
    pairs = pairs_of(records, kind)
    parts = [f"## {title}"] if pairs else []
    for parameter in dict.fromkeys(pair.parameter for pair in pairs):
        rows = []
        for pair in pairs:
            if pair.parameter != parameter:
                continue
            sides = (pair.base, pair.better)
            rows.append([
                f"{pair.threads:,}", *(_side(each) for each in sides), f"{pair.ratio:.3g}",
                f"{pair.low:.3g} to {pair.high:.3g}", _alike([f"{each[kind.made]:,}" for each in sides]),
                _alike([f"{each['operations']:,}" for each in sides]), _alike([_runs(each) for each in sides]),
            ])  # fmt: skip
        heads = ["threads", kind.base, kind.better, "ratio", "within noise", kind.made, "operations", "runs"]
        parts += [f"### {name.format(parameter)}", table(heads, rows)]
    return parts


def _side(record: Record) -> str:
    return f"{show(record['time_us']['median'], 'us')}, {show(record['rate'], 'ops/s')}"


def _runs(record: Record) -> str:
    return str(record["time_us"].get("count", ""))


def _alike(texts: Sequence[str]) -> str:
    """One text if both sides have it, which they should."""
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)
