# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Colours, markers and dashes: told apart with any eyes, on white and on dark."""

from itertools import combinations

import pytest
from records import record

from warpheap import project
from warpheap.report import colour, theme
from warpheap.report.families import KNOWN, family_of
from warpheap.report.looks import Looks

# What dichromats see, in linear light (Machado, Oliveira and Fernandes, 2009, severity 1).
_EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no middle": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no short": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def registered() -> list[str]:
    """The designs of a GPU in the registry's order, which a page shows side by side."""
    return project.registered_designs("cuda") or pytest.fail("no registry")


def looks_of(*names: str) -> Looks:
    return Looks([record(allocator=name, position=position) for position, name in enumerate(names)])


def linear(shade: str) -> list[float]:
    parts = [int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(shade: str) -> float:
    red, green, blue = linear(shade)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def seen(shade: str, eyes: str) -> str:
    parts = linear(shade)
    found = [sum(weight * part for weight, part in zip(row, parts, strict=True)) for row in _EYES[eyes]]
    clipped = [min(max(part, 0), 1) for part in found]
    gamma = [12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in clipped]
    return "#" + "".join(f"{round(255 * part):02x}" for part in gamma)


@pytest.mark.parametrize("side", ["light", "dark"])
@pytest.mark.parametrize("eyes", list(_EYES))
def test_families_differ_for_all_eyes(eyes: str, side: str) -> None:
    # Variants of a family have shades of their own, so all designs are compared with those of other families.
    least = 0.09 if eyes == "all cones" else 0.055
    shades = [(look, seen(getattr(look, side), eyes)) for look in looks_of(*registered())]
    for (one, shade), (other, another) in combinations(shades, 2):
        if one.family != other.family:
            apart = colour.distance(shade, another)
            assert apart > least, f"{one.name} {shade} and {other.name} {another} on a {side} page: {apart:.3f}"
    for first, second in combinations(KNOWN, 2):
        apart = colour.distance(seen(getattr(first, side), eyes), seen(getattr(second, side), eyes))
        assert apart > 0.06, f"{first.name} and {second.name} on a {side} page"


@pytest.mark.parametrize("side", ["light", "dark"])
def test_a_family_that_no_table_knows_differs_from_all_others(side: str) -> None:
    looks = looks_of(*registered(), "newcomer", "stranger")
    shades = {look.family: getattr(look, side) for look in looks}
    for name in ("Newcomer", "Stranger"):
        apart = {other: colour.distance(shades[name], shade) for other, shade in shades.items() if other != name}
        assert min(apart.values()) > 0.05, apart


def test_every_registered_design_has_a_known_family() -> None:
    assert [name for name in registered() if family_of(name) is None] == []
    assert len({family_of("kma"), family_of("xmalloc"), family_of("xmalloc_flat")}) == 2


def test_lines_stand_out_from_the_page() -> None:
    names = [f"ouroboros_{variant}" for variant in ("s_p", "va_p", "vl_p", "s_c", "va_c", "vl_c")]
    paper = theme._COMMON["paper"]
    for look in looks_of(*names, "bump", "xmalloc", "halloc", "bulk", "newcomer", "stranger"):
        assert contrast(look.light, paper[0]) > 2.5, look
        assert contrast(look.dark, paper[1]) > 3, look


def test_words_can_be_read_on_both_pages() -> None:
    for name in ("ink", "soft", "ok", "bad", "timeout", "crashed", "link"):
        for side in (0, 1):
            for ground in ("paper", "ground"):
                assert contrast(theme._COMMON[name][side], theme._COMMON[ground][side]) > 4.5, (name, side, ground)


def test_each_allocator_has_a_pair_of_marker_and_dash_of_its_own() -> None:
    looks = list(looks_of(*(f"design_{number:02}" for number in range(36))))
    assert len({(look.marker, look.dash) for look in looks}) == 36


def test_a_family_has_one_hue_and_its_variants_differ() -> None:
    looks = list(looks_of("ouroboros_s_p", "ouroboros_va_p", "ouroboros_vl_p", "halloc"))
    hues = [colour.to_oklch(look.light)[2] for look in looks]
    assert max(hues[:3]) - min(hues[:3]) < 6
    assert abs(hues[3] - hues[0]) > 6
    assert len({look.light for look in looks}) == 4


@pytest.mark.parametrize("side", ["light", "dark"])
def test_variants_of_a_family_differ(side: str) -> None:
    for one, other in combinations(looks_of(*registered()), 2):
        if one.family == other.family:
            assert colour.distance(getattr(one, side), getattr(other, side)) > 0.03, f"{one.name} and {other.name}"


def test_a_design_without_a_family_gets_one_by_itself() -> None:
    looks = looks_of("newcomer_a", "newcomer_b", "stranger")
    assert [(family, len(members)) for family, members in looks.families()] == [("Newcomer", 2), ("Stranger", 1)]
    assert len({look.light for look in looks}) == 3


def test_looks_follow_the_registry() -> None:
    records = [record(allocator="late", position=7), record(allocator="early", position=2)]
    assert [look.name for look in Looks(records)] == ["early", "late"]


def test_colours_survive_the_way_to_oklch_and_back() -> None:
    for shade in ("#0062a3", "#d55e00", "#000000", "#ffffff", "#59636e"):
        assert colour.of_oklch(*colour.to_oklch(shade)) == shade
