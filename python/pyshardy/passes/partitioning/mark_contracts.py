# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-mark-contracts`: mark the operations that contracts are for.

    %0 = stablehlo.while ... attributes {sdy.contract = {at_most = {all_gather = 0}}}

The mark is part of the locations of the operations in the loop, so that it survives when the
partitioner inlines, copies or moves them. `sdy-check-contracts` reads the marks.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from pyshardy.contracts.attributes import CONTRACT, CONTRACTS, contract_of_attribute
from pyshardy.irtools.analyses import inserts, preserves
from pyshardy.irtools.tags import tagged
from pyshardy.irtools.walks import operations_with
from pyshardy.local_program.segments import COLLECTIVES

CONTRACT_TAG = "contract"
"""The kind of the marks."""

COLLECTIVE_TAG = "contract_collective"
"""The kind of the marks of collectives that the program has before it is partitioned."""

_COLLECTIVES = COLLECTIVES | {name.replace("stablehlo.", "sdy.") for name in COLLECTIVES}


@inserts()
@preserves("device-meshes", "result-kinds", "sharding-lists")
def mark_contracts(module: ir.Module) -> None:
    """Move the contracts in a module to the module, and mark the operations inside.

    Args:
        module: the module, which is changed in place.

    Raises:
        PassError: a contract is invalid, or is on an operation without regions.
    """
    limited = operations_with(CONTRACT, module)
    if not limited:
        return
    axes = [name for mesh in meshes_of(module).values() for name in mesh.axis_names]
    contracts: list[ir.Attribute] = []
    for operation in limited:
        attribute = get_discardable(operation, CONTRACT)
        contract_of_attribute(attribute, operation, axes)
        if not any(region.blocks for region in operation.regions):
            message = f"'{CONTRACT}' is for functions with a body and operations with regions"
            raise PassError(
                error(f"'{operation.name}' op {message}", location_of(operation.location))
            )
        for inner in _inside(operation):
            kind = COLLECTIVE_TAG if inner.name in _COLLECTIVES else CONTRACT_TAG
            inner.location = tagged(inner.location, kind, len(contracts))
        remove_discardable(operation, CONTRACT)
        contracts.append(attribute)
    set_discardable(module.operation, CONTRACTS, ir.ArrayAttr.get(contracts, module.context))


def _inside(operation: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in operations_in(operation) if each.operation != operation]
