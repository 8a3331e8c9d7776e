# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that take over the shardings that propagation has found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.building import attributes_of
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, mesh_type, returned_values
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    OWN_SHARDING,
    SHARDING,
    argument_shardings,
    body_argument_shardings,
    get_sharding,
    result_shardings,
    result_shardings_of,
    set_argument_shardings,
    set_body_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.irtools.functions import update_type
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import entry_points, mpmd_functions, top_level_operations
from pyshardy.pipeline import register_pass


@register_pass("mpmd-populate-unreduced-out-sharding", release="0.10.2")
def populate_unreduced_out_sharding(module: ir.Module) -> None:
    """Set the unreduced axes of results of fragments to those of the values they return.

    Unreduced axes don't propagate; a result whose value in the body has partial sums keeps them.
    """
    for fragment in operations_named({FRAGMENT}, module):
        changed: dict[int, TensorSharding] = {}
        values = returned_values(fragment)
        given = result_shardings_of(fragment) or [None] * len(values)
        for index, (sharding, value) in enumerate(zip(given, values, strict=True)):
            inner = get_sharding(value)
            if inner is None or not inner.unreduced_axes:
                continue
            if sharding is None:
                changed[index] = inner
            elif not sharding.unreduced_axes:
                changed[index] = replace(
                    sharding,
                    unreduced_axes=inner.unreduced_axes,
                    reduction_kind=inner.reduction_kind,
                )
        if changed:
            set_result_shardings_of(fragment, changed)


@register_pass("mpmd-enforce-user-shardings", release="0.10.2")
def enforce_user_shardings(module: ir.Module) -> None:
    """Make fragments take arguments, and make results, with the shardings of the function.

    A sharding of the function loses sub-axes at the end of dimensions, with a warning.
    """
    cache = AttributeCache(module.context)
    for function in entry_points(module):
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


@register_pass("mpmd-convert-sdy-constants", release="0.10.2")
def convert_sdy_constants(module: ir.Module) -> None:
    """Convert the constants of sdy, which propagation leaves, to those of StableHLO."""
    for constant in operations_named({"sdy.constant"}, module):
        with ir.InsertionPoint(constant), constant.location:
            built = ir.Operation.create(
                "stablehlo.constant",
                results=[constant.results[0].type],
                attributes=attributes_of(constant),
            )
        replace_by(constant, built.results[0])
