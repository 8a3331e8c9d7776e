# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of meshes with the origins of their entries, and the attributes that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import attribute_of, value_of
from mlir_sdy.mpmd.reading import ASSIGN, CALL, FRAGMENT, TRANSFER, body_of
from mlir_sdy.mpmd.values import MeshesWithOrigins, MeshWithOrigins
from pyshardy.irtools.stablehlo_views import FunctionView
from pyshardy.irtools.stablehlo_views.fields import attribute_named
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    dictionaries,
    set_argument_attribute,
)

MeshSet = dict[str, frozenset[str]]
"""Meshes in the order in which they were found, with the labels of their origins."""

USE_SET = "mpmd.use_set"
SRC_SET = "mpmd.src_set"

_ON_MESHES = frozenset(
    {ASSIGN, CALL, FRAGMENT, TRANSFER, "mpmd.fragment_call", "func.return", "mpmd.return"}
)


def is_meshless(operation: ir.Operation) -> bool:
    """Whether an operation of the body of a function has no mesh yet."""
    return operation.name not in _ON_MESHES


def union(sets: Iterable[Mapping[str, frozenset[str]]]) -> MeshSet:
    """Return the meshes of any of the sets."""
    found: MeshSet = {}
    for each in sets:
        for mesh, origins in each.items():
            found[mesh] = found.get(mesh, frozenset()) | origins
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
            found = {mesh: found[mesh] | each[mesh] for mesh in found if mesh in each}
    return found


def read_set(value: ir.Value, name: str) -> MeshSet | None:
    """Return the set of a value: of the operation that defines it, or of a function's argument."""
    if isinstance(value, ir.BlockArgument):
        # All dictionaries of a function together would be slow to read for each argument.
        listed = attribute_named(value.owner.owner.operation, "arg_attrs")
        attributes = None if listed is None else ir.DictAttr(ir.ArrayAttr(listed)[value.arg_number])
        return None if not attributes or name not in attributes else _set_of(attributes[name])
    return read_set_of(value.owner.operation, name)


def read_set_of(operation: ir.Operation, name: str) -> MeshSet | None:
    """Return the set of an operation."""
    attribute = get_discardable(operation, name)
    return None if attribute is None else _set_of(attribute)


def _set_of(attribute: ir.Attribute) -> MeshSet:
    meshes: MeshesWithOrigins = value_of(attribute)
    return {each.mesh_name: frozenset(each.origins) for each in meshes.meshes}


def write_set_of(operation: ir.Operation, name: str, found: MeshSet | None) -> None:
    """Set the set of an operation; None removes it."""
    if found is None:
        remove_discardable(operation, name)
    else:
        set_discardable(operation, name, _attribute_of(found, operation.context))


def write_set_of_argument(argument: ir.BlockArgument, name: str, found: MeshSet | None) -> None:
    """Set the set of an argument of a function; None removes it."""
    function = argument.owner.owner.operation
    attribute = None if found is None else _attribute_of(found, function.context)
    if attribute is not None or read_set(argument, name) is not None:
        set_argument_attribute(function, argument.arg_number, {name: attribute})


def _attribute_of(found: MeshSet, context: ir.Context) -> ir.Attribute:
    meshes = tuple(MeshWithOrigins(mesh, tuple(sorted(found[mesh]))) for mesh in found)
    return attribute_of(MeshesWithOrigins(meshes), context)


def clear_sets(function: ir.Operation, *names: str) -> None:
    """Remove the sets of all values of a function."""
    if FunctionView(function).arg_attrs:
        kept = [
            {name: each for name, each in attributes.items() if name not in names}
            for attributes in argument_attributes(function)
        ]
        FunctionView(function).arg_attrs = list(dictionaries(kept, function.context))
    for view in body_of(function).operations:
        remove_discardable(view.operation, *names)


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


def in_block(operation: ir.Operation, block: ir.Block) -> ir.Operation:
    """Return the operation of a block that is, or contains, an operation."""
    found = operation
    while found.block != block:
        parent = found.parent
        assert parent is not None, "the block is around the operation"
        found = parent.operation
    return found
