# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that the partitioner replaces by the bodies of the functions."""

from __future__ import annotations

from itertools import islice

from mlir_sdy.discardable import as_text, has_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import argument_shardings, result_shardings, result_shardings_of
from pyshardy.irtools.functions import NO_INLINE, is_private, returned_values

MOST_OPERATIONS = 40
"""The most operations of a function that is inlined at several calls."""

_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
_COMPUTE_TYPE = "_xla_compute_type"
_INLINEABLE = "inlineable"


def can_be_inlined(function: ir.Operation) -> bool:
    """Whether calls of a function may be replaced by its body."""
    shardings = (*argument_shardings(function), *result_shardings(function))
    return (
        is_private(function)
        and not has_discardable(function, NO_INLINE)
        and len(function.regions[0].blocks) == 1
        and returned_values(function) is not None
        and not any(map(_has_unreduced_axes, shardings))
    )


def must_stay(call: ir.Operation) -> bool:
    """Whether the results of a call are unreduced, or its attributes forbid to inline it.

    JAX and XLA forbid it by `inlineable = "false"`, or by `_xla_compute_type`, which places the
    callee (`jax.experimental.compute_on`); among the frontend attributes or as attributes of the
    call.
    """
    own = dict(call.attributes.items())
    frontend = own.get(_FRONTEND_ATTRIBUTES)
    given = (own, frontend) if isinstance(frontend, ir.DictAttr) else (own,)
    forbidden = NO_INLINE in own or any(
        _COMPUTE_TYPE in each or (_INLINEABLE in each and _is_false(each[_INLINEABLE]))
        for each in given
    )
    return forbidden or any(map(_has_unreduced_axes, result_shardings_of(call)))


def has_at_most(number: int, function: ir.Operation) -> bool:
    """Whether a function has that many operations or fewer, without its terminator."""
    # The count includes the function itself and its terminator.
    return sum(1 for _ in islice(operations_in(function), number + 3)) <= number + 2


def _is_false(attribute: ir.Attribute) -> bool:
    if isinstance(attribute, ir.BoolAttr):
        return not attribute.value
    return as_text(attribute) == "false"


def _has_unreduced_axes(sharding: TensorSharding | None) -> bool:
    return sharding is not None and bool(sharding.unreduced_axes)
