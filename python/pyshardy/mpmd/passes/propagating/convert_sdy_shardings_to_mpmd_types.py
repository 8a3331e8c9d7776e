# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-convert-sdy-shardings-to-mpmd-types`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, mesh_type, returned_values
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.values import (
    OWN_SHARDING,
    SHARDING,
    argument_shardings,
    body_argument_shardings,
    result_shardings_of,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.pipeline import register_pass


@register_pass("mpmd-convert-sdy-shardings-to-mpmd-types", release="0.10.2")
def convert_sdy_shardings_to_mpmd_types(module: ir.Module) -> None:
    """Put the shardings of values on meshes into their types, instead of attributes.

    An argument of the function without a sharding has that with which fragments take it.
    """
    cache = AttributeCache(module.context)
    for function in mpmd_functions(module):
        arguments = list(body_of(function).arguments)
        given = argument_shardings(function)
        _set_types(
            arguments,
            [each or _taken(argument) for each, argument in zip(given, arguments, strict=True)],
            cache,
        )
        for operation in top_level_operations(function):
            _set_types(list(operation.results), result_shardings_of(operation), cache)
            if operation.name == FRAGMENT:
                for name in ("in_shardings", "out_shardings"):
                    remove_discardable(operation, name)
        set_argument_shardings(function, dict.fromkeys(range(len(arguments))), cache)
        update_type(function)
        results = len(returned_values(function))
        set_result_shardings(function, dict.fromkeys(range(results)), cache)
        for operation, name in named_operations_in(function):
            if name not in OWN_SHARDING:
                remove_discardable(operation, SHARDING)


def _taken(argument: ir.BlockArgument) -> TensorSharding | None:
    """Return the sharding with which fragments take an argument, if any has one."""
    for use in argument.uses:
        user = use.owner.operation
        if user.name == FRAGMENT and (shardings := body_argument_shardings(user)):
            return shardings[use.operand_number]
    return None


def _set_types(
    values: Sequence[ir.Value], shardings: Sequence[TensorSharding | None], cache: AttributeCache
) -> None:
    for value, sharding in zip(values, shardings, strict=False):
        found = mesh_type(value)
        if found is not None and sharding is not None:
            value.set_type(found.replaced(sharding=cache[sharding]))
