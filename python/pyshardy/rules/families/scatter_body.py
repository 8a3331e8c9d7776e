# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check whether the body of a scatter is a reduction, so that partial results can be combined."""

from __future__ import annotations

from mlir_sdy.host import ir

_REDUCTIONS = frozenset(
    {"stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum"}
)
_LOGICAL_REDUCTIONS = frozenset({"stablehlo.and", "stablehlo.or"})


def is_supported_reduction(body: ir.Block) -> bool:
    """Whether a body combines all values with their updates by one reduction.

    1. For n values there are 2n arguments, and n results are returned.
    2. Result i is computed from the arguments i and i + n, in either order.
    3. All results are computed by add, multiply, maximum or minimum; or by `and` or `or` of i1.

    Example: with one value, `return add(%old, %new)` is a reduction, `return %new` is not.
    """
    arguments = list(body.arguments)
    operations = [view.operation for view in body.operations]
    returned = list(operations[-1].operands)
    if len(arguments) != 2 * len(returned):
        return False
    kinds: set[str] = set()
    for index, value in enumerate(returned):
        if isinstance(value, ir.BlockArgument):
            return False
        operation = value.owner.operation
        pair = [arguments[index], arguments[index + len(returned)]]
        if list(operation.operands) not in (pair, pair[::-1]):
            return False
        kinds.add(operation.name)
        is_logical = operation.name in _LOGICAL_REDUCTIONS and _is_truth_value(value.type)
        if operation.name not in _REDUCTIONS and not is_logical:
            return False
    return len(kinds) == 1


def _is_truth_value(value_type: ir.Type) -> bool:
    element = ir.RankedTensorType(value_type).element_type
    return isinstance(element, ir.IntegerType) and element.width == 1
