# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a function has values that are unreduced, or on a single device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.values import SHARDING, argument_shardings, result_shardings
from pyshardy.partition.single_device import is_on_single_device


def has_special_shardings(function: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether any value is unreduced, or on a single device. Most programs have no such values."""
    known: dict[ir.Attribute, bool] = {}

    def are_special(shardings: Iterable[TensorSharding | None]) -> bool:
        return any(
            sharding is not None
            and (bool(sharding.unreduced_axes) or is_on_single_device(sharding, meshes))
            for sharding in shardings
        )

    def is_special(attribute: ir.Attribute) -> bool:
        special = known.get(attribute)
        if special is None:
            value = value_of(attribute)
            shardings = (value,) if isinstance(value, TensorSharding) else value.shardings
            special = known[attribute] = are_special(shardings)
        return special

    def in_block(block: ir.Block) -> bool:
        for view in block.operations:
            operation = view.operation
            attributes = operation.attributes
            if SHARDING in attributes and is_special(attributes[SHARDING]):
                return True
            if operation.name in _HOLDERS:
                for name in _HOLDERS[operation.name]:
                    if name in attributes and is_special(attributes[name]):
                        return True
            for region in operation.regions:
                if any(in_block(inner) for inner in region.blocks):
                    return True
        return False

    return are_special((*argument_shardings(function), *result_shardings(function))) or any(
        map(in_block, function.regions[0].blocks)
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
