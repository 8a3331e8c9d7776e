# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacement of tuples by their elements in functions and in operations that call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.stablehlo_views import INTERFACE, FunctionView, function_type_of
from pyshardy.irtools.tuple_attributes import UnfitAttributeError, path_text, split_attributes
from pyshardy.irtools.tuples import holds_tuples, part_types, parts_of, paths_of, put_together
from pyshardy.irtools.walks import operations_named


def attributes_in_parts(owner: ir.Operation, signature: ir.FunctionType) -> dict[str, ir.ArrayAttr]:
    """Return the attributes of all parts of the arguments and results of a function or a call.

    Raises:
        PassError: one of them can't be split.
    """
    changed: dict[str, ir.ArrayAttr] = {}
    for entry, types in zip(INTERFACE, (signature.inputs, signature.results), strict=True):
        if not entry.is_in(owner):
            continue
        dictionaries: list[ir.Attribute] = []
        for given, value_type in zip(entry.of(owner), types, strict=True):
            attributes = {named.name: named.attr for named in given}
            try:
                split = split_attributes(attributes, value_type, signature.results, owner.context)
            except UnfitAttributeError as reason:
                message = f"'{owner.name}' op has a tuple that can't be flattened: {reason}"
                raise PassError(error(message, location_of(owner.location))) from None
            dictionaries += [ir.DictAttr.get(part, owner.context) for part in split]
        changed[entry.name] = ir.ArrayAttr.get(dictionaries, owner.context)
    return changed


def take_function_apart(function: ir.Operation, attributes: dict[str, ir.ArrayAttr]) -> None:
    """Replace the tuples among a function's arguments and results by their parts.

    Args:
        function: the function, which may be a declaration.
        attributes: those of `attributes_in_parts`.
    """
    signature = function_type_of(function)
    flat = ir.FunctionType.get(
        part_types(signature.inputs), part_types(signature.results), context=function.context
    )
    FunctionView(function).function_type = flat
    for entry in INTERFACE:
        if entry.name in attributes:
            entry.set_on(function, [*attributes[entry.name]])
    if not len(function.regions[0].blocks):
        return
    _take_arguments_apart(function.regions[0].blocks[0])
    for terminator in operations_named({"func.return"}, function):
        with terminator.location, ir.InsertionPoint(terminator):
            ir.Operation.create("func.return", operands=parts_of(list(terminator.operands)))
        terminator.erase()


def take_operation_apart(
    operation: ir.Operation, attributes: Mapping[str, ir.Attribute]
) -> ir.Operation:
    """Replace an operation without regions by one on the parts of its tuples.

    Args:
        operation: the operation.
        attributes: attributes that replace those of the operation.
    """
    kept = dict(operation.attributes.items())
    with operation.location, ir.InsertionPoint(operation):
        flat = ir.Operation.create(
            operation.name,
            results=part_types([result.type for result in operation.results]),
            operands=parts_of(list(operation.operands)),
            attributes={**kept, **attributes},
        )
        parts = iter(flat.results)
        for result in operation.results:
            result.replace_all_uses_with(put_together(result.type, parts))
    operation.erase()
    return flat


def signature_of(operation: ir.Operation) -> ir.FunctionType:
    """Return the types of the operands and results of an operation or a function."""
    if FunctionView.function_type.is_in(operation):
        return function_type_of(operation)
    return ir.FunctionType.get(
        [operand.type for operand in operation.operands],
        [result.type for result in operation.results],
        context=operation.context,
    )


def has_tuples(operation: ir.Operation) -> bool:
    """Whether an operation or a function has tuples as operands or results."""
    signature = signature_of(operation)
    return holds_tuples([*signature.inputs, *signature.results])


def _take_arguments_apart(block: ir.Block) -> None:
    arguments = list(block.arguments)
    if not holds_tuples([argument.type for argument in arguments]):
        return
    with ir.InsertionPoint.at_block_begin(block):
        for argument in arguments:
            parts = [
                block.add_argument(part_type, location)
                for part_type, location in zip(
                    part_types([argument.type]), _locations_of_parts(argument), strict=True
                )
            ]
            with argument.location:
                value = put_together(argument.type, iter(parts))
            argument.replace_all_uses_with(value)
    for _ in arguments:
        block.erase_argument(0)


def _locations_of_parts(argument: ir.BlockArgument) -> Sequence[ir.Location]:
    """Return the locations of the parts; the path of the part is appended to named locations."""
    location, paths = argument.location, paths_of(argument.type)
    if not isinstance(location, ir.NameLoc):
        return [location] * len(paths)
    return [
        ir.Location.name(location.name_str + path_text(path), location.child_loc) for path in paths
    ]
