# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of the strings in artifacts to the sdy dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from mlir_sdy import sdy
from mlir_sdy.assembly.attribute_text import read_full_attribute
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.attribute_search import operations_with
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.diagnostics import ParseError, PassError, error
from mlir_sdy.discardable import (
    get_discardable,
    has_discardable,
    remove_discardable,
    set_discardable,
)
from mlir_sdy.host import ir, location_of
from mlir_sdy.values import (
    OF_GSPMD,
    SHARDING,
    set_argument_attributes,
    set_argument_shardings,
    set_result_attributes,
    set_result_shardings,
)
from pyshardy.frontends.portable import to_strings as names
from pyshardy.irtools.stablehlo_views import FunctionView, callee_of, symbol_name, target_of
from pyshardy.irtools.walks import operations_named

_CALL = "stablehlo.custom_call"


def from_strings(module: ir.Module) -> None:
    """Convert all strings to the sdy dialect, in place.

    Raises:
        ParseError: a string can't be parsed.
        PassError: a manual computation is represented incorrectly.
    """
    with module.context:
        _understand_meshes(module)
        for function in operations_named(["func.func"], module):
            _understand_arguments(function)
        for operation in operations_with(names.FRONTEND_ATTRIBUTES, module):
            _understand_attributes(operation)
        for call in operations_named([_CALL], module):
            target = target_of(call)
            if target in _REPLACED and _is_spelled(call):
                with call.location, ir.InsertionPoint(call):
                    _REPLACED[target](call)
                call.erase()
        _understand_manual_computations(module)


def _is_spelled(call: ir.Operation) -> bool:
    """Whether a call has the strings that its target requires; a `@Sharding` may be GSPMD's."""
    return bool(names.spelled(call)) or has_discardable(call, SHARDING)


def _value(text: str, place: ir.Location) -> tuple[str, Any]:
    cursor = Cursor(SourceText(text, "a string"))
    try:
        mnemonic, value = read_full_attribute(cursor)
    except ParseError as failure:
        reason = failure.diagnostics[0].message
        message = f"cannot parse the string {text!r}: {reason}"
        raise ParseError(error(message, location_of(place))) from None
    return mnemonic, value


def _understand_meshes(module: ir.Module) -> None:
    text = names.spelled(module.operation).get(names.MESHES)
    if text is None:
        return
    names.unspell(module.operation, names.MESHES)
    cursor = Cursor(SourceText(text, names.MESHES))
    cursor.token("{")
    place = ir.InsertionPoint.at_block_begin(module.body)
    while not cursor.try_token("}"):
        name = cursor.try_string() or cursor.try_identifier()
        cursor.token("=")
        _, mesh = read_full_attribute(cursor)
        cursor.try_token(",")
        with module.operation.location:
            sdy.mesh(str(name), attribute_of(mesh), ip=place)


def _understand_arguments(function: ir.Operation) -> None:
    shardings: dict[int, Any] = {}
    rest: dict[int, ir.Attribute | None] = {}
    for index, dictionary in enumerate(FunctionView(function).arg_attrs):
        strings = names.spelled_in(dictionary)
        text = strings.pop(names.SHARDING, None)
        if text is not None:
            shardings[index] = _value(text, function.location)[1]
            rest[index] = names.spelling(strings, function.context) if strings else None
    if shardings:
        set_argument_attributes(function, names.FRONTEND_ATTRIBUTES, rest)
        set_argument_attributes(function, OF_GSPMD, dict.fromkeys(shardings))
        set_argument_shardings(function, shardings)


def _understand_attributes(operation: ir.Operation) -> None:
    strings = names.spelled(operation)
    for own, name in ((SHARDING, names.SHARDING), ("sdy.sharding_rule", names.SHARDING_RULE)):
        if name in strings:
            attribute = attribute_of(_value(strings[name], operation.location)[1])
            set_discardable(operation, own, attribute)
            names.unspell(operation, name)
            remove_discardable(operation, OF_GSPMD)


# --- Calls --------------------------------------------------------------------------------------


def _constraint(call: ir.Operation) -> None:
    made = sdy.ShardingConstraintOp(call.operands[0], _sharding_of(call)).operation
    _take_over(call, made)


def _result_sharding(call: ir.Operation) -> None:
    sharding = _sharding_of(call)
    for use in list(call.results[0].uses):
        user = use.owner.operation
        if user.name == "func.return":
            function = cast("ir.Operation", user.parent).operation
            set_result_shardings(function, {use.operand_number: value_of(sharding)})
            set_result_attributes(function, OF_GSPMD, {use.operand_number: None})
    call.results[0].replace_all_uses_with(call.operands[0])


def _sharding_of(call: ir.Operation) -> Any:
    return attribute_of(value_of(get_discardable(call, SHARDING)).shardings[0])


def _group(call: ir.Operation) -> None:
    group = ir.Attribute.parse(names.spelled(call)[names.GROUP_ID])
    _take_over(call, sdy.sharding_group(call.operands[0], group).operation)


def _barrier(call: ir.Operation) -> None:
    direction = ir.Attribute.parse(names.spelled(call)[names.DIRECTION])
    made = sdy.PropagationBarrierOp(call.operands[0], direction).operation
    if has_discardable(call, SHARDING):
        set_discardable(made, SHARDING, get_discardable(call, SHARDING))
    _take_over(call, made)


def _take_over(call: ir.Operation, made: ir.Operation) -> None:
    """Replace a call by an operation, which keeps the other strings of the call."""
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    names.unspell(call, names.GROUP_ID, names.DIRECTION)
    if others := names.spelled(call):
        names.spell(made, others)


_REPLACED: Mapping[str, Callable[[ir.Operation], None]] = {
    names.CONSTRAINT: _constraint,
    names.RESULT_SHARDING: _result_sharding,
    names.GROUP: _group,
    names.BARRIER: _barrier,
}


# --- Manual computations ------------------------------------------------------------------------

_IS_BODY = re.compile(rf"xla\.sdy\.\w*manual_computation_body(_\d+)?|{names.MANUAL_BODY}.*")


def _understand_manual_computations(module: ir.Module) -> None:
    """Inline the functions of manual computation bodies into their calls, inner ones first."""
    functions = {
        symbol_name(function): function
        for function in operations_named(["func.func"], module)
        if _IS_BODY.fullmatch(symbol_name(function))
    }
    done: set[str] = set()

    def finish(name: str) -> None:
        """Replace the calls in a body by manual computations."""
        if name not in done:
            done.add(name)
            inside(functions[name])

    def inside(root: ir.Operation) -> None:
        for call in operations_named(["func.call"], root):
            callee = callee_of(call)
            if callee in functions:
                finish(callee)
                _computation_instead(call, functions[callee])

    for function in operations_named(["func.func"], module):
        if symbol_name(function) not in functions:
            inside(function)
    for name in functions:
        finish(name)
    for function in functions.values():
        function.erase()


def _computation_instead(call: ir.Operation, function: ir.Operation) -> None:
    before, after = _shape_changes(call)
    strings = {
        **(names.spelled(before) if before else {}),
        **(names.spelled(after) if after else {}),
    }
    place = call.location
    none = "#sdy.sharding_per_value<[]>"
    in_shardings, out_shardings, axes = (
        attribute_of(_value(strings.get(name, default), place)[1])
        for name, default in (
            (names.IN_SHARDINGS, none),
            (names.OUT_SHARDINGS, none),
            (names.MANUAL_AXES, "#sdy<manual_axes{}>"),
        )
    )
    computation = sdy.ManualComputationOp(
        [result.type for result in (after or call).results],
        list((before or call).operands),
        in_shardings,
        out_shardings,
        axes,
        loc=place,
        ip=ir.InsertionPoint(call),
    ).operation
    body = function.clone(ip=False).regions[0].blocks[0]
    last = body.operations[len(body.operations) - 1].operation
    sdy.ReturnOp(list(last.operands), loc=last.location, ip=ir.InsertionPoint(last))
    last.erase()
    body.append_to(computation.regions[0])
    for old, new in zip((after or call).results, computation.results, strict=True):
        old.replace_all_uses_with(new)
    for operation in (after, call, before):
        if operation is not None:
            operation.erase()


def _shape_changes(call: ir.Operation) -> tuple[ir.Operation | None, ir.Operation | None]:
    """Return the calls that convert the operands and results of a body, None for missing ones."""
    operands, results = list(call.operands), list(call.results)
    users = [use.owner.operation for result in results for use in result.uses]
    before = _call_of(names.TO_LOCAL, operands[0].owner) if operands else None
    after = _call_of(names.TO_GLOBAL, users[0]) if users else None
    handed_over = list(before.results) if before else []
    taken = list(after.operands) if after else []
    used_once = all(len(list(value.uses)) == 1 for value in (*operands, *results))
    if handed_over == operands and taken == results and used_once:
        return before, after
    callee = callee_of(call)
    message = f"the call of '@{callee}' is not between '@{names.TO_LOCAL}' and '@{names.TO_GLOBAL}'"
    raise PassError(error(message, location_of(call.location)))


def _call_of(target: str, owner: Any) -> ir.Operation | None:
    """Return an owner if it is a call of `target`; the owner of an argument is a block."""
    if not isinstance(owner, ir.Operation | ir.OpView):
        return None
    operation = owner.operation
    if operation.name == _CALL and target_of(operation) == target:
        return operation
    return None
