# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a function has values that are unreduced, or on a single device."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.traversal import SCALAR_BODIES, operations_in
from mlir_sdy.values import SHARDING, argument_shardings, result_shardings
from pyshardy.partition.single_device import is_on_single_device
from pyshardy.passes.walks import operations_named


def has_special_shardings(function: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether any value is unreduced, or on a single device. Most programs have no such values."""
    found: dict[int, ir.Attribute] = {}  # by their address, as most stand at many operations
    for operation in operations_in(function, leaving_out=SCALAR_BODIES):
        attribute = operation.attributes.get(SHARDING)
        if attribute is not None:
            found[hash(attribute)] = attribute
    for operation in operations_named(_HOLDERS, function):
        for name in _HOLDERS[operation.name]:
            attribute = operation.attributes.get(name)
            if attribute is not None:
                found[hash(attribute)] = attribute
    shardings = [*argument_shardings(function), *result_shardings(function)]
    for attribute in found.values():
        value = value_of(attribute)
        shardings += (value,) if isinstance(value, TensorSharding) else value.shardings
    return any(
        bool(sharding.unreduced_axes) or is_on_single_device(sharding, meshes)
        for sharding in shardings
        if sharding is not None
    )


_HOLDERS = {
    name: tuple(
        attribute.name
        for attribute in declaration.attributes
        if attribute.name in ("sharding", "out_sharding", "in_shardings", "out_shardings")
    )
    for name, declaration in OPERATIONS.items()
}
"""The attributes of the dialect's own operations that hold shardings."""
