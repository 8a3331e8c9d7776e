# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-map-named-ops-to-mpmd-ops`."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, attributes_of, fragment, unassign
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, body_of, name_of, origin_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.uses import replace_by
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import Assigned, NameAssignment, read_assignment
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.meshes import check_mesh, topology
from pyshardy.pipeline import register_pass

_NAMED_TENSOR = "mpmd.named_tensor"


@register_pass("mpmd-map-named-ops-to-mpmd-ops", release="0.10.2")
def map_named_ops_to_mpmd_ops(module: ir.Module, *, assignment: NameAssignment = ()) -> None:
    """Convert named computations to fragments, and named tensors to assignments.

    A named computation becomes a fragment on the mesh of its name, with an assignment of each
    operand and an unassignment of each result. A named tensor becomes an assignment to the mesh of
    its name and an unassignment; without a mesh it vanishes.

    Raises:
        PassError: a named computation has no mesh, or a mesh is unknown.
    """
    meshes = read_assignment(assignment)
    functions = mpmd_functions(module)
    known = {name for function in functions for name in topology(function).names}
    for each in meshes.values():
        # A mesh may be in the topologies of other functions.
        if functions and each.mesh not in known:
            check_mesh(functions[-1], each.mesh)
    for function in functions:
        for operation in operations_named({NAMED_COMPUTATION, _NAMED_TENSOR}, function):
            if (assigned := meshes.get(name_of(operation))) is not None:
                check_mesh(operation, assigned.mesh)
            if operation.name == NAMED_COMPUTATION:
                _to_fragment(operation, meshes)
            else:
                _to_assignment(operation, meshes)


def _to_fragment(computation: ir.Operation, meshes: Mapping[str, Assigned]) -> None:
    origin = origin_of(computation)
    assigned = meshes.get(origin.name)
    place = location_of(computation.location)
    if assigned is None:
        message = (
            f"Top-level NamedComputation '{origin.name}' is not assigned to a mesh in the "
            "user-defined named-to-mesh assignment."
        )
        raise PassError(error(f"{message}{did_you_mean(origin.name, meshes)}", place))
    if assigned.memory_kind is not None:
        message = f"the memory kind of the named computation '{origin.name}' is ignored"
        emit(warning(message, place))
    with ir.InsertionPoint(computation), computation.location:
        given: dict[ir.Value, ir.Value] = {}
        for operand in computation.operands:
            if operand not in given:
                on_mesh = mesh_tensor(operand.type, assigned.mesh)
                given[operand] = assign(operand, on_mesh, origin.name)
        attributes = attributes_of(computation)
        if assigned.stage is not None:
            number = ir.IntegerType.get_signless(64)
            attributes["stage_id"] = ir.IntegerAttr.get(number, assigned.stage)
        built = fragment(
            assigned.mesh,
            [mesh_tensor(result.type, assigned.mesh) for result in computation.results],
            [given[operand] for operand in computation.operands],
            [origin],
            attributes,
            body=body_of(computation),
        )
        replace_by(computation, *(unassign(each, origin.name) for each in built.results))


def _to_assignment(tensor: ir.Operation, meshes: Mapping[str, Assigned]) -> None:
    value = tensor.operands[0]
    name = name_of(tensor)
    assigned = meshes.get(name)
    if assigned is not None:
        with ir.InsertionPoint(tensor), tensor.location:
            on_mesh = mesh_tensor(value.type, assigned.mesh, memory_kind=assigned.memory_kind)
            value = unassign(assign(value, on_mesh, name), name)
    replace_by(tensor, value)
