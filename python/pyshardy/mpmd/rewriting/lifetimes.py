# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Last uses of values on meshes, their memory, and marks of who may take it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import body_of, operations_of
from mlir_sdy.mpmd.values import Topology
from pyshardy.irtools.tensor_types import element_bytes
from pyshardy.mpmd.rewriting.functions import dictionaries

ALIASES = "tf.aliasing_output"
"""The attribute of an argument with the number of the result that takes its memory."""

DONATED = "jax.buffer_donor"
"""The attribute of an argument whose memory may be reused."""

LAYOUT_MODE = "mhlo.layout_mode"
"""The attribute of an argument or result with its layout in memory, for C++ Shardy's runtime."""


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
