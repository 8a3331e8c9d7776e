# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous collectives of local programs: a start, and the wait for its result."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, MeshAxis
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import ASYNC_DONE, ASYNC_START, argument_shardings, result_shardings
from pyshardy.irtools.functions import ENTRY, functions_of
from pyshardy.irtools.stablehlo_views import COLLECTIVES, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.process_groups import Layout, process_groups, process_pairs
from pyshardy.partition.types.one_mesh import device_mesh_of

FUTURE = "!stablehlo.future"
"""The beginning of the type of what an `async_start` returns."""

_LOCAL = "sdy.parameters_shardings"
"""The attribute of modules that the partitioner has made local."""


def start_copy(collective: ir.Operation, operand: ir.Value) -> ir.Value:
    """Build the start of a copy of a collective here, and return its future.

    Args:
        collective: a collective with one operand and one result.
        operand: the operand of the copy.
    """
    copy = collective.clone(ip=False).operation
    kind = collective.results[0].type
    future = ir.Type.parse(f"{FUTURE}<{kind}>", collective.context)
    with collective.location:
        start = ir.Operation.create(ASYNC_START, results=[future], operands=[operand], regions=1)
        body = start.regions[0].blocks.append(operand.type, arg_locs=[collective.location])
        body.append(copy)
        copy.operands[0] = body.arguments[0]
        ir.Operation.create(
            "stablehlo.return", operands=[copy.results[0]], ip=ir.InsertionPoint(body)
        )
    return start.result


def await_result(value: ir.Value) -> ir.Value:
    """Build the wait for a future here, and return its result; what isn't a future stays."""
    start = value.owner
    if isinstance(start, ir.Block) or start.operation.name != ASYNC_START:
        return value
    (region,) = start.operation.regions
    collective = region.blocks[0].operations[0].operation
    with collective.location:
        kind = collective.results[0].type
        return ir.Operation.create(ASYNC_DONE, results=[kind], operands=[value]).result


# --- Local programs -------------------------------------------------------------------------------


def check_is_local(module: ir.Module, name: str) -> None:
    """Check that a program has been partitioned, and has an entry if it communicates.

    Args:
        module: the program.
        name: the pass that needs it to be.

    Raises:
        PassError: the program has shardings, and its types are global; or it has no `@main`.
    """
    known = ", ".join(f"'@{symbol_name(each)}'" for each in functions_of(module))
    if f"'@{ENTRY}'" not in known and operations_named(COLLECTIVES, module):
        message = f"'{name}' needs an entry '@{ENTRY}'; the program has {known}"
        raise PassError(error(message, location_of(module.operation.location)))
    if get_discardable(module.operation, _LOCAL) is not None:
        return
    for function in functions_of(module):
        if any((*argument_shardings(function), *result_shardings(function))):
            message = (
                f"'{name}' comes after the partitioner, for local programs: "
                f"'@{symbol_name(function)}' has shardings, and its types are global"
            )
            raise PassError(error(message, location_of(function.location)))


def mesh_of_local(module: ir.Module) -> Mesh:
    """Return the mesh of a local program; one axis of all devices if it has no mesh any more."""
    main = next((each for each in functions_of(module) if symbol_name(each) == ENTRY), None)
    name = None if main is None else device_mesh_of(main)
    if name is not None:
        return meshes_of(module)[name]
    layout, last = Layout(1, 1 << 30), 0
    for operation in operations_named(COLLECTIVES, module):
        if operation.name == "stablehlo.collective_permute":
            members = [device for pair in process_pairs(operation, layout) for device in pair]
        else:
            members = [device for group in process_groups(operation, layout) for device in group]
        last = max([last, *members])
    return Mesh((MeshAxis("devices", last + 1),))
