# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Manual computations while the host refines the types of a program.

The host knows no operation of sdy, and refines no region of one. Meanwhile, the operations of the
body are those of the enclosing block, between custom calls whose results have given shapes:

    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] ... manual_axes={"x"} (%a: ...)

becomes, with `%local` computed from the size of `%0` and that of the axis,

    %a = stablehlo.custom_call @sdy.enter(%0, %local)
    ...
    %1 = stablehlo.custom_call @sdy.leave(%returned, %global)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import identity, ir
from mlir_sdy.late_numpy import np
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in, terminator_of
from mlir_sdy.values import manual_axes
from pyshardy.irtools.constants import filled, splat_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.irtools.walks import operations_named, tell_inserted

MANUAL = "sdy.manual_computation"

_ENTER, _LEAVE = "sdy.enter", "sdy.leave"
_OF, _INSIDE = "sdy.manual_number", "sdy.inside_of"


@dataclass(frozen=True, slots=True)
class OpenedManual:
    """A manual computation whose body is in the enclosing block.

    Attributes:
        attributes: its attributes.
        location: its place.
        sizes: the operands that are constants, such as sizes, by their positions: the body has
            them as they are, so that types can be computed from them.
    """

    attributes: dict[str, ir.Attribute]
    location: ir.Location
    sizes: dict[int, ir.Attribute] = field(default_factory=dict[int, ir.Attribute])


def open_manual(module: ir.Module) -> list[OpenedManual]:
    """Replace manual computations by their operations, outer ones first; see `close_manual`."""
    opened: list[OpenedManual] = []
    meshes = meshes_of(module)
    while found := operations_named({MANUAL}, module):
        operation = found[0]
        number = len(opened)
        opened.append(OpenedManual(dict(operation.attributes.items()), operation.location))
        manual = frozenset(manual_axes(operation))
        block = operation.regions[0].blocks[0]
        returned = terminator_of(block)
        enclosing = get_discardable(operation, _INSIDE)
        with operation.context, operation.location, ir.InsertionPoint(operation):
            tag = i64_attribute(number)
            ends = zip(
                (_ENTER, _LEAVE),
                (list(operation.operands), list(returned.operands)),
                (list(block.arguments), list(operation.results)),
                ("in_shardings", "out_shardings"),
                strict=True,
            )
            for target, sources, values, name in ends:
                if target == _LEAVE:
                    for inner in [each.operation for each in block.operations][:-1]:
                        inner.move_before(operation)
                        set_discardable(inner, _INSIDE, tag)
                shardings: Sequence[TensorSharding] = value_of(
                    get_discardable(operation, name)
                ).shardings
                for at, (source, value, sharding) in enumerate(
                    zip(sources, values, shardings, strict=True)
                ):
                    number_in = splat_of(source) if target == _ENTER and not sharding.rank else None
                    if number_in is not None:
                        opened[number].sizes[at] = filled(source.type, number_in)
                        value.replace_all_uses_with(source)
                        continue
                    mesh = mesh_of(sharding, meshes) or Mesh()
                    made = _changed_shape(target, source, value.type, sharding, mesh, manual)
                    set_discardable(made, _OF, tag)
                    if enclosing is not None:
                        set_discardable(made, _INSIDE, enclosing)
                    value.replace_all_uses_with(made.results[0])
        operation.erase()
        tell_inserted(module, "stablehlo.custom_call", "stablehlo.get_dimension_size")
    return opened


def close_manual(module: ir.Module, opened: Sequence[OpenedManual]) -> None:
    """Restore the manual computations that `open_manual` has replaced."""
    for number, manual in reversed([*enumerate(opened)]):
        inside: list[ir.Operation] = []
        ends: dict[str, list[ir.Operation]] = {_ENTER: [], _LEAVE: []}
        for view in operations_in(module.operation):
            operation = view.operation
            if _number(operation, _INSIDE) == number:
                inside.append(operation)
            if _number(operation, _OF) == number:
                ends[CustomCallView(operation).call_target_name].append(operation)
        entered, left = ends[_ENTER], ends[_LEAVE]
        place = ir.InsertionPoint(left[0] if left else inside[-1])
        operands = [each.operands[0] for each in entered]
        with manual.location, place:
            for at, literal in manual.sizes.items():
                operands.insert(at, StablehloBuilder().literal(literal))
        operation = ir.Operation.create(
            MANUAL,
            results=[each.results[0].type for each in left],
            operands=operands,
            attributes=manual.attributes,
            regions=1,
            loc=manual.location,
            ip=place,
        )
        types = [each.results[0].type for each in entered]
        for at in manual.sizes:
            types.insert(at, operands[at].type)
        block = operation.regions[0].blocks.append(*types, arg_locs=[manual.location] * len(types))
        arguments = [a for at, a in enumerate(block.arguments) if at not in manual.sizes]
        for call, argument in zip(entered, arguments, strict=True):
            call.results[0].replace_all_uses_with(argument)
        for each in inside:
            block.append(each)
            remove_discardable(each, _INSIDE)
        with ir.InsertionPoint(block), manual.location:
            sdy.ReturnOp([each.operands[0] for each in left])
        _copy_constants_into(operation)
        for call, result in zip(left, operation.results, strict=True):
            call.results[0].replace_all_uses_with(result)
        for call in (*left, *entered):
            call.erase()
    tell_inserted(module, MANUAL, "sdy.return")


def _changed_shape(
    target: str,
    source: ir.Value,
    value_type: ir.Type,
    sharding: TensorSharding,
    mesh: Mesh,
    manual: frozenset[str],
) -> ir.Operation:
    """Build the call that stands for entering or leaving a manual computation."""
    builder = StablehloBuilder()
    i32 = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    sizes: list[ir.Value] = []
    for dim, axes in enumerate(sharding.dim_axes):
        count = mesh.axes_size(axis for axis in axes if axis.name in manual)
        dimension = {"dimension": i64_attribute(dim)}
        size = builder.create("stablehlo.get_dimension_size", [source], [i32], dimension).result
        name = "divide" if target == _ENTER else "multiply"
        size = builder.binary(name, size, builder.constant(np.full((), count, np.int32)))
        sizes.append(builder.reshape(size, [1]))
    attributes: dict[str, ir.Attribute] = {"has_side_effect": ir.BoolAttr.get(True)}
    if not sizes:
        return builder.custom_call(target, [source], [value_type], attributes)
    attributes["indices_of_shape_operands"] = ir.DenseElementsAttr.get(np.array([1], np.int64))
    return builder.custom_call(
        target, [source, builder.concatenate(sizes, 0)], [value_type], attributes
    )


def _number(operation: ir.Operation, name: str) -> int | None:
    tag = get_discardable(operation, name)
    return None if tag is None else tag.value


def _copy_constants_into(computation: ir.Operation) -> None:
    """Copy the constants that a body uses into it: refinement has made some of them outside."""
    operations = [each.operation for each in operations_in(computation)][1:]
    block = computation.regions[0].blocks[0]
    inside = {identity(result) for each in operations for result in each.results}
    copies: dict[int, ir.Value] = {}
    for operation in operations:
        for index, operand in enumerate(operation.operands):
            key = identity(operand)
            if isinstance(operand, ir.BlockArgument) or key in inside:
                continue
            if key not in copies:
                place = ir.InsertionPoint.at_block_begin(block)
                copies[key] = operand.owner.operation.clone(ip=place).operation.results[0]
            operation.operands[index] = copies[key]
