# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for `sdy.*` attributes on operations and functions of any dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.attributes import PropagationEdgesAttr, TensorShardingAttr, TensorShardingPerValueAttr
from mlir_sdy.diagnostics import Part
from mlir_sdy.discardable import CONTRACT
from mlir_sdy.host import ir
from mlir_sdy.model import EdgeNodeType, EdgeValueRef, Mesh, PropagationEdges, common_mesh
from mlir_sdy.values import get_sharding
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
            "should have a sharding attribute of type TensorShardingPerValueAttr for attr named "
            "'sdy.sharding': write '#sdy.sharding_per_value<[...]>'",
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


# --- Propagation steps ----------------------------------------------------------------------------


_ARTICLES = {EdgeNodeType.OPERAND: "an operand", EdgeNodeType.RESULT: "a result"}

_DATA_FLOW_EDGES = frozenset({"sdy.data_flow_edge", "sdy.func_data_flow_edge"})


def verify_edges_attribute(
    operation: ir.Operation, attribute: ir.Attribute, meshes: Mapping[str, Mesh]
) -> None:
    """Check that the edges recorded at an operation have known axes and go between its values.

    Raises:
        Violation: they don't, or the shardings of those values have no common mesh.
    """
    if not isinstance(attribute, PropagationEdgesAttr):
        raise ConstraintViolation(
            "should have a propagation edges attribute of type PropagationEdgesAttr for attr named "
            "'sdy.propagation_edges': write '#sdy.propagation_edges<...>'"
        )
    edges = attribute.value
    mesh = _mesh_of_edges(operation, edges, meshes)
    for step in edges.value:
        for entry in step.axis_entries:
            name = entry.axis_name.name
            if not mesh.has_axis(name):
                raise ConstraintViolation(
                    f'expected axis ref to be in one of the meshes: "{name}" in step '
                    f"{step.step_index}"
                )
            if operation.name in _DATA_FLOW_EDGES:
                continue  # the operands are the sources of the edge, wherever they are
            for ref in (entry.source, *entry.targets):
                if not 0 <= ref.index < _count(operation, ref):
                    raise ConstraintViolation(
                        f"expected a value ref to have {_ARTICLES[ref.type]} index in range [0, "
                        f"{_count(operation, ref)}), got: {ref.index} in step {step.step_index}"
                    )


def verify_edges_list_attribute(attribute: ir.Attribute) -> None:
    """Check that the edges recorded for several results or arguments are a list of edges.

    Raises:
        Violation: they aren't.
    """
    if not isinstance(attribute, ir.ArrayAttr) or not all(
        isinstance(element, PropagationEdgesAttr) for element in attribute
    ):
        raise ConstraintViolation("should have an array of attributes of type PropagationEdgesAttr")


def _count(operation: ir.Operation, ref: EdgeValueRef) -> int:
    is_operand = ref.type is EdgeNodeType.OPERAND
    return len(operation.operands if is_operand else operation.results)


def _mesh_of_edges(
    operation: ir.Operation, edges: PropagationEdges, meshes: Mapping[str, Mesh]
) -> Mesh:
    """The common mesh of the values that the edges refer to, as far as these have shardings."""
    refs = {
        ref
        for step in edges.value
        for entry in step.axis_entries
        for ref in (entry.source, *entry.targets)
        if 0 <= ref.index < _count(operation, ref)
    }
    values = [
        (operation.operands if ref.type is EdgeNodeType.OPERAND else operation.results)[ref.index]
        for ref in sorted(refs, key=lambda ref: (ref.type, ref.index))
    ]
    found = [sharding for value in values if (sharding := get_sharding(value)) is not None]
    if not found:
        raise ConstraintViolation(
            "expected propagation edges attr to reference a sharding. None of the values has one"
        )
    written = common_mesh(found, meshes)
    if written is None:
        raise ConstraintViolation(
            "expected a common mesh for propagation edges attr. The values have none"
        )
    return meshes[written] if isinstance(written, str) else written
