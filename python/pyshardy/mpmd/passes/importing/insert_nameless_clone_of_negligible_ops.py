# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-insert-nameless-clone-of-negligible-ops`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, returned_values
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.regions import negligible_producer
from pyshardy.pipeline import register_pass


@register_pass("mpmd-insert-nameless-clone-of-negligible-ops", release="0.10.2")
def insert_nameless_clone_of_negligible_ops(module: ir.Module) -> None:
    """Copy constants and the like that named computations return.

    The uses of a result that an operation without operands and with a single result defines in the
    body are replaced by a copy of the operation after the computation. Otherwise such a constant
    would be transferred. The return of the function keeps the result.
    """
    for computation in operations_named({NAMED_COMPUTATION}, module):
        for result, value in zip(
            reversed(list(computation.results)), reversed(returned_values(computation)), strict=True
        ):
            producer = negligible_producer(value)
            uses = [use for use in result.uses if use.owner.operation.name != "func.return"]
            if producer is None:
                continue
            copy = producer.clone(ip=ir.InsertionPoint.after(computation)).operation
            for use in uses:
                use.owner.operation.operands[use.operand_number] = copy.results[0]
