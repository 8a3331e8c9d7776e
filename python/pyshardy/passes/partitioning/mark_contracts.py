# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-mark-contracts`: mark the operations that contracts are for.

The mark is part of the locations of the operations in the loop, so that it survives when the
partitioner inlines, copies or moves them. `sdy-check-contracts` reads the marks.
"""

from __future__ import annotations

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.discardable import (
    CONTRACT,
    get_discardable,
    has_discardable,
    remove_discardable,
    set_discardable,
)
from mlir_sdy.host import ir
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import may_have_regions, operations_in
from pyshardy.contracts.attributes import CONTRACTS, contract_of_attribute
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.locations import tagged
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.irtools.walks import names_that_may_occur
from pyshardy.pipeline import register_pass

CONTRACT_TAG = "contract"
"""The kind of the marks."""

COLLECTIVE_TAG = "contract_collective"
"""The kind of the marks of collectives that the program has before it is partitioned."""

_COLLECTIVES = COLLECTIVES | {name.replace("stablehlo.", "sdy.") for name in COLLECTIVES}


@register_pass("sdy-mark-contracts", release="pyshardy")
def mark_contracts(module: ir.Module) -> Changes:
    """Mark the operations that contracts limit the communication of.

    A function or an operation with regions may have an attribute `sdy.contract`, a dictionary with
    limits for the collectives that the operations inside need:

    ```mlir
    %0 = stablehlo.while(%i = %a) : tensor<8xf32>
        attributes {sdy.contract = {at_most = {all_gather = 0},
                                    limits = ["at most 8MB along data"]}}
    ```

    The entries are the arguments of `pyshardy.Contract.of`. The pass moves the contracts to the
    module, and marks the operations inside by their locations. `sdy-check-contracts` checks them.

    Raises:
        PassError: a contract is invalid.
    """
    limited = _with_contracts(module)
    if not limited:
        return UNCHANGED
    axes = [name for mesh in meshes_of(module).values() for name in mesh.axis_names]
    contracts: list[ir.Attribute] = []
    for operation in limited:
        attribute = get_discardable(operation, CONTRACT)
        contract_of_attribute(attribute, operation, axes)
        for inner in _inside(operation):
            kind = COLLECTIVE_TAG if inner.name in _COLLECTIVES else CONTRACT_TAG
            inner.location = tagged(inner.location, kind, len(contracts))
        remove_discardable(operation, CONTRACT)
        contracts.append(attribute)
    set_discardable(module.operation, CONTRACTS, ir.ArrayAttr.get(contracts, module.context))
    return UNCHANGED


def _with_contracts(module: ir.Module) -> list[ir.Operation]:
    """Return the operations with contracts, inner ones first. Only those with regions have any."""
    names = names_that_may_occur(module)
    if names is None or any(map(may_have_regions, names - {"func.func"})):
        return operations_with(CONTRACT, module)
    return [function for function in functions_of(module) if has_discardable(function, CONTRACT)]


def _inside(operation: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in operations_in(operation) if each.operation != operation]
