# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on named computations and tensors, from the import to fragments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain

from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, attributes_of, fragment, unassign
from mlir_sdy.mpmd.reading import (
    NAMED_COMPUTATION,
    body_of,
    is_mpmd_function,
    name_of,
    origin_of,
    returned_values,
)
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import functions_of, replace_by_body
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import Assigned, NameAssignment, read_assignment
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.marks import check_mesh, topology
from pyshardy.mpmd.rewriting.regions import negligible_producer, simplify_operations
from pyshardy.pipeline import register_pass


def _in_mpmd_functions(names: Collection[str], module: ir.Module) -> list[ir.Operation]:
    """Return operations in functions with a topology, the inner ones first."""
    found = (
        operations_named(set(names), function, ir.WalkOrder.POST_ORDER)
        for function in mpmd_functions(module)
    )
    return list(chain.from_iterable(found))


@register_pass("mpmd-insert-nameless-clone-of-negligible-ops", release="0.10.2")
def insert_nameless_clone_of_negligible_ops(module: ir.Module) -> None:
    """Copy constants and the like that named computations return.

    The uses of a result that an operation without operands and with a single result defines in the
    body are replaced by a copy of the operation after the computation. Otherwise such a constant
    would be transferred. The return of the function keeps the result.
    """
    for computation in _in_mpmd_functions({NAMED_COMPUTATION}, module):
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


@register_pass("mpmd-simplify-named-computations", release="0.10.2")
def simplify_named_computations(module: ir.Module) -> None:
    """Merge and drop operands and results of named computations.

    Equal results, and equal operands, are merged. A result that is an argument of the body is
    replaced by the operand, also through an `optimization_barrier`. Unused results and operands are
    dropped, and dead operations erased.
    """
    for function in mpmd_functions(module):
        simplify_operations(function, NAMED_COMPUTATION)


_IDENTITIES = ("mpmd.named_tensor", "mpmd.broadcast", "mpmd.reduce")


@register_pass("mpmd-inline-nested-user-exposed-ops", release="0.10.2")
def inline_nested_user_exposed_ops(module: ir.Module, *, assignment: NameAssignment = ()) -> None:
    """Inline what is named inside of named computations.

    A named computation inside of another, on the same mesh and stage, is inlined. Named tensors,
    broadcasts and reductions there vanish.

    Raises:
        PassError: the outer computation has no mesh, or an inner name has another mesh or stage.
    """
    meshes = read_assignment(assignment)
    for operation in _in_mpmd_functions({NAMED_COMPUTATION, *_IDENTITIES}, module):
        parent = None if operation.parent is None else operation.parent.operation
        if parent is None or parent.name != NAMED_COMPUTATION:
            continue
        outer, place = name_of(parent), location_of(operation.location)
        if outer not in meshes:
            message = (
                f"Parent NamedComputation '{outer}' is not assigned to a mesh in the user-defined "
                "name-to-mesh assignment."
            )
            raise PassError(error(message, location_of(parent.location)))
        if operation.name == NAMED_COMPUTATION:
            inner = name_of(operation)
            own = meshes.get(inner)
            if own is not None and own != meshes[outer]:
                message = (
                    f"NamedComputation '{inner}' is nested in a NamedComputation '{outer}' which "
                    "has a different mesh or stage assignment."
                )
                raise PassError(error(message, place))
            replace_by_body(operation, body_of(operation))
            continue
        if operation.name == "mpmd.named_tensor":
            inner = name_of(operation)
            own = meshes.get(inner)
            if own is not None and own.mesh != meshes[outer].mesh:
                message = (
                    f"NamedTensor '{inner}' is nested in a NamedComputation '{outer}' which has a "
                    "different mesh assignment."
                )
                raise PassError(error(message, place))
        if len(operation.operands) == 1:
            replace_by(operation, operation.operands[0])


@register_pass("mpmd-validate-named-ops-in-mpmd-func", release="0.10.2")
def validate_named_ops_in_mpmd_func(module: ir.Module) -> None:
    """Check that named computations and tensors are in functions with a topology.

    Raises:
        PassError: one is in another function.
    """
    for function in functions_of(module):
        if is_mpmd_function(function):
            continue
        for operation in operations_named({NAMED_COMPUTATION, "mpmd.named_tensor"}, function):
            kind = "computations" if operation.name == NAMED_COMPUTATION else "tensors"
            message = (
                f"Named {kind} can only be nested in mpmd functions or mpmd ops. "
                f"'{name_of(operation)}' is in '{symbol_name(function)}', which has no topology; "
                "call it by 'mpmd.call', or inline it"
            )
            raise PassError(error(message, location_of(operation.location)))


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
