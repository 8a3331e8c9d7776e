# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for the attributes that record propagation edges."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.attributes import PropagationEdgesAttr
from mlir_sdy.host import ir
from mlir_sdy.model import EdgeNodeType, EdgeValueRef, Mesh, PropagationEdges, common_mesh
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.violation import ConstraintViolation

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
            "should have a propagation edges attribute of type PropagationEdgesAttr: "
            "'sdy.propagation_edges = #sdy.propagation_edges<...>'"
        )
    edges = attribute.value
    mesh = _mesh_of_edges(operation, edges, meshes)
    for step in edges.value:
        for entry in step.axis_entries:
            name = entry.axis_name.name
            if not mesh.has_axis(name):
                raise ConstraintViolation(f'unknown axis name "{name}" in step {step.step_index}')
            if operation.name in _DATA_FLOW_EDGES:
                continue  # the operands are the sources of the edge, wherever they are
            for ref in (entry.source, *entry.targets):
                if not 0 <= ref.index < _count(operation, ref):
                    raise ConstraintViolation(
                        f"step {step.step_index} refers to {ref}, but there are "
                        f"{_count(operation, ref)} {ref.type}s"
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
        raise ConstraintViolation("has propagation edges, but none of their values has a sharding")
    written = common_mesh(found, meshes)
    if written is None:
        raise ConstraintViolation(
            "the shardings of the values of propagation edges have no common mesh"
        )
    return meshes[written] if isinstance(written, str) else written
