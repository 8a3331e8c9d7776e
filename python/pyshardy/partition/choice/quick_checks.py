# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quick checks of programs and operations, before shardings are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from mlir_sdy.attribute_search import values_of_attribute
from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    SHARDING,
    argument_shardings,
    result_shardings,
    sharding_attributes,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.types.single_device import is_on_single_device
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules.families.reshape import BROADCASTING_OPERATIONS
from pyshardy.rules.own_rules import SHARDING_RULE

# --- Elementwise operations -----------------------------------------------------------------------


_QUANTIZING = ("stablehlo.uniform_dequantize", "stablehlo.uniform_quantize")
_OF_ONE_SHAPE = ELEMENTWISE_OPERATIONS.difference(BROADCASTING_OPERATIONS, _QUANTIZING)


def is_compatible_already(
    operation: ir.Operation,
    name: str,
    results: Sequence[TensorSharding | None],
    known: Mapping[ir.Value, TensorSharding | None],
) -> bool:
    """Whether an operation is elementwise and all its tensors have equal shardings.

    This quick check covers most operations of a program. No tensor may be unreduced. Equal
    shardings prove nothing where tensors have different shapes, as for an implicit broadcast.

    Args:
        operation: the operation.
        name: its name.
        results: the shardings of its results.
        known: the shardings of all values.
    """
    if name not in _OF_ONE_SHAPE:
        return False
    (sharding,) = results
    for operand in operation.operands:
        if known[operand] is not sharding:
            return False
    return not has_discardable(operation, SHARDING_RULE)


# --- Unreduced values, and those on a single device -----------------------------------------------


def has_unreduced_or_maximal(
    function: ir.Operation,
    meshes: Mapping[str, Mesh],
    lists: Iterable[Iterable[TensorSharding]] | None = None,
) -> bool:
    """Whether any value is unreduced, or on a single device. Most programs have no such values.

    Args:
        function: the `func.func`.
        meshes: the meshes of the module by name.
        lists: the different lists of shardings at operations of other dialects, except data-flow
            operations; computed if not given.
    """
    shardings = [*argument_shardings(function), *result_shardings(function)]
    attributes: list[ir.Attribute | None] = []
    if lists is None:
        attributes += values_of_attribute(SHARDING, function)
    else:
        shardings += chain.from_iterable(lists)
    for operation in operations_named(_HOLDERS, function):
        attributes += sharding_attributes(operation)
    for attribute in attributes:
        if attribute is not None:
            value = value_of(attribute)
            shardings += (value,) if isinstance(value, TensorSharding) else value.shardings
    return any(
        bool(sharding.unreduced_axes) or is_on_single_device(sharding, meshes)
        for sharding in shardings
        if sharding is not None
    )


_OF_DIALECT = ("sharding", "out_sharding", "in_shardings", "out_shardings")

_HOLDERS = dict.fromkeys(DATA_FLOW_OPERATIONS, (SHARDING,)) | {
    name: (
        SHARDING,
        *(entry.name for entry in declaration.attributes if entry.name in _OF_DIALECT),
    )
    for name, declaration in OPERATIONS.items()
}
"""The attributes with shardings of operations whose results may have them elsewhere."""
