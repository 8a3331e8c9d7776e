# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of shard operations with their origin in an sdy program."""

from __future__ import annotations

from mlir_sdy.discardable import set_discardable, text_of
from mlir_sdy.host import ir

AXIS_NAMES = "sdy.axis_names"
"""The attribute of a grid with the name of the mesh axis that each of its axes belongs to."""

ORIGIN = "sdy.origin"
"""The attribute of an annotation with the name of its original operation."""

ORIGINS = frozenset({"sdy.reshard", "sdy.sharding_constraint"})
"""The operations that become annotations."""


def origin_of(annotation: ir.Operation) -> str | None:
    """Return the sdy operation that became a `shard.shard`; None if it was a value's sharding."""
    origin = text_of(annotation, ORIGIN)
    return origin if origin in ORIGINS else None


def copy_other_attributes(source: ir.Operation, target: ir.Operation) -> None:
    """Copy the discardable attributes of a mesh or a grid."""
    for name, attribute in source.attributes.items():
        if name not in {"sym_name", "mesh", "shape", AXIS_NAMES}:
            set_discardable(target, name, attribute)
