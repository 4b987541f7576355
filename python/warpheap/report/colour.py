# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Shades of a colour that look evenly spaced: Ottosson's OKLab, as lightness, chroma and hue."""

import math


def of_oklch(lightness: float, chroma: float, hue: float) -> str:
    """The sRGB colour `#rrggbb`; `hue` in degrees. What sRGB cannot show loses chroma until it can."""
    while True:
        red_green, blue_yellow = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
        linear = _linear_of_oklab(lightness, red_green, blue_yellow)
        if chroma <= 0 or all(-1e-4 <= part <= 1.0001 for part in linear):
            return "#" + "".join(f"{round(255 * _gamma(min(max(part, 0.0), 1.0))):02x}" for part in linear)
        chroma -= 0.005


def to_oklch(colour: str) -> tuple[float, float, float]:
    """Lightness, chroma and hue of `#rrggbb`."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    red_green = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    blue_yellow = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return lightness, math.hypot(red_green, blue_yellow), math.degrees(math.atan2(blue_yellow, red_green)) % 360


def distance(one: str, other: str) -> float:
    """How far apart two colours are in OKLab, where people see a difference of about 0.02."""
    points = []
    for shade in (one, other):
        lightness, chroma, hue = to_oklch(shade)
        points.append((lightness, chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))))
    return math.dist(*points)


def _linear_of_oklab(lightness: float, red_green: float, blue_yellow: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * red_green + 0.2158037573 * blue_yellow) ** 3
    middle = (lightness - 0.1055613458 * red_green - 0.0638541728 * blue_yellow) ** 3
    short = (lightness - 0.0894841775 * red_green - 1.2914855480 * blue_yellow) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _gamma(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else float(1.055 * value ** (1 / 2.4) - 0.055)
