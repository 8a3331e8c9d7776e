# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of PyTorch operations into those that the importer converts to StableHLO.

Most come from PyTorch: the operations that it composes of others, and its table of decompositions
to the core of ATen, without those that the importer converts in a better way. The modules here
register more:

    @decomposition("aten.roll")
    def roll(self, shifts, dims=()): ...  # calls operations of PyTorch
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from mlir_sdy.host import decompositions_of_torch
from pyshardy.frontends.torch.registry import DECOMPOSITIONS, load_definitions, name_of

load_definitions(__name__)

_CONVERTED_BY_IMPORTER = frozenset(
    {
        "aten.all",
        "aten.empty_like",
        "aten.eye",
        "aten.isfinite",
        "aten.linalg_vector_norm",
        "aten.logaddexp",
        "aten.logaddexp2",
        "aten.movedim.int",
        "aten.narrow",
        "aten.reshape",
        "aten.rms_norm",
        "aten.squeeze.dim",
        "aten.to",
        "aten.transpose",
        "aten.where",
        "aten.zeros_like",
    }
)
"""Operations with a decomposition that the importer converts in a better way, or faster."""


def decomposition_of(operation: Any) -> Callable[..., Any] | None:
    """Return the function that computes an operation by others, or None."""
    if (own := DECOMPOSITIONS.get(operation)) is not None:
        return own
    if (original := _original_of_copy(operation)) is not None:
        return original
    name = name_of(operation)
    if name in _CONVERTED_BY_IMPORTER or name.rpartition(".")[0] in _CONVERTED_BY_IMPORTER:
        return None
    if hasattr(operation, "_can_decompose") and operation._can_decompose():
        return functools.partial(_decompose, operation)
    if name.startswith("aten._foreach_"):  # on lists, whose kernel calls one operation for each
        return functools.partial(operation._op_dk, torch._C.DispatchKey.CompositeExplicitAutograd)
    return _table().get(operation)


def _original_of_copy(operation: Any) -> Callable[..., Any] | None:
    """Return the operation on views that another one copies: `aten.view` for `aten.view_copy`."""
    namespace, _, name = name_of(operation).partition(".")
    packet, _, overload = name.partition(".")
    if namespace != "aten" or not packet.endswith("_copy") or packet == "_to_copy":
        return None
    result = getattr(torch.ops.aten, packet.removesuffix("_copy"), None)
    return getattr(result, overload, None)


@functools.cache
def _table() -> Mapping[Any, Callable[..., Any]]:
    return decompositions_of_torch()


def _decompose(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute an operation by those that PyTorch composes it of, on the next level."""
    # Modes for functions would see the operation itself again.
    with torch._C.DisableTorchFunction():
        return operation.decompose(*args, **kwargs)
