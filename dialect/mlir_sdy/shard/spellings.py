# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Older ways to write the shard dialect, as its documentation still has them.

| older                                     | what the host reads                       |
|-------------------------------------------|-------------------------------------------|
| `reduction = <max>`                       | `reduction = max`                         |
| `scatter_axis = 0`                        | `scatter_dim = 0`                         |
| `#shard.partial<max>`                     | `#shard<partial max>`                     |
| `#shard.axisarray<[[0]]>`                 | `#shard<axisarray[[0]]>`                  |
| `shard.sharding @g split_axes = [[0]]`    | with `: !shard.sharding` behind it        |
| `%i = shard.neighbors_linear_indices ...` | `%i:2 = ...`, with two results            |

What changes keeps its length, or gets longer where its line ends anyway. So the lines and columns
of all operations stay what they are.
"""

from __future__ import annotations

import re

from mlir_sdy.assembly.source import STRING, end_of_brackets

_INTEREST = re.compile(
    rf'"shard\.(?P<generic>\w+)"|{STRING}|//[^\n]*'
    r"|#shard\.(?P<attribute>partial|axisarray)<"
    r"|%[\w$.-]+(?P<equals> = )(?=shard\.neighbors_linear_indices\b)"
    r"|(?<![\w.$@%#!^-])shard\.(?P<name>\w+)"
)
_REDUCTION = re.compile(r"[^:<>]*?\breduction\s*=\s*(<\s*\w+\s*>)")
_SCATTER_AXIS = re.compile(r"[^:]*?\b(scatter_axis)\s*=")
_SCATTER_AXIS_AMONG_ATTRIBUTES = re.compile(r"[^\n]*?\b(scatter_axis)\s*=")
_SHARDING_WITHOUT_TYPE = re.compile(
    r"\s*@[\w$.-]+\s+split_axes\s*=\s*\[(?:\s*\[[^\[\]]*\]\s*,?)*\s*\]"
    r"(?:\s*(?:halo_sizes|sharded_dims_offsets)\s*=\s*\[[^\[\]]*\])*"
    r"(?!\s*(?:[:{]|halo_sizes|sharded_dims_offsets))"
)
_ONE_NEIGHBOR = re.compile(r"[^:]*:\s*index(?!\s*,)")

_REDUCING = frozenset({"all_reduce", "reduce", "reduce_scatter"})
_SCATTERING = frozenset({"reduce_scatter", "scatter"})


def in_current_spelling(text: str) -> str:
    """A text with older spellings replaced; the very same text if there are none."""
    if "shard." not in text:
        return text
    pieces: list[str] = []
    position = copied = 0

    def replace(start: int, end: int, replacement: str) -> None:
        nonlocal copied
        pieces.append(text[copied:start])
        pieces.append(replacement)
        copied = end

    while match := _INTEREST.search(text, position):
        position = match.end()
        if kind := match["attribute"]:
            end = end_of_brackets(text, position - 1)
            if end >= 0:
                inner = text[position : end - 1]
                separator = "" if kind == "axisarray" else " "
                modern = f"#shard<{kind}{separator}{inner}>"
                replace(match.start(), end, modern.ljust(end - match.start()))
                position = end
        elif match["equals"]:
            if one := _ONE_NEIGHBOR.match(text, position):
                replace(*match.span("equals"), ":2=")
                replace(one.end(), one.end(), ", index")
                position = one.end()
        elif match["generic"] in _SCATTERING:
            if found := _SCATTER_AXIS_AMONG_ATTRIBUTES.match(text, position):
                replace(*found.span(1), "scatter_dim ")
        elif (name := match["name"]) == "sharding":
            if found := _SHARDING_WITHOUT_TYPE.match(text, position):
                replace(found.end(), found.end(), " : !shard.sharding")
        else:
            if name in _REDUCING and (found := _REDUCTION.match(text, position)):
                replace(*found.span(1), f" {found[1][1:-1]} ")
            if name in _SCATTERING and (found := _SCATTER_AXIS.match(text, position)):
                replace(*found.span(1), "scatter_dim ")
    if not pieces:
        return text
    pieces.append(text[copied:])
    return "".join(pieces)
