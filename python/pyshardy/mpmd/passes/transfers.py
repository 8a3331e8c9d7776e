# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that move or merge transfers, and delay fragments."""

from __future__ import annotations

import math

from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType, mesh_tensor
from mlir_sdy.mpmd.building import transfer
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    is_user_fragment,
    operations_of,
    producer,
    returned_values,
    users_of,
)
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import entry_points, mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.mpmd.rewriting.regions import add_operands, with_results
from pyshardy.mpmd.rewriting.transfers import move_to_producer, move_to_user
from pyshardy.pipeline import register_pass


@register_pass("mpmd-move-transfers-to-producer", release="0.10.2")
def move_transfers_to_producer(module: ir.Module) -> None:
    """Move transfers right after the operations that define their operands.

    Transfers of arguments move to the beginning of the function.
    """
    for function in mpmd_functions(module):
        for operation in operations_of(body_of(function)):
            if operation.name == TRANSFER:
                move_to_producer(operation)


_MARK = "concat_transfer"

_Key = tuple[ir.Operation, ir.Operation, ir.Type]


@register_pass("mpmd-merge-transfers", release="0.10.2")
def merge_transfers(module: ir.Module) -> None:
    """Transfer all values of one element and type between the same two fragments at once.

    These are replicated values on devices that only the second fragment uses. The first fragment
    concatenates them, and the second one takes them apart. What is unused then is left to
    `mpmd-fragment-dce`.
    """
    for function in mpmd_functions(module):
        groups: dict[_Key, list[ir.Operation]] = {}
        for operation in operations_named({TRANSFER}, function):
            users = users_of(operation.results[0])
            made = producer(operation.operands[0], FRAGMENT)
            if made is None or len(users) != 1 or users[0].name != FRAGMENT or _stays(operation):
                continue
            moved = MeshTensorType(operation.results[0].type).global_type
            groups.setdefault((made, users[0], moved), []).append(operation)
        for transfers in [each for each in groups.values() if len(each) > 1]:
            _merge(transfers)


def _stays(operation: ir.Operation) -> bool:
    types = [MeshTensorType(each.type) for each in (*operation.operands, *operation.results)]
    return any(
        math.prod(each.global_type.shape) != 1
        or each.is_on_host
        or (each.sharding is not None and not value_of(each.sharding).is_fully_replicated)
        for each in types
    )


def _merge(transfers: list[ir.Operation]) -> None:
    made = producer(transfers[0].operands[0], FRAGMENT)
    assert made is not None, "its values are transferred"
    (user,) = users_of(transfers[0].results[0])
    sources = [ir.OpResult(each.operands[0]).result_number for each in transfers]
    source, target = (
        MeshTensorType(each.type) for each in (transfers[0].operands[0], transfers[0].results[0])
    )
    element = source.global_type.element_type
    together = ir.RankedTensorType.get([len(transfers)], element, loc=made.location)
    returned = returned_values(made)
    with ir.InsertionPoint(terminator_of(body_of(made))), made.location:
        parts = [_reshaped(returned[index], [1]) for index in sources]
        dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        value = _built("concatenate", together, parts, dimension=dimension)
    built = with_results(made, [value], [mesh_tensor(together, source.mesh_name)])
    with ir.InsertionPoint.after(built), built.location:
        moved = transfer(built.results[len(returned)], mesh_tensor(together, target.mesh_name))
    set_discardable(moved.owner.operation, _MARK, ir.UnitAttr.get(built.context))
    numbers: dict[ir.Value, int] = {each.results[0]: index for index, each in enumerate(transfers)}
    taker, arguments = add_operands(user, list(user.operands), [moved], ())
    body = body_of(taker)
    with ir.InsertionPoint.at_block_begin(body), taker.location:
        taken = zip(map(numbers.get, taker.operands), body.arguments, strict=True)
        parts = [(number, argument) for number, argument in taken if number is not None]
        for number, argument in sorted(parts, key=lambda part: part[0]):
            bounds = {
                name: ir.DenseI64ArrayAttr.get([each])
                for name, each in (
                    ("start_indices", number),
                    ("limit_indices", number + 1),
                    ("strides", 1),
                )
            }
            one = ir.RankedTensorType.get([1], element)
            value = _built("slice", one, [arguments.new[0]], **bounds)
            shape = ir.RankedTensorType(argument.type).shape
            argument.replace_all_uses_with(_reshaped(value, shape))


def _reshaped(value: ir.Value, shape: list[int]) -> ir.Value:
    element = ir.RankedTensorType(value.type).element_type
    return _built("reshape", ir.RankedTensorType.get(shape, element), [value])


def _built(
    name: str, result: ir.Type, operands: list[ir.Value], **attributes: ir.Attribute
) -> ir.Value:
    return ir.Operation.create(
        f"stablehlo.{name}", results=[result], operands=operands, attributes=attributes
    ).results[0]


@register_pass("mpmd-delay-inferred-fragments", release="0.10.2")
def delay_inferred_fragments(module: ir.Module) -> None:
    """Move inferred fragments right before the first operation that uses them."""
    for function in entry_points(module):
        for operation in reversed(top_level_operations(function)):
            if operation.name == FRAGMENT and not is_user_fragment(operation):
                move_to_user(operation)


@register_pass("mpmd-delay-transfers-from-cpu", release="0.10.2")
def delay_transfers_from_cpu(module: ir.Module) -> None:
    """Move transfers from memory or meshes of hosts right before the first use of the value."""
    for function in entry_points(module):
        hosts = {each.name for each in topology(function).meshes if each.is_host}
        for operation in reversed(top_level_operations(function)):
            if operation.name == TRANSFER:
                source = MeshTensorType(operation.operands[0].type)
                if source.is_on_host or source.mesh_name in hosts:
                    move_to_user(operation)
