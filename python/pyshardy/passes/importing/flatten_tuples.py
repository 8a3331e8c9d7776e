# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-flatten-tuples`: replace tuples by their elements, as only tensors have shardings.

1. Functions, calls, composites and custom calls take and return the elements of their tuples,
   in order, including nested tuples. `_attributes_in_parts` converts their attributes.
2. Elements that are read from a tuple are replaced by the values of which it was built.
3. Unused tuples are erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import as_integer, as_text
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.uses import replace_by
from mlir_sdy.values import OF_GSPMD
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.stablehlo_views import (
    INTERFACE,
    CustomCallView,
    FunctionView,
    TupleElementView,
    function_type_of,
)
from pyshardy.irtools.walks import may_occur_at_start, operations_named, tell_inserted
from pyshardy.pipeline import register_pass

_CUSTOM_CALL = "stablehlo.custom_call"
_CALLS = frozenset({"func.call", "stablehlo.composite", _CUSTOM_CALL})
_ALIASES = "output_operand_aliases"
_ALIAS = "tf.aliasing_output"
_RESULT_INFO = "jax.result_info"
_TUPLE, _ELEMENT = "stablehlo.tuple", "stablehlo.get_tuple_element"
_Path = tuple[int, ...]
"""Position of a part: the index in the outermost tuple, in the next one, and so on."""


@register_pass("sdy-flatten-tuples", release="pyshardy")
def flatten_tuples(module: ir.Module) -> Changes:
    """Replace tuples by their elements.

    Replaces tuples in the signatures of functions, calls, composites and custom calls by their
    elements, and forwards the operands of `stablehlo.tuple` to the uses of
    `stablehlo.get_tuple_element`, since only the elements can be sharded. Attributes of arguments
    and results are split among the elements; an attribute that cannot be split is an error.

    ```mlir
    %0 = stablehlo.tuple %a, %b : tuple<tensor<8xf32>, tensor<4xf32>>
    %1 = stablehlo.custom_call @f(%0) : (tuple<tensor<8xf32>, tensor<4xf32>>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.custom_call @f(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
    ```

    Raises:
        PassError: an attribute of a tuple can't be split. The module is not changed then.
    """
    with module.context:
        functions = [each for each in operations_named({"func.func"}, module) if _has_tuples(each)]
        calls = [each for each in operations_named(_CALLS, module) if _has_tuples(each)]
        has_tuple_operations = may_occur_at_start({_ELEMENT, _TUPLE}, module)
        if not functions and not calls and not has_tuple_operations:
            return UNCHANGED
        of_functions, of_calls = (
            [_attributes_in_parts(each, _signature_of(each)) for each in some]
            for some in (functions, calls)
        )
        for function, attributes in zip(functions, of_functions, strict=True):
            _take_function_apart(function, attributes)
        for call, attributes in zip(calls, of_calls, strict=True):
            _take_operation_apart(call, {**attributes, **_aliases_in_parts(call)})
        tell_inserted(module, _ELEMENT, _TUPLE)
        for element in operations_named({_ELEMENT}, module):
            _take_from_where_it_was_put(element)
        for made in reversed(operations_named({_TUPLE}, module)):
            if not any(made.results[0].uses):
                made.erase()
    return Changes({_ELEMENT, _TUPLE}, OF_SHARDINGS)


def _aliases_in_parts(call: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the aliases of results and operands of a custom call after flattening."""
    aliases = CustomCallView(call).output_operand_aliases
    if aliases is None or not len(aliases):
        return {}
    inputs = [operand.type for operand in call.operands]
    results = [result.type for result in call.results]
    is_only = len(part_types(results)) == 1
    renumbered: list[ir.Attribute] = []
    for attribute in aliases:
        alias = stablehlo.OutputOperandAlias(attribute)
        path = tuple(alias.output_tuple_indices)
        of_results = _numbers(results, path if len(results) > 1 else (0, *path))
        of_operands = _numbers(inputs, (alias.operand_index, *alias.operand_tuple_indices))
        for result, operand in zip(of_results, of_operands, strict=True):
            where = [] if is_only else [result]
            renumbered.append(stablehlo.OutputOperandAlias.get(where, operand, []))
    return {CustomCallView.output_operand_aliases.name: ir.ArrayAttr.get(renumbered)}


def _numbers(value_types: list[ir.Type], path: _Path) -> list[int]:
    """Return the indices of the elements at a path, which begins with the position of a value."""
    first, *rest = path
    before = len(part_types(value_types[:first]))
    return [
        before + number
        for number, part in enumerate(paths_of(value_types[first]))
        if part[: len(rest)] == tuple(rest)
    ]


def _take_from_where_it_was_put(element: ir.Operation) -> None:
    source = element.operands[0]
    if isinstance(source, ir.BlockArgument) or source.owner.operation.name != _TUPLE:
        return
    made = source.owner.operation
    replace_by(element, made.operands[TupleElementView(element).index])


def _attributes_in_parts(
    owner: ir.Operation, signature: ir.FunctionType
) -> dict[str, ir.ArrayAttr]:
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
                split = _split_attributes(attributes, value_type, signature.results, owner.context)
            except UnfitAttributeError as reason:
                message = f"'{owner.name}' op has a tuple that can't be flattened: {reason}"
                raise PassError(error(message, location_of(owner.location))) from None
            dictionaries += [ir.DictAttr.get(part, owner.context) for part in split]
        changed[entry.name] = ir.ArrayAttr.get(dictionaries, owner.context)
    return changed


def _take_function_apart(function: ir.Operation, attributes: dict[str, ir.ArrayAttr]) -> None:
    """Replace the tuples among a function's arguments and results by their parts.

    Args:
        function: the function, which may be a declaration.
        attributes: those of `_attributes_in_parts`.
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
            ir.Operation.create("func.return", operands=_parts_of(list(terminator.operands)))
        terminator.erase()


def _take_operation_apart(
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
            operands=_parts_of(list(operation.operands)),
            attributes={**kept, **attributes},
        )
        parts = iter(flat.results)
        for result in operation.results:
            result.replace_all_uses_with(_put_together(result.type, parts))
    operation.erase()
    return flat


def _signature_of(operation: ir.Operation) -> ir.FunctionType:
    """Return the types of the operands and results of an operation or a function."""
    if FunctionView.function_type.is_in(operation):
        return function_type_of(operation)
    return ir.FunctionType.get(
        [operand.type for operand in operation.operands],
        [result.type for result in operation.results],
        context=operation.context,
    )


def _has_tuples(operation: ir.Operation) -> bool:
    """Whether an operation or a function has tuples as operands or results."""
    signature = _signature_of(operation)
    return _holds_tuples([*signature.inputs, *signature.results])


def _take_arguments_apart(block: ir.Block) -> None:
    arguments = list(block.arguments)
    if not _holds_tuples([argument.type for argument in arguments]):
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
                value = _put_together(argument.type, iter(parts))
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


class UnfitAttributeError(Exception):
    """An attribute can't be split. Its text is the reason."""


def split_sharding(text: str, count: int) -> list[str]:
    """Return the sharding of each of `count` parts from XLA's sharding of a tuple.

    Example: `{{replicated}, {maximal device=1}}` for two parts is `{replicated}` and
    `{maximal device=1}`; `{manual}` is `{manual}` for both.

    Raises:
        UnfitAttributeError: the sharding has another number of parts.
    """
    inner = text.strip().removeprefix("{").removesuffix("}").strip()
    if inner and not inner.startswith("{"):
        return [text] * count
    parts: list[str] = []
    depth, start = 0, 0
    for position, letter in enumerate(inner):
        if letter == "{":
            start = position if depth == 0 else start
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                parts.append(inner[start : position + 1])
    if len(parts) != count:
        message = f"'{OF_GSPMD}' has a length of {len(parts)}, but the tuple of {count}: {text}"
        raise UnfitAttributeError(message)
    return parts


def path_text(path: _Path) -> str:
    """Return a path as Python subscripts: `[0][1]`."""
    return "".join(f"[{index}]" for index in path)


def _split_attributes(
    attributes: Mapping[str, ir.Attribute],
    value_type: ir.Type,
    result_types: Sequence[ir.Type],
    context: ir.Context,
) -> list[dict[str, ir.Attribute]]:
    """Return the attributes of each part of an argument or a result of a function.

    Args:
        attributes: those of the value.
        value_type: its type.
        result_types: the types of the function's results, tuples among them.
        context: the context of new attributes.

    Raises:
        UnfitAttributeError: an attribute can't be split.
    """
    paths = paths_of(value_type)
    split = [dict(attributes) for _ in paths]
    gspmd = as_text(attributes[OF_GSPMD]) if OF_GSPMD in attributes else None
    if gspmd is not None and isinstance(value_type, ir.TupleType):
        texts = split_sharding(gspmd, len(paths))
        for part, text in zip(split, texts, strict=True):
            part[OF_GSPMD] = ir.StringAttr.get(text, context)
    name = as_text(attributes[_RESULT_INFO]) if _RESULT_INFO in attributes else None
    if name is not None:
        for part, path in zip(split, paths, strict=True):
            part[_RESULT_INFO] = ir.StringAttr.get(name + path_text(path), context)
    if _ALIAS in attributes:
        alias = as_integer(attributes[_ALIAS])
        if alias is None or not 0 <= alias < len(result_types):
            message = f"'{_ALIAS}' is {attributes[_ALIAS]}, which is no number of a result"
            raise UnfitAttributeError(message)
        types, aliased = part_types([value_type]), part_types([result_types[alias]])
        if types != aliased:
            alias_type = result_types[alias]
            message = f"'{_ALIAS}' refers to a result of type {alias_type}, not {value_type}"
            raise UnfitAttributeError(message)
        first = len(part_types(result_types[:alias]))
        for index, part in enumerate(split):
            part[_ALIAS] = ir.IntegerAttr.get(
                ir.IntegerAttr(attributes[_ALIAS]).type, first + index
            )
    return split


def paths_of(value_type: ir.Type) -> list[_Path]:
    """Return the paths of the parts of a type; one empty path if it is not a tuple.

    Example: the paths of `tuple<i1, tuple<i2, i4>>` are (0,), (1, 0) and (1, 1).
    """
    if not isinstance(value_type, ir.TupleType):
        return [()]
    return [
        (index, *path)
        for index in range(value_type.num_types)
        for path in paths_of(value_type.get_type(index))
    ]


def part_types(value_types: Sequence[ir.Type]) -> list[ir.Type]:
    """Return the types of the parts of values of some types, in order."""
    types: list[ir.Type] = []
    for value_type in value_types:
        if isinstance(value_type, ir.TupleType):
            elements = [value_type.get_type(index) for index in range(value_type.num_types)]
            types += part_types(elements)
        else:
            types.append(value_type)
    return types


def _holds_tuples(value_types: Sequence[ir.Type]) -> bool:
    """Whether any of some types is a tuple."""
    return any(isinstance(value_type, ir.TupleType) for value_type in value_types)


def _parts_of(values: Sequence[ir.Value]) -> list[ir.Value]:
    """Return the parts of some values, in order, extracted at the current insertion point."""
    parts: list[ir.Value] = []
    for value in values:
        if isinstance(value.type, ir.TupleType):
            elements = [_element(value, index) for index in range(value.type.num_types)]
            parts += _parts_of(elements)
        else:
            parts.append(value)
    return parts


def _put_together(value_type: ir.Type, parts: Iterator[ir.Value]) -> ir.Value:
    """Build a value of a type from the next parts, at the current insertion point."""
    if not isinstance(value_type, ir.TupleType):
        return next(parts)
    types = [value_type.get_type(index) for index in range(value_type.num_types)]
    elements = [_put_together(each, parts) for each in types]
    return ir.Operation.create(_TUPLE, results=[value_type], operands=elements).results[0]


def _element(value: ir.Value, index: int) -> ir.Value:
    where = {"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), index)}
    element_type = ir.TupleType(value.type).get_type(index)
    element = ir.Operation.create(
        _ELEMENT, results=[element_type], operands=[value], attributes=where
    )
    return element.results[0]
