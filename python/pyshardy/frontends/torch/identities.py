# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that return their first argument as it is."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from pyshardy.frontends.torch.registry import name_of

_IDENTITY_FOR_EQUAL_TYPES = frozenset(
    {
        "_to_copy",
        "_unsafe_view",
        "alias",
        "broadcast_to",
        "clone",
        "contiguous",
        "detach",
        "expand",
        "expand_as",
        "flatten",
        "lift_fresh",
        "lift_fresh_copy",
        "narrow",
        "positive",
        "repeat",
        "reshape",
        "resolve_conj",
        "resolve_neg",
        "slice",
        "squeeze",
        "to",
        "type_as",
        "unflatten",
        "view",
        "view_as",
    }
)
"""Operations of ATen that return their first argument if the result has its shape and type."""

_DROPOUTS = frozenset({"alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout"})
"""Operations of ATen that return their first argument if the last one is false."""


def is_identity(node: Node) -> bool:
    """Whether an operation returns its first argument.

    Examples: a dropout for inference, `x.to(torch.float32)` of 32-bit numbers, `x[:]`,
    `x.permute(0, 1)`.
    """
    namespace, _, name = name_of(node.target).partition(".")
    if namespace != "aten":
        return False
    name = name.partition(".")[0]
    if name in ("t", "transpose") and _rank_of(node) == 0:
        return True
    if name == "permute":
        order: Any = node.args[1]
        return [*order] == [*range(len(order))]
    if name in _DROPOUTS:
        return len(node.args) == 3 and node.args[2] is False
    return name in _IDENTITY_FOR_EQUAL_TYPES and _keeps_type(node)


def _rank_of(node: Node) -> int | None:
    """Return the number of dimensions of a result, if it is one tensor."""
    result = node.meta.get("val")
    return result.dim() if isinstance(result, torch.Tensor) else None


def _keeps_type(node: Node) -> bool:
    """Whether the result of an operation has the shape and the type of its first argument."""
    source, result = node.args[0] if node.args else None, node.meta.get("val")
    value = source.meta.get("val") if isinstance(source, Node) else None
    if not isinstance(value, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    return value.shape == result.shape and value.dtype == result.dtype
