# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-flatten-tuples`: replace tuples by their elements, as only tensors have shardings.

1. Functions, calls, composites and custom calls take and return the elements of their tuples,
   in order, including nested tuples. `tuple_attributes` converts their attributes.
2. Elements that are read from a tuple are replaced by the values of which it was built.
3. Unused tuples are erased.
"""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.analyses import inserts, mark_all_preserved
from pyshardy.irtools.operation_names import may_occur_at_start
from pyshardy.irtools.stablehlo_views import CustomCallView, TupleElementView
from pyshardy.irtools.tuple_interfaces import (
    attributes_in_parts,
    has_tuples,
    signature_of,
    take_function_apart,
    take_operation_apart,
)
from pyshardy.irtools.tuples import ELEMENT, TUPLE, Path, part_types, paths_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_CUSTOM_CALL = "stablehlo.custom_call"
_CALLS = frozenset({"func.call", "stablehlo.composite", _CUSTOM_CALL})
_ALIASES = "output_operand_aliases"


@register_pass("sdy-flatten-tuples", release="pyshardy")
@inserts(ELEMENT, TUPLE)
def flatten_tuples(module: ir.Module) -> None:
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
        functions = [each for each in operations_named({"func.func"}, module) if has_tuples(each)]
        calls = [each for each in operations_named(_CALLS, module) if has_tuples(each)]
        has_tuple_operations = may_occur_at_start({ELEMENT, TUPLE}, module)
        if not functions and not calls and not has_tuple_operations:
            mark_all_preserved()
            return
        of_functions, of_calls = (
            [attributes_in_parts(each, signature_of(each)) for each in some]
            for some in (functions, calls)
        )
        for function, attributes in zip(functions, of_functions, strict=True):
            take_function_apart(function, attributes)
        for call, attributes in zip(calls, of_calls, strict=True):
            take_operation_apart(call, {**attributes, **_aliases_in_parts(call)})
        for element in operations_named({ELEMENT}, module):
            _take_from_where_it_was_put(element)
        for made in reversed(operations_named({TUPLE}, module)):
            if not any(made.results[0].uses):
                made.erase()


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


def _numbers(value_types: list[ir.Type], path: Path) -> list[int]:
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
    if isinstance(source, ir.BlockArgument) or source.owner.operation.name != TUPLE:
        return
    made = source.owner.operation
    element.results[0].replace_all_uses_with(made.operands[TupleElementView(element).index])
    element.erase()
