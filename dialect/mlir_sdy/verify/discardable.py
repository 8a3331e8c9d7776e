# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for `sdy.*` attributes on operations and functions of any dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.attributes import TensorShardingAttr, TensorShardingPerValueAttr
from mlir_sdy.diagnostics import Part
from mlir_sdy.discardable import CONTRACT
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from mlir_sdy.verify.sharding import ManualAxes, check_sharding, check_shardings
from mlir_sdy.verify.violation import ConstraintViolation, inside

_SHARDING = Part("attribute", "sdy.sharding")


def verify_sharding_attribute(
    attribute: ir.Attribute,
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
    manual_axes: ManualAxes,
) -> None:
    """Check that `sdy.sharding` on an operation has a valid sharding for each result of `types`.

    Raises:
        Violation: it does not.
    """
    if not isinstance(attribute, TensorShardingPerValueAttr):
        raise ConstraintViolation(
            "should have a sharding attribute of type TensorShardingPerValueAttr: "
            "'sdy.sharding = #sdy.sharding_per_value<[...]>'",
            parts=[_SHARDING],
        )
    with inside(_SHARDING):
        check_shardings(attribute.value.shardings, types, meshes, manual_axes, "result")


def verify_place_of_contract(operation: ir.Operation) -> None:
    """Check that an operation with a contract has others inside, for which the contract is.

    Raises:
        Violation: it is a declaration, or an operation without regions.
    """
    if not any(len(region.blocks) for region in operation.regions):
        raise ConstraintViolation(
            f"'{CONTRACT}' is for functions with a body and operations with regions"
        )


def verify_function(function: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that `sdy.sharding` on arguments and results of a function is one valid sharding.

    Raises:
        Violation: it is not.
    """
    function_type = function.attributes["function_type"].value
    passed: set[tuple[ir.Attribute, ir.Type]] = set()
    for entry, word, types in (
        ("arg_attrs", "arg", function_type.inputs),
        ("res_attrs", "result", function_type.results),
    ):
        if entry not in function.attributes:
            continue
        dictionaries = function.attributes[entry]
        for index, (attributes, value_type) in enumerate(zip(dictionaries, types, strict=True)):
            if "sdy.sharding" in attributes:
                key = attributes["sdy.sharding"], value_type
                if key in passed:
                    continue
                try:
                    _verify_one(*key, meshes)
                    passed.add(key)
                except ConstraintViolation as violation:
                    port = Part("argument" if word == "arg" else "result", index)
                    inside = violation.inside(port, _SHARDING)
                    raise inside.prefixed(f"{word} {index} - ") from None


def _verify_one(attribute: ir.Attribute, value_type: ir.Type, meshes: Mapping[str, Mesh]) -> None:
    if not isinstance(attribute, TensorShardingAttr):
        raise ConstraintViolation(
            "should have a sharding attribute of type TensorShardingAttr: "
            "'sdy.sharding = #sdy.sharding<...>'"
        )
    check_sharding(attribute.value, value_type, meshes, {})
