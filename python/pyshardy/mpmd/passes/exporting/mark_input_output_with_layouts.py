# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-mark-input-output-with-layouts`.

The layout of a value is the text of the attribute, or empty for the default one. An argument has
the layout that the function states, a result of a fragment that of the results of the function it
is returned as, and the result of a transfer that of its operand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    FRAGMENT,
    RESULT_ATTRIBUTES,
    TRANSFER,
    body_of,
    returned_values,
)
from mlir_sdy.values import set_argument_attributes, set_result_attributes
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    entry_points,
    result_attributes,
    top_level_operations,
)
from pyshardy.mpmd.rewriting.lifetimes import LAYOUT_MODE, mark_values
from pyshardy.pipeline import register_pass

_AUTO = "auto"
_DEFAULT = "default"


@register_pass("mpmd-mark-input-output-with-layouts", release="0.10.2")
def mark_input_output_with_layouts(module: ir.Module) -> None:
    """Mark operands and results of fragments by the layouts of the program's inputs and outputs.

    A layout is the attribute `mhlo.layout_mode`: minor to major dimensions as in `{0,1}`, `auto`
    for the compiler's choice, or `default`, which means the same as no attribute. A value that is
    several inputs or outputs has one layout: `auto` follows the others, and two others that
    differ are an error. Each operation would choose its own layout for `auto`; the default
    replaces it for an input that several operands take, and for an output that any operand takes,
    returned values aside. A transfer keeps the layout, and results of the function get those of
    the values they return.
    """
    for function in entry_points(module):
        layouts = _agreed_layouts(function)
        for operation in top_level_operations(function):
            if operation.name == TRANSFER:
                layouts[operation.results[0]] = layouts.get(operation.operands[0], "")
            elif operation.name == FRAGMENT:
                _mark(operation, ARGUMENT_ATTRIBUTES, operation.operands, layouts)
                _mark(operation, RESULT_ATTRIBUTES, operation.results, layouts)
        arguments, results = body_of(function).arguments, returned_values(function)
        set_argument_attributes(function, LAYOUT_MODE, _attributes(arguments, layouts))
        set_result_attributes(function, LAYOUT_MODE, _attributes(results, layouts))


def _agreed_layouts(function: ir.Operation) -> dict[ir.Value, str]:
    """Return the layouts of the arguments, and of what fragments compute."""
    layouts: dict[ir.Value, str] = {}
    stated: dict[ir.Value, str] = {}
    arguments = body_of(function).arguments
    for argument, given in zip(arguments, argument_attributes(function), strict=True):
        if any(argument.uses):
            layouts[argument] = _layout(given)
            stated[argument] = f"Arg #{argument.arg_number}"
    for fragment in operations_named({FRAGMENT}, function):
        layouts.update(dict.fromkeys(fragment.results, _AUTO))
    results = zip(returned_values(function), result_attributes(function), strict=True)
    for index, (value, given) in enumerate(results):
        if value not in layouts:
            continue
        layout, other = _layout(given), layouts[value]
        if _AUTO not in (layout, other) and layout != other:
            message = (
                f"{stated[value]} is returned as result #{index}, but with incompatible layouts: "
                f'"{other or _DEFAULT}" vs. "{layout or _DEFAULT}": state one of them, or "auto", '
                f"as '{LAYOUT_MODE}' of both"
            )
            raise PassError(error(message, location_of(function.location)))
        if other == _AUTO:
            layouts[value] = layout
            stated[value] = f"Result #{index}"
    for value, layout in layouts.items():
        taken = sum(use.owner.operation.name != "func.return" for use in value.uses)
        if layout == _AUTO and taken > isinstance(value, ir.BlockArgument):
            layouts[value] = ""
    return layouts


def _layout(attributes: Mapping[str, Any]) -> str:
    """Return the layout that attributes state, empty for the default."""
    mode = attributes.get(LAYOUT_MODE)
    return "" if mode is None or mode.value == _DEFAULT else mode.value


def _mark(
    fragment: ir.Operation, name: str, values: Sequence[ir.Value], layouts: Mapping[ir.Value, str]
) -> None:
    if known := _attributes(values, layouts):
        indices = range(len(values))
        marks = [{LAYOUT_MODE: known[each]} if each in known else {} for each in indices]
        mark_values(fragment, name, marks)


def _attributes(
    values: Sequence[ir.Value], layouts: Mapping[ir.Value, str]
) -> dict[int, ir.Attribute | None]:
    """Return the attribute of each value whose layout is known: none for the default."""
    return {
        index: ir.StringAttr.get(layouts[each], each.context) if layouts[each] else None
        for index, each in enumerate(values)
        if each in layouts
    }
