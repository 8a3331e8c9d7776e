# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The colors of shards: one hue each, all of equal lightness.

Colors are chosen in OKLCH, where lightness is perceptual, so that the same dark text is readable on
each of them.
"""

from __future__ import annotations

import math

INK = "#1f2328"
"""Color of text on a colored tile."""

GRAY = "#717a85"
"""Color of text on the background of the page, readable on white and on black."""

EMPTY = "#e4e7eb"
"""Color of the part of a tile without data."""

HATCH = "#b3bac3"
"""Color of the hatching of the part of a tile without data."""

_FIRST_HUE = 250  # blue
_LIGHTNESS = 0.84
_CHROMA = 0.085


def shard_color(number: int, count: int, *, darker: bool = False) -> str:
    """Return the color of shard `number` of `count`, as `#rrggbb`.

    Args:
        number: the shard.
        count: the number of shards among which the hues are distributed.
        darker: whether to darken the color, to distinguish neighbors among many shards.
    """
    hue = math.radians(_FIRST_HUE + 360 * number / count)
    return _from_oklch(_LIGHTNESS - 0.06 * darker, _CHROMA, hue)


def _from_oklch(lightness: float, chroma: float, hue: float) -> str:
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return "#" + "".join(f"{_to_byte(part):02x}" for part in (red, green, blue))


def _to_byte(linear: float) -> int:
    linear = min(max(linear, 0.0), 1.0)
    encoded = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(255 * encoded)
