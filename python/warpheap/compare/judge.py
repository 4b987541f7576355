# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a measure of B is better or worse than that of A, as far as the samples allow to say.

With the threshold t, and each median known to lie in its 95 % confidence interval:

FASTER, SLOWER  the intervals do not overlap, and the medians differ by more than the factor 1 + t
SAME            wherever in their intervals the medians lie, they differ by no more than the factor 1 + t
UNDECIDED       all else, and every measure of fewer than 6 samples: they have no interval

Measures that do not depend on the machine's speed (shares, address ranges, registers) are BETTER, WORSE or SAME. A
single value of these needs no interval: t alone decides.
"""

import math
from dataclasses import dataclass

from warpheap.record import Measure

FASTER, SLOWER, SAME, UNDECIDED = "FASTER", "SLOWER", "SAME", "UNDECIDED"
BETTER, WORSE = "BETTER", "WORSE"

REGRESSIONS = (SLOWER, WORSE)


@dataclass(frozen=True)
class Judgement:
    """What can be said, and B's cost over A's: above 1, B is worse. The cost of a rate is its inverse."""

    verdict: str
    ratio: float


def judge(a: Measure, b: Measure, threshold: float) -> Judgement:
    """Judges B against A by the rule above."""
    ratio = _over(b["median"], a["median"])
    lowest, highest = _bounds(a, b)
    if a["better"] == "higher":
        ratio, lowest, highest = _inverse(ratio), _inverse(highest), _inverse(lowest)
    return Judgement(_verdict(ratio, lowest, highest, threshold, a["timing"]), ratio)


def _verdict(ratio: float, lowest: float, highest: float, threshold: float, timing: bool) -> str:
    limit = 1 + threshold
    if math.isnan(lowest):
        return UNDECIDED
    if lowest >= 1 / limit and highest <= limit:
        return SAME
    # The intervals do not overlap exactly if 1 is not among their ratios.
    if lowest > 1 and ratio > limit:
        return SLOWER if timing else WORSE
    if highest < 1 and ratio < 1 / limit:
        return FASTER if timing else BETTER
    return UNDECIDED


def _bounds(a: Measure, b: Measure) -> tuple[float, float]:
    """The least and the greatest ratio of a value in B's interval to one in A's; not numbers without intervals."""
    known = all(each.get("median_low") is not None for each in (a, b))
    if known:
        return _over(b["median_low"], a["median_high"]), _over(b["median_high"], a["median_low"])
    if a["timing"]:
        return math.nan, math.nan
    ratio = _over(b["median"], a["median"])
    return ratio, ratio


def _over(b: float, a: float) -> float:
    if a == b:
        return 1.0
    return math.inf if a == 0 else b / a


def _inverse(ratio: float) -> float:
    return math.inf if ratio == 0 else 1 / ratio
