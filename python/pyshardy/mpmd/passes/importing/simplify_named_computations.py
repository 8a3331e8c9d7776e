# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-simplify-named-computations`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, body_of, producer, returned_values
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.regions import (
    drop_unused,
    erase_dead,
    is_used,
    merge_equal_operands,
    merge_equal_results,
)
from pyshardy.pipeline import register_pass

_BARRIER = "stablehlo.optimization_barrier"


@register_pass("mpmd-simplify-named-computations", release="0.10.2")
def simplify_named_computations(module: ir.Module) -> None:
    """Merge and drop operands and results of named computations.

    Equal results, and equal operands, are merged. A result that is an argument of the body is
    replaced by the operand, also through an `optimization_barrier`. Unused results and operands are
    dropped, and dead operations erased.
    """
    for function in functions_of(module):
        while has_body(function):
            before = _size(function)
            erase_dead(body_of(function))
            for computation in reversed(operations_named({NAMED_COMPUTATION}, function)):
                _simplify(computation)
            if _size(function) == before:
                break


def _size(function: ir.Operation) -> list[tuple[int, int]]:
    computations = operations_named({NAMED_COMPUTATION}, function)
    return [(len(each.operands), len(each.results)) for each in computations]


def _simplify(computation: ir.Operation) -> None:
    erase_dead(body_of(computation))
    merge_equal_results(computation)
    merge_equal_operands(computation)
    _forward_operands(computation)
    drop_unused(computation)


def _forward_operands(computation: ir.Operation) -> None:
    body = body_of(computation)
    for result, value in zip(computation.results, returned_values(computation), strict=True):
        while (barrier := producer(value, _BARRIER)) is not None:
            value = barrier.operands[ir.OpResult(value).result_number]  # noqa: PLW2901
        if isinstance(value, ir.BlockArgument) and value.owner == body and is_used(result):
            result.replace_all_uses_with(computation.operands[value.arg_number])
