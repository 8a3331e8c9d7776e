# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-copy-constants`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, producer, returned_values
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass


@register_pass("mpmd-copy-constants", release="0.10.2")
def copy_constants(module: ir.Module) -> None:
    """Replace arguments of fragments that are constants of other fragments by constants.

    The constant may come through transfers. Unused arguments and results are left to
    `mpmd-fragment-dce`.
    """
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            body = body_of(fragment)
            for argument, operand in zip(body.arguments, fragment.operands, strict=True):
                constant = _constant(operand)
                if constant is not None and list(argument.uses):
                    copy = constant.clone(ip=ir.InsertionPoint.at_block_begin(body)).operation
                    argument.replace_all_uses_with(copy.results[0])


def _constant(value: ir.Value) -> ir.Operation | None:
    """Return the constant that a fragment returns as a value, through transfers."""
    value = before_transfers(value)
    made = producer(value, FRAGMENT)
    if made is None:
        return None
    inner = returned_values(made)[ir.OpResult(value).result_number]
    return producer(inner, "stablehlo.constant")
