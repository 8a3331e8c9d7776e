# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes of operations, marks of fragments and of their values, last uses of values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.building import fragment, return_
from mlir_sdy.mpmd.reading import body_of, mesh_type, operations_of
from mlir_sdy.mpmd.values import Topology
from mlir_sdy.mpmd.verify import mesh_in, topology_around
from mlir_sdy.verify.violation import ConstraintViolation
from pyshardy.irtools.locations import tag_of, tagged
from pyshardy.irtools.tensor_types import element_bytes
from pyshardy.mpmd.rewriting.functions import dictionaries

INFERRED_BY = "mpmd.inferred_by"
"""The attribute with the passes that have made an inferred fragment."""

# The labels of the origins of assignments, as C++ Shardy writes them.

USER_INPUT = "user_in"
"""An argument that the user has placed on a mesh."""

USER_OUTPUT = "user_out"
"""A result that the user has placed on a mesh."""

INFERRED_INPUT = "inferred_in"
"""An argument whose mesh is inferred."""

INFERRED_OUTPUT = "inferred_out"
"""A result whose mesh is inferred."""

CONSTRAINED_INPUT = "io_constraint_in"
"""An argument that must be on the mesh of a result."""

CONSTRAINED_OUTPUT = "io_constraint_out"
"""A result that must be on the mesh of an argument."""

_REDUCTION = "reduction"


def mark_inferred(fragment: ir.Operation, *passes: str) -> None:
    """Mark a fragment with the passes that have made it."""
    strings = [ir.StringAttr.get(each, fragment.context) for each in passes]
    set_discardable(fragment, INFERRED_BY, ir.ArrayAttr.get(strings, fragment.context))


def inferred_by(fragments: Iterable[ir.Operation]) -> list[str]:
    """Return the passes that have made any of the fragments, each once."""
    found: dict[str, None] = {}
    for each in fragments:
        for name in get_discardable(each, INFERRED_BY) or ():
            found[ir.StringAttr(name).value] = None
    return list(found)


def mark_reduction(operation: ir.Operation) -> None:
    """Mark an operation on values of several meshes, in its location, which passes keep."""
    operation.location = tagged(operation.location, _REDUCTION, 0)


def is_reduction(operation: ir.Operation) -> bool:
    """Whether an operation has the mark of `mark_reduction`."""
    return tag_of(operation.location, _REDUCTION) is not None


def copies(values: Sequence[ir.Value], mesh: str, *passes: str) -> list[ir.Value]:
    """Build a fragment that passes have made, which returns values of a mesh as they are."""
    operands = list(dict.fromkeys(values))
    built = fragment(mesh, [value.type for value in values], operands)
    mark_inferred(built, *passes)
    with ir.InsertionPoint(body_of(built)):
        arguments = dict(zip(operands, body_of(built).arguments, strict=True))
        return_([arguments[value] for value in values])
    return list(built.results)


_NUMBER = re.compile(r"\d+")


def check_mesh(operation: ir.Operation, name: str) -> None:
    """Check that the topology around an operation has a mesh.

    Raises:
        PassError: it has no mesh of that name.
    """
    try:
        mesh_in(topology_around(operation), name)
    except ConstraintViolation as violation:
        raise PassError(violation.diagnostic(operation)) from None


def topology(operation: ir.Operation) -> Topology:
    """Return the topology around an operation, which has one."""
    return topology_around(operation)


def in_order_of_chain(names: Iterable[str]) -> list[str]:
    """Return meshes in the order of a chain of transfers: by their number, else by name."""

    def key(name: str) -> tuple[int, int, str]:
        number = _NUMBER.search(name)
        return (1, 0, name) if number is None else (0, int(number[0]), name)

    return sorted(names, key=key)


ALIASES = "tf.aliasing_output"
"""The attribute of an argument with the number of the result that takes its memory."""

DONATED = "jax.buffer_donor"
"""The attribute of an argument whose memory may be reused."""

LAYOUT_MODE = "mhlo.layout_mode"
"""The attribute of an argument or result with its layout in memory, for C++ Shardy's runtime."""


def is_on_host(value: ir.Value) -> bool:
    """Whether a value is on a mesh, in the memory of the host."""
    found = mesh_type(value)
    return found is not None and found.is_on_host


def is_on_device(value: ir.Value) -> bool:
    """Whether a value is on a mesh, in the memory of the devices."""
    found = mesh_type(value)
    return found is not None and not found.is_on_host


def last_users(function: ir.Operation) -> dict[ir.Value, ir.Operation]:
    """Return the last operation in the body of a function that uses each value."""
    return {
        value: operation
        for operation in operations_of(body_of(function))
        for value in operation.operands
    }


def shard_bytes(value_type: MeshTensorType, topology: Topology) -> int:
    """Return the bytes of a value on each device of its mesh."""
    tensor, mesh = value_type.global_type, topology.named(value_type.mesh_name)
    shape = tuple(tensor.shape)
    if value_type.sharding is not None and mesh is not None:
        shape = value_of(value_type.sharding).local_shape(shape, mesh.mesh)
    return element_bytes(tensor) * math.prod(shape)


def mark_values(
    fragment: ir.Operation, name: str, marks: Sequence[Mapping[str, ir.Attribute | None]]
) -> None:
    """Add attributes of operands or results of a fragment to those in its attribute of a name.

    None removes one.
    """
    given: list[Mapping[str, ir.Attribute]] = [
        {named.name: named.attr for named in each} for each in get_discardable(fragment, name) or ()
    ]
    old = given or [{} for _ in marks]
    merged = [{**one, **other} for one, other in zip(old, marks, strict=True)]
    set_discardable(fragment, name, dictionaries(merged, fragment.context))
