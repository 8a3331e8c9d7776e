# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations of the shard dialect remember of the sdy program that they were made of."""

from __future__ import annotations

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir

AXIS_NAMES = "sdy.axis_names"
"""The attribute of a grid with the name of the mesh axis that each of its axes belongs to."""

ORIGIN = "sdy.origin"
"""The attribute of an annotation with the name of the operation that it was."""

ORIGINS = frozenset({"sdy.reshard", "sdy.sharding_constraint"})
"""The operations that become annotations."""


def origin_of(annotation: ir.Operation) -> str | None:
    """The sdy operation that a `shard.shard` was made of; None for that of a value's sharding."""
    origin = text_of(annotation.attributes, ORIGIN)
    return origin if origin in ORIGINS else None


def copy_other_attributes(source: ir.Operation, target: ir.Operation) -> None:
    """Hand on the attributes of a mesh or a grid that are not its own."""
    for name, attribute in source.attributes.items():
        if name not in {"sym_name", "mesh", "shape", AXIS_NAMES}:
            target.attributes[name] = attribute
