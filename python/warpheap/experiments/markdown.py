# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of Markdown pages that the experiments write beside their records."""

from collections.abc import Callable, Sequence

from warpheap.experiments.records import Record


def joined(records: Sequence[Record], field: str) -> str:
    """The values that records have in `field`, each once; "no machine" if no record has one."""
    return " and ".join(dict.fromkeys(str(each[field]) for each in records if each.get(field))) or "no machine"


def lost(records: Sequence[Record], name_of: Callable[[Record], str]) -> list[str]:
    """The section on records without a result, with their reasons; nothing if each has one."""
    lines = [f"- {name_of(each)}: {each['status']}, {each['reason']}" for each in records if each["status"] != "ok"]
    return ["## Without a result", "\n".join(lines)] if lines else []
