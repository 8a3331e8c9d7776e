# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-enforce-user-shardings`."""

from __future__ import annotations

from collections import defaultdict
from itertools import takewhile

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, mesh_type, returned_values
from mlir_sdy.values import (
    argument_shardings,
    result_shardings,
    set_argument_shardings,
    set_body_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.pipeline import register_pass


@register_pass("mpmd-enforce-user-shardings", release="0.10.2")
def enforce_user_shardings(module: ir.Module) -> None:
    """Make fragments take arguments, and make results, with the shardings of the function.

    A sharding of the function loses sub-axes at the end of dimensions, with a warning.
    """
    cache = AttributeCache(module.context)
    for function in mpmd_functions(module):
        arguments = _without_sub_axes(function, "argument", argument_shardings(function))
        results = _without_sub_axes(function, "result", result_shardings(function))
        set_argument_shardings(function, arguments, cache)
        set_result_shardings(function, results, cache)
        returned = returned_values(function)
        values: dict[ir.Value, TensorSharding | None] = {}
        values.update(zip(body_of(function).arguments, arguments.values(), strict=True))
        # Fragments may have hundreds of operands and results, whose shardings are one attribute.
        made: defaultdict[ir.Operation, dict[int, TensorSharding]] = defaultdict(dict)
        taken: defaultdict[ir.Operation, dict[int, TensorSharding]] = defaultdict(dict)
        for value, sharding in zip(returned, results.values(), strict=True):
            if sharding is None or isinstance(value.owner, ir.Block):
                continue
            if mesh_type(value) is not None:
                made[value.owner.operation][ir.OpResult(value).result_number] = sharding
                values[value] = sharding
        for value, sharding in values.items():
            for use in value.uses:
                user = use.owner.operation
                if sharding is not None and user.name == FRAGMENT:
                    taken[user][use.operand_number] = sharding
        for operation, shardings in made.items():
            set_result_shardings_of(operation, shardings, cache)
        for operation, shardings in taken.items():
            set_body_argument_shardings(operation, shardings, cache)


def _without_sub_axes(
    function: ir.Operation, what: str, shardings: list[TensorSharding | None]
) -> dict[int, TensorSharding | None]:
    """Return shardings without sub-axes at the end of dimensions."""
    found: dict[int, TensorSharding | None] = {}
    for index, sharding in enumerate(shardings):
        found[index] = None if sharding is None else _cut(sharding)
        if found[index] != sharding:
            message = f"{what} {index} is sharded by {found[index]}, without the sub-axes"
            emit(warning(f"{message} of {sharding}", location_of(function.location)))
    return found


def _cut(sharding: TensorSharding) -> TensorSharding:
    dims = [
        dim.with_axes(tuple(takewhile(lambda axis: axis.sub_axis_info is None, dim.axes)))
        for dim in sharding.dim_shardings
    ]
    return sharding.with_dims(tuple(dims))
