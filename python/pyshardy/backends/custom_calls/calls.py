# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The custom calls of a program that functions implement, and what is known about each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mlir_sdy.host import ir, location_of
from pyshardy.backends.custom_calls.functions import CustomCall
from pyshardy.backends.specs import TensorSpec
from pyshardy.backends.values import spec_of
from pyshardy.passes.walks import operations_named

CUSTOM_CALL = "stablehlo.custom_call"

ADVICE = (
    "let a Python function of NumPy arrays do it, by CompileOptions(custom_calls={'its_target': "
    "function}), or replace the call by StableHLO that does the same"
)
"""The mend for a custom call that an engine doesn't know."""


def target_of(call: ir.Operation) -> str:
    """What a custom call calls."""
    return call.attributes["call_target_name"].value


def calls_to(targets: Collection[str], module: ir.Module) -> list[ir.Operation]:
    """The custom calls of some targets, in the order of the text."""
    if not targets:
        return []
    found = operations_named({CUSTOM_CALL}, module)
    return [operation for operation in found if target_of(operation) in targets]


def described(operation: ir.Operation) -> CustomCall:
    """What a function may know about a custom call.

    Raises:
        UsageError: no array can stand for an operand or a result.
    """
    place = location_of(operation.location)
    attributes = operation.attributes
    return CustomCall(
        target_of(operation),
        _plain(attributes["backend_config"]) if "backend_config" in attributes else "",
        tuple(spec_of(operand.type, place) for operand in operation.operands),
        tuple(spec_of(result.type, place) for result in operation.results),
        place,
    )


def take_plain_arrays(module: ir.Module, targets: Collection[str]) -> None:
    """Let the calls of some targets take and give element types that NumPy has, in place.

    Conversions around them do it, where they are the engine's own and therefore exact:

        bf16  ->  convert to f32, call, convert to bf16

    Raises:
        UsageError: no array can stand for an operand or a result.
    """
    for operation in calls_to(targets, module):
        call = described(operation)
        if not any(spec.is_carried for spec in (*call.operands, *call.results)):
            continue
        with operation.context, operation.location, ir.InsertionPoint(operation):
            plain = ir.Operation.create(
                operation.name,
                results=[_type_of(_carrier(spec)) for spec in call.results],
                operands=[
                    _converted(operand, _carrier(spec))
                    for operand, spec in zip(operation.operands, call.operands, strict=True)
                ],
                attributes=dict(operation.attributes.items()),
            )
            results = [
                _converted(result, spec)
                for result, spec in zip(plain.results, call.results, strict=True)
            ]
        for old, new in zip(operation.results, results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()


def _carrier(spec: TensorSpec) -> TensorSpec:
    return spec.with_element(spec.carrier)


def _type_of(spec: TensorSpec) -> ir.Type:
    return ir.Type.parse(str(spec))


def _converted(value: ir.Value, spec: TensorSpec) -> ir.Value:
    wanted = _type_of(spec)
    if value.type == wanted:
        return value
    return ir.Operation.create("stablehlo.convert", results=[wanted], operands=[value]).result


def _plain(attribute: ir.Attribute) -> Any:
    """The value of an attribute as one of Python; its text if there is none."""
    attribute = attribute.maybe_downcast()
    if isinstance(attribute, ir.DictAttr):
        return {entry.name: _plain(entry.attr) for entry in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(each) for each in attribute]
    if isinstance(attribute, ir.StringAttr | ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseBoolArrayAttr | ir.DenseI32ArrayAttr | ir.DenseI64ArrayAttr):
        return list(attribute)
    return str(attribute)
