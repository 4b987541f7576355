# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The page's colours, for light and dark surroundings."""

from warpheap.report.looks import Looks

_COMMON = {
    "paper": ("#ffffff", "#16191e"),
    "ground": ("#f4f6f8", "#0d0f12"),
    "ink": ("#1a1e23", "#e9ebee"),
    "soft": ("#57616d", "#a6afba"),
    "rule": ("#d5dae0", "#343a43"),
    "strip": ("#eaedf1", "#22272e"),
    "ok": ("#0b6b50", "#52c8a6"),
    "bad": ("#b3261e", "#ff8d83"),
    "timeout": ("#855700", "#f0b860"),
    "crashed": ("#8a2b7a", "#e6a0da"),
    "link": ("#00579a", "#80c3ff"),
    "on-heat": ("#ffffff", "#0b0d10"),
    "heat": ("0 98 163", "62 150 222"),  # as parts, for a cell sets how much of it shows
}


def css(looks: Looks) -> str:
    """The colours as variables: by the reader's system, and by the page's switch where it is set."""
    pairs = {**_COMMON, **{f"a{look.index}": (look.light, look.dark) for look in looks}}
    light, dark = ("".join(f"--{name}:{pair[side]};" for name, pair in pairs.items()) for side in (0, 1))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    )
