# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-flatten-tuples`: what stands in tuples stands by itself, as only that can be sharded.

Before:

    %0 = stablehlo.tuple %a, %b : tuple<tensor<8xf32>, tensor<4xf32>>
    %1 = stablehlo.custom_call @f(%0) : (tuple<tensor<8xf32>, tensor<4xf32>>)
        -> tuple<tensor<8xf32>, tensor<2xf32>>
    %2 = stablehlo.get_tuple_element %1[1]
        : (tuple<tensor<8xf32>, tensor<2xf32>>) -> tensor<2xf32>

After:

    %0:2 = stablehlo.custom_call @f(%a, %b)
        : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<2xf32>)
    // %0#1 is used instead of %2
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.host import ir
from pyshardy.passes.walks import operations_named

_TUPLE, _ELEMENT = "stablehlo.tuple", "stablehlo.get_tuple_element"
_CALL = "stablehlo.custom_call"
_ALIASES = "output_operand_aliases"


def flatten_tuples(module: ir.Module) -> None:
    """Take tuples apart inside of functions.

    1. A custom call takes and makes the elements of its tuples, in their order. One that says which
       operands its results alias stays as it is if it takes tuples, as it counts operands.
    2. What is taken from a tuple is what was put into it.
    3. Tuples that nothing uses any more are erased.

    Args:
        module: the module. Tuples that its functions take and return stay.
    """
    with module.context:
        for call in operations_named({_CALL}, module):
            if _is_to_be_flattened(call):
                _flatten_call(call)
        for element in operations_named({_ELEMENT}, module):
            _take_from_where_it_was_put(element)
        for made in reversed(operations_named({_TUPLE}, module)):
            if not any(made.results[0].uses):
                made.erase()


def _is_to_be_flattened(call: ir.Operation) -> bool:
    takes_tuples = any(isinstance(operand.type, ir.TupleType) for operand in call.operands)
    if takes_tuples and len(call.attributes.get(_ALIASES, ())):
        return False
    return takes_tuples or any(isinstance(result.type, ir.TupleType) for result in call.results)


def _flatten_call(call: ir.Operation) -> None:
    with call.location, ir.InsertionPoint(call):
        operands = [part for operand in call.operands for part in _parts(operand)]
        types = [part for result in call.results for part in _part_types(result.type)]
        flat = ir.Operation.create(
            call.name,
            results=types,
            operands=operands,
            attributes={name: call.attributes[name] for name in call.attributes},
        )
        parts = iter(flat.results)
        for result in call.results:
            result.replace_all_uses_with(_put_together(result.type, parts))
    call.erase()


def _parts(value: ir.Value) -> Iterator[ir.Value]:
    """What a value is made of, if it is a tuple, else the value; built at the current place."""
    if not isinstance(value.type, ir.TupleType):
        yield value
        return
    for index in range(value.type.num_types):
        where = {"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), index)}
        element = ir.Operation.create(
            _ELEMENT, results=[value.type.get_type(index)], operands=[value], attributes=where
        )
        yield from _parts(element.results[0])


def _part_types(value_type: ir.Type) -> Iterator[ir.Type]:
    if isinstance(value_type, ir.TupleType):
        for index in range(value_type.num_types):
            yield from _part_types(value_type.get_type(index))
    else:
        yield value_type


def _put_together(value_type: ir.Type, parts: Iterator[ir.Value]) -> ir.Value:
    """A value of a type, made of the next parts."""
    if not isinstance(value_type, ir.TupleType):
        return next(parts)
    types = [value_type.get_type(index) for index in range(value_type.num_types)]
    elements = [_put_together(each, parts) for each in types]
    return ir.Operation.create(_TUPLE, results=[value_type], operands=elements).results[0]


def _take_from_where_it_was_put(element: ir.Operation) -> None:
    source = element.operands[0]
    if isinstance(source, ir.BlockArgument) or source.owner.operation.name != _TUPLE:
        return
    made = source.owner.operation
    element.results[0].replace_all_uses_with(made.operands[element.attributes["index"].value])
    element.erase()
