# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders of the operations of the mpmd dialect, at the current insertion point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType, attribute_of
from mlir_sdy.mpmd.reading import ASSIGN, FRAGMENT, TRANSFER, UNASSIGN
from mlir_sdy.mpmd.values import UserOrigin, UserOrigins
from mlir_sdy.ods.irdl_groups import MPMD_GROUPS, OPERAND_SIZES, RESULT_SIZES, group_sizes
from mlir_sdy.ods.mpmd_tables import OPERATIONS

SIZES = frozenset({OPERAND_SIZES, RESULT_SIZES})
"""The attributes with the sizes of groups, which each builder sets."""

_HAS_SIZES = {
    name: (
        any(each.has_groups for each in declaration.operands),
        any(each.has_groups for each in declaration.results),
    )
    for name, declaration in OPERATIONS.items()
}


def create(
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    regions: int = 0,
) -> ir.Operation:
    """Build an operation of the dialect."""
    given = {key: each for key, each in (attributes or {}).items() if key not in SIZES}
    for_operands, for_results = _HAS_SIZES[name]
    if for_operands:
        given[OPERAND_SIZES] = _sizes([operand.type for operand in operands])
    if for_results:
        given[RESULT_SIZES] = _sizes(results)
    return ir.Operation.create(
        name, results=list(results), operands=list(operands), attributes=given, regions=regions
    )


def _sizes(types: Sequence[ir.Type]) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get(list(group_sizes(types, MPMD_GROUPS)))


def attributes_of(operation: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the attributes of an operation, without the sizes of its groups."""
    return {key: each for key, each in operation.attributes.items() if key not in SIZES}


def return_(values: Sequence[ir.Value]) -> ir.Operation:
    """Build the terminator of a region."""
    return create("mpmd.return", (), values)


def fragment(
    mesh_name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    origins: Sequence[UserOrigin] = (),
    attributes: Mapping[str, ir.Attribute] | None = None,
    body: ir.Block | None = None,
) -> ir.Operation:
    """Build a fragment with a body, or an empty one whose arguments have the global types."""
    given = {
        **(attributes or {}),
        "mesh_name": ir.StringAttr.get(mesh_name),
        "origin": attribute_of(UserOrigins(tuple(origins))),
    }
    built = create(FRAGMENT, results, operands, given, regions=1)
    if body is None:
        add_body(built, [local_type(operand.type) for operand in operands])
    else:
        body.append_to(built.regions[0])
    return built


def add_body(operation: ir.Operation, types: Sequence[ir.Type]) -> ir.Block:
    """Append an empty block with arguments of the given types to the region of an operation."""
    locations = [ir.Location.current] * len(types)
    return operation.regions[0].blocks.append(*types, arg_locs=locations)


def local_type(each: ir.Type) -> ir.Type:
    """Return the type of a value inside of a fragment."""
    return each.global_type if isinstance(each, MeshTensorType) else each


def transfer(
    value: ir.Value, result: ir.Type, attributes: Mapping[str, ir.Attribute] | None = None
) -> ir.Value:
    """Build a transfer of a value to a type."""
    return create(TRANSFER, [result], [value], attributes).results[0]


def assign(value: ir.Value, result: ir.Type, origin: str = "") -> ir.Value:
    """Build an assignment of a tensor to a mesh."""
    return create(ASSIGN, [result], [value], _origin(origin)).results[0]


def unassign(value: ir.Value, origin: str = "") -> ir.Value:
    """Build the tensor of a value on a mesh."""
    return create(UNASSIGN, [local_type(value.type)], [value], _origin(origin)).results[0]


def _origin(origin: str) -> dict[str, ir.Attribute]:
    return {"origin": ir.StringAttr.get(origin)} if origin else {}


def replaced(
    operation: ir.Operation,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """Build an operation like the given one with new operands and results, and move the body.

    It is built before the given operation, whose results keep their uses.
    """
    given = attributes_of(operation) if attributes is None else attributes
    with ir.InsertionPoint(operation), operation.location:
        built = create(operation.name, results, operands, given, regions=len(operation.regions))
    for old, new in zip(operation.regions, built.regions, strict=True):
        for block in list(old.blocks):
            block.append_to(new)
    return built


def unsigned(value: int, context: ir.Context) -> ir.Attribute:
    """Return the attribute of a counter."""
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(32, context), value)
