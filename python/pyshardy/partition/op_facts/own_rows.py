# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of which devices use only the rows of their own groups.

    %1 = "chlo.ragged_dot"(%x, %w, %sizes)    // %w is sharded by groups along "x"
    %2 = sdy.all_reduce {"x"} %1
    %3 = stablehlo.tanh %2
    %4 = "chlo.ragged_dot"(%3, %v, %sizes)    // %v, too

On each device, %1 has the rows of the groups of the device, and zeros otherwise. The second product
takes the same rows of %3, which depend on the same rows of %2 only: the all-reduce is unnecessary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, OpShardingRule
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import producer
from mlir_sdy.values import get_sharding
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.stablehlo_views import RaggedDotView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.rules import ShardingRuleLookup

_COPIES = frozenset(
    {
        "sdy.all_gather",
        "sdy.all_reduce",
        "sdy.all_slice",
        "sdy.all_to_all",
        "sdy.collective_permute",
        "sdy.reshard",
    }
)
"""Operations whose result is their operand, or a sum of it over devices."""


class _Groups(NamedTuple):
    """The groups of the rows of a product.

    Attributes:
        sizes: the sizes of all groups, before reshards.
        axes: the axes by which groups are sharded.
    """

    sizes: ir.Value
    axes: AxisTuple


class _Rows(NamedTuple):
    """A tensor with rows of groups.

    Attributes:
        value: the tensor.
        dims: the dimensions along which groups have sizes of their own, then that of rows.
    """

    value: ir.Value
    dims: tuple[int, ...]


def uses_own_rows_only(product: ir.Operation, rules: ShardingRuleLookup) -> bool:
    """Whether each device uses only the rows of its own groups of a product.

    1. The product is a `chlo.ragged_dot` whose ragged dimension is not contracting.
    2. Each of its uses is, through operations that compute a row from the same row of their
       operands, an operand of such products of the same groups, where it has the same rows. These
       may contract the rows.
    3. The groups of these products are sharded along the same axes.
    4. Reshards and all-reduces on the way, except for the completion of the product, are between
       devices of the same groups.

    Args:
        product: the operation.
        rules: the sharding rules; by these, a row depends on the same row of operands if all its
            dimensions are factors that pass through.
    """
    if product.name != RAGGED_DOT:
        return False
    numbers = RaggedDotView(product).ragged_dot_dimension_numbers
    if numbers.is_contracting or numbers.is_batching:
        return False
    rank = len(shape_of(product.operands[0].type))
    dims = [numbers.result_dim(dim, rank) for dim in _row_dims(product)]
    groups = _groups_of(product)
    waiting = [_Rows(product.results[0], tuple(dim for dim in dims if dim is not None))]
    seen: set[ir.Value] = set()
    while waiting:
        rows = waiting.pop()
        if rows.value in seen:
            continue
        seen.add(rows.value)
        if not any(rows.value.uses):
            return False
        for use in rows.value.uses:
            user = use.owner.operation
            if user.name == RAGGED_DOT and use.operand_number < 2:
                taken = _rows_taken(user, use.operand_number)
                if taken != rows.dims or _groups_of(user) != groups:
                    return False
                continue
            found = list(_computed(user, use.operand_number, rows, rules, groups.axes))
            if not found:
                return False
            waiting += found
    return True


def group_axes(product: ir.Operation) -> AxisTuple:
    """Return the axes along which the groups of a product are sharded."""
    return _groups_of(product).axes


def _row_dims(product: ir.Operation) -> tuple[int, ...]:
    """Return the dimensions of the left operand that tell rows of groups."""
    numbers = RaggedDotView(product).ragged_dot_dimension_numbers
    lhs, _, sizes = (shape_of(operand.type) for operand in product.operands)
    apart = numbers.sized_apart(len(lhs)) if len(sizes) > 1 else ()
    return (*apart, *numbers.lhs_ragged)


def _rows_taken(product: ir.Operation, operand: int) -> tuple[int | None, ...]:
    """Return the dimensions of an operand whose rows a product takes by groups; none otherwise."""
    numbers = RaggedDotView(product).ragged_dot_dimension_numbers
    if numbers.is_batching:
        return ()
    if operand == 0:
        return _row_dims(product)
    if numbers.is_contracting:
        return tuple(numbers.rhs_dim(dim) for dim in _row_dims(product))
    return ()


def _groups_of(product: ir.Operation) -> _Groups:
    numbers = RaggedDotView(product).ragged_dot_dimension_numbers
    sizes = product.operands[2]
    while not isinstance(sizes, ir.BlockArgument) and sizes.owner.operation.name in _COPIES:
        sizes = sizes.owner.operation.operands[0]
    with_groups, dim = (
        (product.results[0], 0)
        if numbers.is_contracting
        else (product.operands[1], *numbers.rhs_group)
    )
    sharding = get_sharding(with_groups)
    return _Groups(sizes, () if sharding is None else sharding.dim_axes[dim])


def _computed(
    user: ir.Operation, operand: int, rows: _Rows, rules: ShardingRuleLookup, group_axes: AxisTuple
) -> Iterator[_Rows]:
    """Yield the results that an operation computes row by row; nothing if it doesn't."""
    if user.name in _COPIES:
        axes = [
            axis
            for value in (rows.value, user.results[0])
            if (sharding := get_sharding(value)) is not None
            for axis in sharding.all_axes()
        ]
        if user.name == "sdy.all_reduce" and not _is_product(rows.value):
            axes += value_of(view_as(sdy.AllReduceOp, user).reduction_axes).value
        if {axis.name for axis in axes}.isdisjoint(axis.name for axis in group_axes):
            yield _Rows(user.results[0], rows.dims)
        return
    rule = rules.rule(user)
    if rule is None:
        return
    factors = [_whole_factor(rule, operand, dim) for dim in rows.dims]
    found: list[_Rows] = []
    for index, result in enumerate(user.results, len(user.operands)):
        dims = [_dim_of(rule, index, factor) for factor in factors]
        known = tuple(dim for dim in dims if dim is not None)
        if len(known) < len(dims):
            return
        found.append(_Rows(result, known))
    yield from found


def _is_product(value: ir.Value) -> bool:
    return producer(value, RAGGED_DOT) is not None


def _whole_factor(rule: OpShardingRule, tensor: int, dim: int) -> int | None:
    """Return the only factor of a dimension, if elements along it are computed apart."""
    factors = rule.mappings[tensor].dim_mappings[dim].factor_indices
    kinds = (
        rule.reduction_factors,
        rule.need_replication_factors,
        rule.permutation_factors,
    )
    if len(factors) != 1 or any(factors[0] in kind for kind in kinds):
        return None
    return factors[0]


def _dim_of(rule: OpShardingRule, tensor: int, factor: int | None) -> int | None:
    """Return the dimension of a tensor that is a factor."""
    for dim, mapping in enumerate(rule.mappings[tensor].dim_mappings):
        if mapping.factor_indices == (factor,):
            return dim
    return None
