# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asking whether a module has shardings of some kind, at a cost that depends on what it has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import (
    SHARDING,
    SHARDING_ENTRIES,
    argument_shardings,
    result_shardings,
)
from pyshardy.passes.walks import operations_named, values_of_attribute


def sharded_operations(
    root: ir.Operation | ir.OpView | ir.Module,
) -> Iterator[tuple[ir.Operation, str, Hashable]]:
    """The operations with `sdy.sharding` in `root`, with their names.

    And with what is equal for those whose results have the same types and shardings. Bodies that
    compute with scalars are left out.
    """
    for operation, name in named_operations_in(root, leaving_out=SCALAR_BODIES):
        attribute = operation.attributes.get(SHARDING)
        if attribute is not None:
            # By address: types and attributes live as long as their context.
            types = [hash(result.type) for result in operation.results]
            yield operation, name, (hash(attribute), *types)


def any_sharding(
    root: ir.Operation | ir.OpView | ir.Module, test: Callable[[TensorSharding], bool]
) -> bool:
    """Whether a sharding written in `root` passes a test, which is asked once for equal lists."""
    if root.operation.name == "func.func" and _any_in_interface(root.operation, test):
        return True
    different = {hash(each): each for each in values_of_attribute(SHARDING, root)}
    for operation in operations_named({"func.func", *SHARDING_ENTRIES}, root):
        if operation.name == "func.func":
            if _any_in_interface(operation, test):
                return True
            continue
        attributes = operation.attributes
        for entry in SHARDING_ENTRIES[operation.name]:
            if entry in attributes:
                attribute = attributes[entry]
                different[hash(attribute)] = attribute
    return any(
        test(sharding)
        for value in map(value_of, different.values())
        for sharding in ((value,) if isinstance(value, TensorSharding) else value.shardings)
    )


def _any_in_interface(function: ir.Operation, test: Callable[[TensorSharding], bool]) -> bool:
    return any(
        sharding is not None and test(sharding)
        for sharding in (*argument_shardings(function), *result_shardings(function))
    )
