# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The colours of shards: one hue each, all equally light.

Colours are chosen in OKLCH, where equal lightness looks equally light, so that the same dark text
is readable on each of them.
"""

from __future__ import annotations

import math

INK = "#1f2328"
"""Text on a colour."""

GRAY = "#717a85"
"""Text on whatever is behind the picture: readable on white and on black."""

EMPTY = "#e4e7eb"
"""Where a tile holds no data."""

HATCH = "#b3bac3"
"""The lines over where a tile holds no data."""

_FIRST_HUE = 250  # blue
_LIGHTNESS = 0.84
_CHROMA = 0.085


def shard_color(number: int, count: int, *, darker: bool = False) -> str:
    """The colour of shard `number` of `count`, as `#rrggbb`.

    Args:
        number: the shard.
        count: among how many shards the hues are distributed.
        darker: a little darker, which tells neighbours apart where there are many.
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
