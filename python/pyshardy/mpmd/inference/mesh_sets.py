# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of meshes with the origins of their entries, and the attributes that hold them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import attribute_of, value_of
from mlir_sdy.mpmd.reading import ASSIGN, CALL, FRAGMENT, TRANSFER, UNASSIGN, body_of
from mlir_sdy.mpmd.values import MeshesWithOrigins, MeshWithOrigins
from mlir_sdy.values import set_argument_attributes, set_result_attributes
from pyshardy.irtools.stablehlo_views import FunctionView
from pyshardy.irtools.stablehlo_views.fields import attribute_named

MeshSet = dict[str, tuple[str, ...]]
"""Meshes in the order in which they were found, with the labels of their origins, likewise."""

USE_SET = "mpmd.use_set"
SRC_SET = "mpmd.src_set"

BETWEEN_MESHES = frozenset({"mpmd.broadcast", "mpmd.reduce"})
"""Operations whose operands may be on other meshes than their results."""

_ON_MESHES = frozenset(
    {ASSIGN, CALL, FRAGMENT, TRANSFER, "mpmd.fragment_call", "func.return", "mpmd.return"}
)


def is_meshless(operation: ir.Operation) -> bool:
    """Whether an operation of the body of a function has no mesh yet."""
    return operation.name not in _ON_MESHES


def union(sets: Iterable[MeshSet]) -> MeshSet:
    """Return the meshes of any of the sets."""
    found: MeshSet = {}
    for each in sets:
        for mesh, origins in each.items():
            found[mesh] = _joined(found.get(mesh, ()), origins)
    return found


def intersection(sets: Iterable[MeshSet | None]) -> MeshSet | None:
    """Return the meshes of all sets; a missing set has all meshes."""
    found: MeshSet | None = None
    for each in sets:
        if each is None:
            continue
        if found is None:
            found = dict(each)
        else:
            found = {mesh: _joined(found[mesh], each[mesh]) for mesh in found if mesh in each}
    return found


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def set_of_mesh(mesh: str, origin: str | None) -> MeshSet:
    """Return the set of a mesh, with the label of an origin if there is one."""
    return {mesh: (origin,) if origin else ()}


def read_set(value: ir.Value, name: str) -> MeshSet | None:
    """Return the set of a value: of the operation that defines it, or of a function's argument."""
    if isinstance(value, ir.BlockArgument):
        listed = attribute_named(value.owner.owner.operation, "arg_attrs")
        return _set_in(listed, value.arg_number, name)
    return read_set_of(value.owner.operation, name)


def read_set_of(operation: ir.Operation, name: str) -> MeshSet | None:
    """Return the set of an operation."""
    attribute = get_discardable(operation, name)
    return None if attribute is None else _set_of(attribute)


def _set_of(attribute: ir.Attribute) -> MeshSet:
    meshes: MeshesWithOrigins = value_of(attribute)
    return {each.mesh_name: each.origins for each in meshes.meshes}


def write_set_of(operation: ir.Operation, name: str, found: MeshSet | None) -> None:
    """Set the set of an operation; None removes it."""
    if found is None:
        remove_discardable(operation, name)
    else:
        set_discardable(operation, name, _attribute_of(found, operation.context))


def write_sets_of_arguments(
    function: ir.Operation, name: str, sets: Mapping[int, MeshSet | None]
) -> None:
    """Set the sets of arguments of a function; None removes one."""
    arguments = body_of(function).arguments
    attributes = {
        index: None if found is None else _attribute_of(found, function.context)
        for index, found in sets.items()
        if found is not None or read_set(arguments[index], name) is not None
    }
    if attributes:
        set_argument_attributes(function, name, attributes)


def read_set_of_result(function: ir.Operation, index: int, name: str) -> MeshSet | None:
    """Return the set of a result of a function."""
    return _set_in(attribute_named(function, "res_attrs"), index, name)


def _set_in(listed: ir.Attribute | None, index: int, name: str) -> MeshSet | None:
    # All dictionaries of a function together would be slow to read for each value.
    attributes = None if listed is None else ir.DictAttr(ir.ArrayAttr(listed)[index])
    return None if not attributes or name not in attributes else _set_of(attributes[name])


def write_sets_of_results(function: ir.Operation, name: str, sets: Mapping[int, MeshSet]) -> None:
    """Set the sets of results of a function; empty ones are left out."""
    attributes = {
        index: _attribute_of(found, function.context) for index, found in sets.items() if found
    }
    if attributes:
        set_result_attributes(function, name, attributes)


def _attribute_of(found: MeshSet, context: ir.Context) -> ir.Attribute:
    meshes = tuple(MeshWithOrigins(mesh, origins) for mesh, origins in found.items())
    return attribute_of(MeshesWithOrigins(meshes), context)


def clear_sets(function: ir.Operation, *names: str) -> None:
    """Remove the sets of all values of a function."""
    view = FunctionView(function)
    if view.arg_attrs:
        view.arg_attrs = _without(list(view.arg_attrs), names, function.context)
    if view.res_attrs:
        view.res_attrs = _without(list(view.res_attrs), names, function.context)
    for view in body_of(function).operations:
        remove_discardable(view.operation, *names)


def clear_use_sets(function: ir.Operation) -> None:
    """Remove the use-sets of arguments, and of operations other than assignments."""
    view = FunctionView(function)
    if view.arg_attrs:
        view.arg_attrs = _without(list(view.arg_attrs), {USE_SET}, function.context)
    for each in body_of(function).operations:
        if each.operation.name not in (ASSIGN, UNASSIGN):
            remove_discardable(each.operation, USE_SET)


def _without(
    listed: Sequence[ir.DictAttr], names: Collection[str], context: ir.Context
) -> list[ir.DictAttr]:
    entries = (
        {each.name: each.attr for each in given if each.name not in names} for given in listed
    )
    return [ir.DictAttr.get(each, context) for each in entries]


def operands_with_free_values(operation: ir.Operation) -> list[ir.Value]:
    """Return the operands of an operation, and the values of its block that its regions use."""
    found = list(operation.operands)
    if not len(operation.regions):
        return found
    block = operation.block

    def add(inner: ir.Operation | ir.OpView) -> ir.WalkResult:
        for operand in inner.operation.operands:
            owner = operand.owner
            defined_in = owner if isinstance(owner, ir.Block) else owner.operation.block
            if inner.operation != operation and defined_in == block and operand not in found:
                found.append(operand)
        return ir.WalkResult.ADVANCE

    operation.walk(add)
    return found
