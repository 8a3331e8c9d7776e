# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of the sdy dialect to strings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mlir_sdy import sdy
from mlir_sdy.assembly.attribute_text import full_text
from mlir_sdy.attribute_search import operations_with
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import (
    as_text,
    get_discardable,
    remove_discardable,
    set_discardable,
)
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorShardingPerValue
from mlir_sdy.model.text import quoted
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.on_demand import has_mpmd
from mlir_sdy.op_classes import view_as
from mlir_sdy.symbols import meshes_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    argument_shardings,
    result_shardings,
    set_argument_attributes,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.functions import FreshNames
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import FunctionView
from pyshardy.irtools.walks import operations_named

FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"

MESHES = "xla.sdy.meshes"
SHARDING = "xla.sdy.sharding"
SHARDING_RULE = "xla.sdy.sharding_rule"
IN_SHARDINGS = "xla.sdy.in_shardings"
OUT_SHARDINGS = "xla.sdy.out_shardings"
MANUAL_AXES = "xla.sdy.manual_axes"
GROUP_ID = "xla.sdy.sharding_group_id"
DIRECTION = "xla.sdy.allowed_direction"

CONSTRAINT = "Sharding"
RESULT_SHARDING = "xla.sdy.FuncResultSharding"
GROUP = "xla.sdy.ShardingGroup"
BARRIER = "xla.sdy.PropagationBarrier"
TO_LOCAL = "xla.sdy.GlobalToLocalShape"
TO_GLOBAL = "xla.sdy.LocalToGlobalShape"
MANUAL_BODY = "xla.sdy.manual_computation_body"

Attributes = Mapping[str, ir.Attribute]


def spelled(operation: ir.Operation) -> dict[str, str]:
    """Return the strings of an operation or of a module."""
    return _texts(get_discardable(operation, FRONTEND_ATTRIBUTES))


def spelled_in(attributes: ir.DictAttr) -> dict[str, str]:
    """Return the strings of a function argument."""
    is_there = FRONTEND_ATTRIBUTES in attributes
    return _texts(attributes[FRONTEND_ATTRIBUTES] if is_there else None)


def _texts(dictionary: ir.Attribute | None) -> dict[str, str]:
    if not isinstance(dictionary, ir.DictAttr):
        return {}
    texts = {named.name: as_text(named.attr) for named in dictionary}
    return {name: text for name, text in texts.items() if text is not None}


def spelling(strings: Mapping[str, str], context: ir.Context) -> ir.DictAttr:
    """Return the attribute that contains strings."""
    return ir.DictAttr.get(
        {name: ir.StringAttr.get(text, context) for name, text in strings.items()}, context
    )


def spell(operation: ir.Operation, strings: Mapping[str, str]) -> None:
    """Add strings to an operation."""
    both = {**spelled(operation), **strings}
    set_discardable(operation, FRONTEND_ATTRIBUTES, spelling(both, operation.context))


def unspell(operation: ir.Operation, *names: str) -> None:
    """Remove strings from an operation."""
    kept = {name: text for name, text in spelled(operation).items() if name not in names}
    if kept:
        set_discardable(operation, FRONTEND_ATTRIBUTES, spelling(kept, operation.context))
    else:
        remove_discardable(operation, FRONTEND_ATTRIBUTES)


_MESH, _RETURN = "sdy.mesh", "sdy.return"
_MANUAL = "sdy.manual_computation"
_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*")
_ATTRIBUTES = {"sdy.sharding": SHARDING, "sdy.sharding_rule": SHARDING_RULE}


def to_strings(module: ir.Module) -> None:
    """Convert the sdy dialect to strings, in place.

    Raises:
        PassError: the module has an internal operation of sdy, which has no representation, or is
            for several meshes. The module is unchanged then.
    """
    for function in operations_with("topology", module) if has_mpmd(module.context) else ():
        message = "cannot write a program for several meshes (MPMD) to a portable artifact, which"
        message += " holds StableHLO only; write text or MLIR bytecode"
        raise PassError(error(message, location_of(function.location)))
    written = {_MESH, _RETURN, _MANUAL, *_CALLS}
    for operation in operations_named(OPERATIONS.keys() - written, module):
        message = (
            f"cannot write '{operation.name}' to a portable artifact, which can only hold "
            "operations that users write; write the program before propagation or after "
            "partitioning"
        )
        raise PassError(error(message, location_of(operation.location)))
    with module.context:
        _spell_meshes(module)
        for function in operations_named(["func.func"], module):
            _spell_signature(function)
        for attribute, name in _ATTRIBUTES.items():
            for operation in operations_with(attribute, module):
                spell(operation, {name: _text(get_discardable(operation, attribute))})
                remove_discardable(operation, attribute)
        for operation in operations_named(_CALLS, module):
            with operation.location, ir.InsertionPoint(operation):
                replaced = _CALLS[operation.name](operation)
            _replace(operation, replaced)
        fresh = FreshNames(module)
        for computation in operations_named([_MANUAL], module, ir.WalkOrder.POST_ORDER):
            with computation.location:
                _call_instead(computation, fresh.name(MANUAL_BODY), module)


def _text(attribute: Any) -> str:
    return full_text(attribute.mnemonic, value_of(attribute))


def _spell_meshes(module: ir.Module) -> None:
    meshes = meshes_of(module)
    for declaration in operations_named([_MESH], module):
        declaration.erase()
    if meshes:
        listed = ", ".join(
            f"{_key(name)} = {full_text('mesh', mesh)}" for name, mesh in meshes.items()
        )
        spell(module.operation, {MESHES: f"{{{listed}}}"})


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else quoted(name)


def _spell_signature(function: ir.Operation) -> None:
    arguments = {i: s for i, s in enumerate(argument_shardings(function)) if s is not None}
    if arguments:
        dictionaries = FunctionView(function).arg_attrs
        strings = {
            index: {
                **spelled_in(dictionaries[index]),
                SHARDING: full_text("sharding", sharding),
            }
            for index, sharding in arguments.items()
        }
        spelled = {index: spelling(own, function.context) for index, own in strings.items()}
        set_argument_shardings(function, dict.fromkeys(arguments))
        set_argument_attributes(function, FRONTEND_ATTRIBUTES, spelled)
    results = {i: s for i, s in enumerate(result_shardings(function)) if s is not None}
    if not results:
        return
    set_result_shardings(function, dict.fromkeys(results))
    for block in function.regions[0].blocks:
        last = block.operations[len(block.operations) - 1].operation
        if last.name != "func.return":
            continue
        for index, sharding in results.items():
            text = full_text("sharding_per_value", TensorShardingPerValue((sharding,)))
            with last.location, ir.InsertionPoint(last):
                value = last.operands[index]
                spelled_result = _call(RESULT_SHARDING, [value], [value.type], {SHARDING: text})
            last.operands[index] = spelled_result.results[0]


def _call(
    target: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    strings: Mapping[str, str],
    *,
    has_side_effect: bool = True,
) -> ir.Operation:
    attributes = {"has_side_effect": ir.BoolAttr.get(True)} if has_side_effect else {}
    call = StablehloBuilder().custom_call(target, operands, results, attributes)
    spell(call, strings)
    return call


def _constraint(operation: ir.Operation) -> ir.Operation:
    sharding = TensorShardingPerValue(
        (value_of(view_as(sdy.ShardingConstraintOp, operation).sharding),)
    )
    text = full_text("sharding_per_value", sharding)
    return _like(operation, CONSTRAINT, {SHARDING: text}, has_side_effect=False)


def _group(operation: ir.Operation) -> ir.Operation:
    group = view_as(sdy.ShardingGroupOp, operation).group_id
    return _like(operation, GROUP, {GROUP_ID: str(group)})


def _barrier(operation: ir.Operation) -> ir.Operation:
    direction = str(view_as(sdy.PropagationBarrierOp, operation).allowed_direction)
    return _like(operation, BARRIER, {DIRECTION: direction})


_CALLS = {
    "sdy.sharding_constraint": _constraint,
    "sdy.sharding_group": _group,
    "sdy.propagation_barrier": _barrier,
}


def _like(
    operation: ir.Operation, target: str, strings: Mapping[str, str], **options: bool
) -> ir.Operation:
    """Return a call with the operands and results of an operation, and some strings."""
    types = [result.type for result in operation.results]
    both = {**spelled(operation), **strings}
    return _call(target, list(operation.operands), types, both, **options)


def _replace(operation: ir.Operation, call: ir.Operation) -> None:
    replace_by(operation, *call.results)


def _call_instead(computation: ir.Operation, name: str, module: ir.Module) -> None:
    """Outline the body of a manual computation to a function, and call it."""
    manual = view_as(sdy.ManualComputationOp, computation)
    axes = {MANUAL_AXES: _text(manual.manual_axes)}
    body = computation.regions[0].blocks[0]
    last = body.operations[len(body.operations) - 1].operation
    inside = [argument.type for argument in body.arguments]
    returned = [value.type for value in last.operands]
    with ir.InsertionPoint(last):
        ir.Operation.create("func.return", operands=list(last.operands))
    last.erase()
    with ir.InsertionPoint(computation):
        values: Sequence[ir.Value] = list(computation.operands)
        if values:
            strings = {IN_SHARDINGS: _text(manual.in_shardings), **axes}
            values = list(_call(TO_LOCAL, values, inside, strings).results)
        call = ir.Operation.create(
            "func.call",
            results=returned,
            operands=values,
            attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
        )
        spell(call, {"inlineable": "false"})
        if returned:
            strings = {OUT_SHARDINGS: _text(manual.out_shardings), **axes}
            outside = [result.type for result in computation.results]
            call = _call(TO_GLOBAL, list(call.results), outside, strings)
    with ir.InsertionPoint(module.body):
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(inside, returned)),
            },
            regions=1,
        )
    body.append_to(function.regions[0])
    _replace(computation, call)
