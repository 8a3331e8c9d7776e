# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asking whether a module has shardings of some kind, at a cost that depends on what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.values import (
    SHARDING,
    SHARDING_ENTRIES,
    argument_shardings,
    result_shardings,
)
from pyshardy.passes.walks import operations_named, values_of_attribute


def any_sharding(
    root: ir.Operation | ir.OpView | ir.Module, test: Callable[[TensorSharding], bool]
) -> bool:
    """Whether a sharding written in `root` passes a test, which is asked once for equal lists."""
    functions = operations_named({"func.func"}, root)
    if root.operation.name == "func.func":
        functions.append(root.operation)
    interfaces = (
        sharding
        for function in functions
        for sharding in (*argument_shardings(function), *result_shardings(function))
    )
    if any(sharding is not None and test(sharding) for sharding in interfaces):
        return True
    different = {hash(attribute): attribute for attribute in _attributes(root)}
    return any(
        test(sharding)
        for value in map(value_of, different.values())
        for sharding in ((value,) if isinstance(value, TensorSharding) else value.shardings)
    )


def _attributes(root: ir.Operation | ir.OpView | ir.Module) -> Iterator[ir.Attribute]:
    """The attributes of operations that hold shardings."""
    yield from values_of_attribute(SHARDING, root)
    for operation in operations_named(SHARDING_ENTRIES, root):
        attributes = operation.attributes
        for entry in SHARDING_ENTRIES[operation.name]:
            if entry in attributes:
                yield attributes[entry]
