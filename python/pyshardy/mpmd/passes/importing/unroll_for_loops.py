# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-unroll-for-loops`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.building import unsigned
from mlir_sdy.mpmd.reading import FOR, body_of, integer_of, operations_of, returned_values
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.passes.importing.from_unroll_to_call_counter import UNROLL_COUNTER
from pyshardy.pipeline import register_pass


@register_pass("mpmd-unroll-for-loops", release="0.10.2")
def unroll_for_loops(module: ir.Module) -> None:
    """Unroll loops completely.

    The operations of iteration `i` get the attribute `unroll_counter` with the value `i`, counted
    on from the loop before in the same function. The index becomes a constant.

    Raises:
        PassError: a loop is to be unrolled partially, or is inside of another loop.
    """
    for function in functions_of(module):
        start = 0
        for loop in operations_named({FOR}, function):
            iterations = integer_of(loop, "iterations")
            factor = integer_of(loop, "unroll_factor")
            if iterations is None or factor != iterations:
                raise PassError(
                    error(
                        f"only complete unrolling is supported: the loop has {iterations} "
                        f"iterations, but the unroll factor is {factor or 'missing'}; set "
                        f"'unroll_factor = {iterations} : ui32'",
                        location_of(loop.location),
                    )
                )
            if operations_named({FOR}, loop):
                raise PassError(
                    error("loops inside of loops are not supported", location_of(loop.location))
                )
            _unroll(loop, start, iterations)
            start += iterations


def _unroll(loop: ir.Operation, start: int, iterations: int) -> None:
    carried = list(loop.operands)
    for iteration in range(iterations):
        counter = unsigned(start + iteration, loop.context)
        copy = loop.clone().operation
        body = body_of(copy)
        index = body.arguments[len(carried)]
        with ir.InsertionPoint(loop), loop.location:
            value = ir.DenseElementsAttr.get_splat(
                index.type, ir.IntegerAttr.get(index.type.element_type, iteration)
            )
            constant = ir.Operation.create(
                "stablehlo.constant", results=[index.type], attributes={"value": value}
            )
        set_discardable(constant, UNROLL_COUNTER, counter)
        index.replace_all_uses_with(constant.results[0])
        for argument, value in zip(body.arguments, carried, strict=False):
            argument.replace_all_uses_with(value)
        carried = returned_values(copy)
        for operation in operations_of(body)[:-1]:
            set_discardable(operation, UNROLL_COUNTER, counter)
            operation.move_before(loop)
        copy.erase()
    replace_by(loop, *carried)
