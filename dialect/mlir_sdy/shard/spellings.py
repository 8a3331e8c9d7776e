# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of older and newer syntax of the shard dialect to that of the host.

| in the text                               | syntax of the host                        |
|-------------------------------------------|-------------------------------------------|
| `reduction = <max>`                       | `reduction = max`                         |
| `scatter_axis = 0`                        | `scatter_dim = 0`                         |
| `#shard.partial<max>`                     | `#shard<partial max>`                     |
| `#shard.axisarray<[[0]]>`                 | `#shard<axisarray[[0]]>`                  |
| `shard.sharding @g split_axes = [[0]]`    | followed by `: !shard.sharding`           |
| `shard.grid "private" @g(shape = 4)`      | `sym_visibility` among its attributes     |
| `%i = shard.neighbors_linear_indices ...` | `%i:2 = ...`, with two results            |

The documentation of upstream still has the older syntax; newer releases print the visibility of a
grid. Replacements keep their length where possible; otherwise insertions are recorded, so that
locations are those of the original text. Comments are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mlir_sdy.assembly.source import STRING, end_of_brackets

_COMMENT = re.compile(rf"{STRING}|//[^\n]*")
_INTEREST = re.compile(
    rf'"shard\.(?P<generic>\w+)"|{STRING}'
    r"|#shard\.(?P<attribute>partial|axisarray)<"
    r"|%[\w$.-]+(?P<equals> = )(?=shard\.neighbors_linear_indices\b)"
    r"|(?<![\w.$@%#!^-])shard\.(?P<name>\w+)"
)
_REDUCTION = re.compile(r"[^:<>]*?\breduction\s*=\s*(<\s*\w+\s*>)")
_SCATTER_AXIS = re.compile(r"[^:]*?\b(scatter_axis)\s*=")
_SCATTER_AXIS_AMONG_ATTRIBUTES = re.compile(r"[^\n]*?\b(scatter_axis)\s*=")
_SHARDING = re.compile(
    r"\s*@[\w$.-]+\s+split_axes\s*=\s*\[(?:\s*\[[^\[\]]*\]\s*,?)*\s*\]"
    r"(?:\s*(?:halo_sizes|sharded_dims_offsets)\s*=\s*\[[^\[\]]*\])*"
    r"(?!\s*(?:halo_sizes|sharded_dims_offsets))"
)
_NEXT = re.compile(r"\s*(\S?)")
_VISIBILITY = re.compile(
    r"\s*(?P<quoted>\"(?:private|public|nested)\")\s*@[\w$.-]+\s*\(\s*shape\s*=[^()]*\)"
)
_ONE_NEIGHBOR = re.compile(r"[^:]*:\s*index(?!\s*,)")

_REDUCING = frozenset({"all_reduce", "reduce", "reduce_scatter"})
_SCATTERING = frozenset({"reduce_scatter", "scatter"})


class Spelled(NamedTuple):
    """A text in the syntax of the host.

    Attributes:
        text: the text.
        insertions: the offsets and lengths of insertions, which make lines longer.
    """

    text: str
    insertions: tuple[tuple[int, int], ...] = ()


def in_current_spelling(text: str) -> Spelled:
    """Return a text with other spellings replaced; the same object if there are none."""
    if "shard." not in text:
        return Spelled(text)
    # Comments are replaced by blanks of the same length, to be ignored.
    bare = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else " " * len(m[0]), text)
    pieces: list[str] = []
    insertions: list[tuple[int, int]] = []
    position = copied = length = 0

    def replace(start: int, end: int, replacement: str) -> None:
        nonlocal copied, length
        pieces.extend((text[copied:start], replacement))
        length += start - copied + len(replacement)
        copied = end
        longer = len(replacement) - (end - start)
        if longer:
            insertions.append((length - longer, longer))

    while match := _INTEREST.search(bare, position):
        position = match.end()
        if kind := match["attribute"]:
            end = end_of_brackets(bare, position - 1)
            if end >= 0:
                inner = text[position : end - 1]
                separator = "" if kind == "axisarray" else " "
                modern = f"#shard<{kind}{separator}{inner}>"
                replace(match.start(), end, modern.ljust(end - match.start()))
                position = end
        elif match["equals"]:
            if one := _ONE_NEIGHBOR.match(bare, position):
                replace(*match.span("equals"), ":2=")
                replace(one.end(), one.end(), ", index")
                position = one.end()
        elif match["generic"] in _SCATTERING:
            if found := _SCATTER_AXIS_AMONG_ATTRIBUTES.match(bare, position):
                replace(*found.span(1), "scatter_dim ")
        elif (name := match["name"]) == "sharding":
            end = _end_of_untyped_sharding(bare, position)
            if end is not None:
                replace(end, end, " : !shard.sharding")
        elif name == "grid":
            if found := _VISIBILITY.match(bare, position):
                _move_visibility(found, bare, replace)
        else:
            if name in _REDUCING and (found := _REDUCTION.match(bare, position)):
                replace(*found.span(1), f" {found[1][1:-1]} ")
            if name in _SCATTERING and (found := _SCATTER_AXIS.match(bare, position)):
                replace(*found.span(1), "scatter_dim ")
    if not pieces:
        return Spelled(text)
    pieces.append(text[copied:])
    return Spelled("".join(pieces), tuple(insertions))


def _end_of_untyped_sharding(bare: str, position: int) -> int | None:
    """Return where the type of a `shard.sharding` is missing; None if it isn't."""
    found = _SHARDING.match(bare, position)
    if found is None:
        return None
    end = found.end()
    behind = _NEXT.match(bare, end)
    if behind is not None and behind[1] == "{":
        end = end_of_brackets(bare, behind.start(1))
        behind = _NEXT.match(bare, end)
    return None if end < 0 or (behind is not None and behind[1] == ":") else end


def _move_visibility(
    found: re.Match[str], bare: str, replace: Callable[[int, int, str], None]
) -> None:
    """Write the visibility of a grid as an attribute."""
    quoted = found["quoted"]
    replace(*found.span("quoted"), " " * len(quoted))
    behind = _NEXT.match(bare, found.end())
    if behind is not None and behind[1] == "{":
        replace(behind.end(1), behind.end(1), f"sym_visibility = {quoted}, ")
    else:
        replace(found.end(), found.end(), f" {{sym_visibility = {quoted}}}")
