# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The custom calls of a program that functions implement, and their properties."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.uses import replace_by
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import CustomCallView, target_of
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.irtools.tokens import is_token
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.local_program.values import spec_of

CUSTOM_CALL = "stablehlo.custom_call"
_CONFIG_OF_JAX = "mhlo.backend_config"
"""The attribute with the configuration of a call if `backend_config` is empty."""

_DECLARED = "pyshardy.declared_types"
_LAYOUTS = (CustomCallView.operand_layouts.name, CustomCallView.result_layouts.name)

CALLBACKS_ON_ONE_DEVICE = tuple(f"xla_ffi_python_{each}_callback" for each in ("cpu", "gpu"))
"""The targets of JAX's callbacks that run once, on unsharded operands."""

CALLBACKS = (
    *CALLBACKS_ON_ONE_DEVICE,
    *(f"xla_ffi_partitioned_python_{each}_callback" for each in ("cpu", "gpu")),
)
"""The targets of all callbacks of JAX; only the process that traced one has its function."""

CUSTOM_PARTITIONING = "CustomSPMDPartitioning"
"""The target of JAX's functions with `jax.experimental.custom_partitioning`."""

RAGGED_ALL_TO_ALL = "ragged_all_to_all"
"""The target of JAX's collective of that name, for which StableHLO has no operation."""

INSPECTION = "InspectSharding"
"""The target of `jax.debug.inspect_array_sharding`, which XLA's partitioner implements."""


def advice_on(target: str | None) -> str:
    """Return the hint for a custom call of a target that an engine doesn't support."""
    name = target or "ITS_TARGET"
    return (
        "implement it by a Python function of NumPy arrays: "
        f"'sdy-run --custom-call={name}=FILE:FUNCTION', or in Python "
        f"CompileOptions(custom_calls={{'{name}': function}}); or replace the call by equivalent "
        "StableHLO"
    )


def calls_to(targets: Collection[str], module: ir.Module) -> list[ir.Operation]:
    """Return the custom calls of some targets, in the order of the text."""
    if not targets:
        return []
    found = operations_named({CUSTOM_CALL}, module)
    return [operation for operation in found if target_of(operation) in targets]


def drop_inspections(module: ir.Module) -> None:
    """Erase the custom calls that ask for shardings, in place.

    They refer to a function by its address, which is good in the process that traced it only.
    """
    for call in calls_to({INSPECTION}, module):
        replace_by(call, call.operands[0])


def takes_token(call: ir.Operation) -> bool:
    """Whether a custom call has a token, and is therefore ordered."""
    return any(is_token(each.type) for each in (*call.operands, *call.results))


@dataclass(frozen=True, slots=True)
class CustomCall:
    """The properties of a custom call, for the function that implements it.

    Attributes:
        target: the target.
        config: the `backend_config` of the call: a text, or a dictionary of plain values.
        operands: the types of the operands on each device.
        results: the types of the results on each device.
        place: the source location.
        declared: the types of the operands and results in the program, if the types of the arrays
            differ (see `tensor_spec`); empty otherwise.
    """

    target: str
    config: str | Mapping[str, Any]
    operands: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    place: SourceLocation | None = None
    declared: tuple[TensorSpec, ...] = ()

    @property
    def declared_operands(self) -> tuple[TensorSpec, ...]:
        """The types of the operands in the program."""
        return self.declared[: len(self.operands)] or self.operands

    @property
    def declared_results(self) -> tuple[TensorSpec, ...]:
        """The types of the results in the program."""
        return self.declared[len(self.operands) :] or self.results


def described(operation: ir.Operation) -> CustomCall:
    """Return the properties of a custom call, without its tokens.

    Raises:
        UsageError: an operand or result has a type without a NumPy equivalent.
    """
    place = location_of(operation.location)
    given = CustomCallView(operation).backend_config, get_discardable(operation, _CONFIG_OF_JAX)
    configs = (_plain(config) for config in given if config is not None)
    declared = get_discardable(operation, _DECLARED) or ()
    return CustomCall(
        target_of(operation),
        next((config for config in configs if config), ""),
        _specs(operation.operands, place),
        _specs(operation.results, place),
        place,
        tuple(spec_of(each.value, place) for each in declared),
    )


def _specs(values: Iterable[ir.Value], place: SourceLocation | None) -> tuple[TensorSpec, ...]:
    return tuple(spec_of(value.type, place) for value in values if not is_token(value.type))


def take_plain_arrays(module: ir.Module, targets: Collection[str]) -> None:
    """Change the calls of some targets to element types that NumPy has, in place.

    Conversions are inserted around them; the engine computes these and they are exact:

        bf16  ->  convert to f32, call, convert to bf16

    Raises:
        UsageError: an operand or result has a type without a NumPy equivalent.
    """
    for operation in calls_to(targets, module):
        call = described(operation)
        declared = (*call.operands, *call.results)
        if not any(spec.is_carried for spec in declared):
            continue
        attributes = {k: v for k, v in operation.attributes.items() if k not in _LAYOUTS}
        with operation.context, operation.location, ir.InsertionPoint(operation):
            types = [ir.TypeAttr.get(_type_of(spec)) for spec in declared]
            plain = ir.Operation.create(
                operation.name,
                results=[_plain_type(result.type) for result in operation.results],
                operands=[
                    _converted(operand, _plain_type(operand.type)) for operand in operation.operands
                ],
                attributes=attributes | {_DECLARED: ir.ArrayAttr.get(types)},
            )
            results = [
                _converted(new, old.type)
                for new, old in zip(plain.results, operation.results, strict=True)
            ]
        replace_by(operation, *results)


def _plain_type(value_type: ir.Type) -> ir.Type:
    """Return the type of the arrays for values of a type; a token type is returned unchanged."""
    if is_token(value_type):
        return value_type
    spec = spec_of(value_type)
    return _type_of(spec.with_element(spec.carrier))


def _type_of(spec: TensorSpec) -> ir.Type:
    return ir.Type.parse(str(spec))


def _converted(value: ir.Value, wanted: ir.Type) -> ir.Value:
    if value.type == wanted:
        return value
    return StablehloBuilder().convert(value, element_type_of(wanted))


def _plain(attribute: ir.Attribute) -> Any:
    """Return an attribute as a Python value, or else its text."""
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
