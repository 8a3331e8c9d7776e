# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-check-contracts`: check the contracts of a local program.

It fails if the collectives that belong to marked operations exceed the limits:

    model.mlir:12:8: error: the contract 'no all_gather' is violated: found 1 collective, ...

A collective counts for a contract

1. if it is a marked operation of the program,
2. if it completes the results of a marked operation, or
3. if a marked operation uses its result, directly or through operations without any mark, which
   the partitioner inserted.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import get_discardable, remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from pyshardy.contracts.attributes import CONTRACTS, HINT, contract_of_attribute
from pyshardy.contracts.contract import MeasuredProgram, placed
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.locations import tags_of, without_tags
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.passes.partitioning.mark_contracts import COLLECTIVE_TAG, CONTRACT_TAG
from pyshardy.pipeline import register_pass

_REDUCTIONS = frozenset({"stablehlo.all_reduce", "stablehlo.reduce_scatter"})
_MOST_INSERTED = 8
"""The maximum number of inserted operations between a collective and a marked operation."""


@register_pass("sdy-check-contracts", release="pyshardy")
def check_contracts(module: ir.Module) -> Changes:
    """Fail if the collectives of a local program violate contracts.

    Checks the contracts that `sdy-mark-contracts` moved to the module, and removes the marks. A
    collective counts for a contract if it completes the results of a marked operation, or if a
    marked operation uses its result, even if the partitioner moved it out of a loop.

    Raises:
        PassError: a contract is violated; the message lists the collectives.
    """
    contracts = get_discardable(module.operation, CONTRACTS)
    if contracts is None:
        return UNCHANGED
    main = next(iter(functions_of(module)), None)
    name = None if main is None else device_mesh_of(main)
    if name is None:
        raise PassError(error("the contracts of a program without a mesh cannot be checked"))
    mesh = meshes_of(module)[name]
    operations = operations_named(COLLECTIVES, module)
    found = [placed(each) for each in collectives_of(module, mesh)]
    numbers = [_contracts_of(operation) for operation in operations]
    violations = [
        violation
        for number, attribute in enumerate(contracts)
        for violation in contract_of_attribute(attribute, module.operation).violations(
            MeasuredProgram(
                tuple(mesh.axis_names),
                tuple(one for one, tags in zip(found, numbers, strict=True) if number in tags),
                0,
            )
        )
    ]
    if violations:
        *others, last = (each.diagnostic for each in violations)
        raise PassError(*others, replace(last, notes=(*last.notes, note(HINT))))
    remove_discardable(module.operation, CONTRACTS)
    for view in operations_in(module.operation):
        operation = view.operation
        kept = without_tags(operation.location, CONTRACT_TAG)
        operation.location = without_tags(kept, COLLECTIVE_TAG)
    return UNCHANGED


def _contracts_of(collective: ir.Operation) -> set[int]:
    """Return the numbers of the contracts that a collective counts for."""
    own = set(tags_of(collective.location, COLLECTIVE_TAG))
    if collective.name in _REDUCTIONS:
        own |= set(tags_of(collective.location, CONTRACT_TAG))
    return own | _contracts_of_users(collective, 0)


def _contracts_of_users(operation: ir.Operation, depth: int) -> set[int]:
    found: set[int] = set()
    for result in operation.results:
        for use in result.uses:
            user = use.owner.operation
            marked = tags_of(user.location, CONTRACT_TAG)
            if not marked and depth < _MOST_INSERTED:
                found |= _contracts_of_users(user, depth + 1)
            found |= set(marked)
    return found
