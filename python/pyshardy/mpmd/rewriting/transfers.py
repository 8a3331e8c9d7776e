# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assignments of values that are on meshes already, as transfers."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.building import transfer
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    TRANSFER,
    UNASSIGN,
    body_of,
    mesh_type,
    operations_of,
    producer,
)
from mlir_sdy.uses import is_used, replace_by
from pyshardy.mpmd.rewriting.marks import in_order_of_chain, topology


def users_of(value: ir.Value, name: str) -> list[ir.Operation]:
    """Return the operations of a name that use a value, in the order of the text."""
    users = {use.owner.operation: None for use in value.uses}
    found = [each for each in users if each.name == name]
    return in_order_of_text(found)


def users_in_block(operation: ir.Operation) -> list[ir.Operation]:
    """Return the operations of the same block that use results, in the order of the text."""
    users = {use.owner.operation: None for each in operation.results for use in each.uses}
    return in_order_of_text([each for each in users if each.block == operation.block])


def in_order_of_text(operations: list[ir.Operation]) -> list[ir.Operation]:
    """Return operations of one block in the order of the text."""
    ordered: list[ir.Operation] = []
    for operation in operations:
        at = len(ordered)
        while at and operation.is_before_in_block(ordered[at - 1]):
            at -= 1
        ordered.insert(at, operation)
    return ordered


def resolve_assignments(block: ir.Block) -> None:
    """Replace assignments of unassigned values in a block by transfers.

    An assignment to the type of the value is the value. If the value is assigned to several other
    meshes, it is passed from mesh to mesh in a chain.
    """
    # Assignments are erased meanwhile, so that their names must not be looked at any more.
    for unassign in [each for each in operations_of(block) if each.name == UNASSIGN]:
        source = unassign.operands[0]
        assigns = [
            each
            for user in users_of(source, UNASSIGN)
            for each in users_of(user.results[0], ASSIGN)
            if each.block == block
        ]
        _resolve(source, in_order_of_text(assigns))
    erase_unused(block, UNASSIGN)


def _resolve(source: ir.Value, assigns: list[ir.Operation]) -> None:
    if not assigns:
        return
    own = mesh_type(source)
    assert own is not None, "it is unassigned"
    targets: dict[MeshTensorType, list[ir.Operation]] = {}
    for each in assigns:
        targets.setdefault(MeshTensorType(each.results[0].type), []).append(each)
    known: dict[MeshTensorType, ir.Value] = {own: source}
    block = assigns[0].block
    for existing in users_of(source, TRANSFER):
        found = MeshTensorType(existing.results[0].type)
        if existing.block == block and found in targets and found not in known:
            if assigns[0].is_before_in_block(existing):
                existing.move_before(assigns[0])
            known[found] = existing.results[0]
    meshes = {each.mesh_name for each in targets if each not in known} - {own.mesh_name}
    ordered = [each for each in targets if each not in known]
    if len(meshes) > 1:
        rank = {name: index for index, name in enumerate(in_order_of_chain(meshes))}
        ordered.sort(key=lambda each: rank.get(each.mesh_name, -1))
    value = source
    for each in ordered:
        first = assigns[0] if len(meshes) > 1 else targets[each][0]
        with ir.InsertionPoint(first), first.location:
            known[each] = transfer(value, each)
        if len(meshes) > 1 and each.mesh_name != own.mesh_name:
            value = known[each]
    for found, several in targets.items():
        for assign in several:
            replace_by(assign, known[found])


def without_detours(function: ir.Operation) -> None:
    """Send values directly to a mesh, where a chain of transfers makes a detour.

    On the way from m2 to m0 and back to m1, a gradient would wait for the activations that go from
    m0 to m1, and they for it.
    """
    ranks = {name: rank for rank, name in enumerate(topology(function).names)}
    for each in operations_of(body_of(function)):
        while each.name == TRANSFER:
            before = producer(each.operands[0], TRANSFER)
            if before is None:
                break
            values = before.operands[0], each.operands[0], each.results[0]
            types = [MeshTensorType(value.type) for value in values]
            source, middle, target = (ranks[found.mesh_name] for found in types)
            on_the_way = source < middle < target or source > middle > target
            if on_the_way or source == target or any(found.is_on_host for found in types):
                break
            each.operands[0] = values[0]


def erase_unused(block: ir.Block, name: str) -> None:
    """Erase operations of a name whose results are unused, the last one first."""
    for operation in reversed(operations_of(block)):
        if operation.name == name and not any(map(is_used, operation.results)):
            operation.erase()


def unassigned_source(value: ir.Value) -> ir.Value | None:
    """Return the value on a mesh that a tensor is the unassignment of, if it is one."""
    unassign = producer(value, UNASSIGN)
    return None if unassign is None else unassign.operands[0]


def before_transfers(value: ir.Value) -> ir.Value:
    """Return the value that a chain of transfers passes on, or the value itself."""
    while (moved := producer(value, TRANSFER)) is not None:
        value = moved.operands[0]
    return value


def move_to_producer(operation: ir.Operation) -> None:
    """Move a transfer right after the operation that defines its operand, or to the beginning."""
    owner = operation.operands[0].owner
    if not isinstance(owner, ir.Block):
        operation.move_after(owner.operation)
        return
    first = owner.operations[0].operation
    if first != operation:
        operation.move_before(first)


def move_to_user(operation: ir.Operation) -> None:
    """Move an operation right before the first operation that uses a result of it."""
    users = users_in_block(operation)
    if users:
        operation.move_before(users[0])
