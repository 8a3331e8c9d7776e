# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of tuple arguments and results, split into those of the elements.

| attribute            | attribute of each element                                          |
|----------------------|--------------------------------------------------------------------|
| `mhlo.sharding`      | its part of `"{{replicated},{devices=[2]<=[2]}}"`; otherwise equal |
| `jax.result_info`    | with its path appended: `out[0][1]`                                |
| `tf.aliasing_output` | the result for that element, which must have the same type         |
| any other            | equal for all elements                                             |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.discardable import as_integer, as_text
from mlir_sdy.host import ir
from pyshardy.irtools.tuples import Path, part_types, paths_of

ALIAS = "tf.aliasing_output"
_GSPMD = "mhlo.sharding"
_RESULT_INFO = "jax.result_info"


class UnfitAttributeError(Exception):
    """An attribute can't be split. Its text is the reason."""


def split_sharding(text: str, count: int) -> list[str]:
    """Return the sharding of each of `count` parts from XLA's sharding of a tuple.

    Example: `{{replicated}, {maximal device=1}}` for two parts is `{replicated}` and
    `{maximal device=1}`; `{manual}` is `{manual}` for both.

    Raises:
        UnfitAttributeError: the sharding has another number of parts.
    """
    inner = text.strip().removeprefix("{").removesuffix("}").strip()
    if inner and not inner.startswith("{"):
        return [text] * count
    parts: list[str] = []
    depth, start = 0, 0
    for position, letter in enumerate(inner):
        if letter == "{":
            start = position if depth == 0 else start
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                parts.append(inner[start : position + 1])
    if len(parts) != count:
        message = f"'{_GSPMD}' has a length of {len(parts)}, but the tuple of {count}: {text}"
        raise UnfitAttributeError(message)
    return parts


def path_text(path: Path) -> str:
    """Return a path as Python subscripts: `[0][1]`."""
    return "".join(f"[{index}]" for index in path)


def split_attributes(
    attributes: Mapping[str, ir.Attribute],
    value_type: ir.Type,
    result_types: Sequence[ir.Type],
    context: ir.Context,
) -> list[dict[str, ir.Attribute]]:
    """Return the attributes of each part of an argument or a result of a function.

    Args:
        attributes: those of the value.
        value_type: its type.
        result_types: the types of the function's results, tuples among them.
        context: the context of new attributes.

    Raises:
        UnfitAttributeError: an attribute can't be split.
    """
    paths = paths_of(value_type)
    split = [dict(attributes) for _ in paths]
    gspmd = as_text(attributes[_GSPMD]) if _GSPMD in attributes else None
    if gspmd is not None and isinstance(value_type, ir.TupleType):
        texts = split_sharding(gspmd, len(paths))
        for part, text in zip(split, texts, strict=True):
            part[_GSPMD] = ir.StringAttr.get(text, context)
    name = as_text(attributes[_RESULT_INFO]) if _RESULT_INFO in attributes else None
    if name is not None:
        for part, path in zip(split, paths, strict=True):
            part[_RESULT_INFO] = ir.StringAttr.get(name + path_text(path), context)
    if ALIAS in attributes:
        alias = as_integer(attributes[ALIAS])
        if alias is None or not 0 <= alias < len(result_types):
            message = f"'{ALIAS}' is {attributes[ALIAS]}, which is no number of a result"
            raise UnfitAttributeError(message)
        types, aliased = part_types([value_type]), part_types([result_types[alias]])
        if types != aliased:
            alias_type = result_types[alias]
            message = f"'{ALIAS}' refers to a result of type {alias_type}, not {value_type}"
            raise UnfitAttributeError(message)
        first = len(part_types(result_types[:alias]))
        for index, part in enumerate(split):
            part[ALIAS] = ir.IntegerAttr.get(ir.IntegerAttr(attributes[ALIAS]).type, first + index)
    return split
