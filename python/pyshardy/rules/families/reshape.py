# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that rearrange or repeat elements: reshapes, permutations, broadcasts; and sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.irtools.constants import behind_slice
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, PERMUTATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.reshape", reads=())
def reshape_rule(op: OperationSignature) -> OpShardingRule | None:
    """Common factors of both shapes where their dimensions line up, separate factors elsewhere.

    Tensors without elements have no rule. Separate factors need replication, dimensions of size 1
    included. Where the rests of both current dimensions are coprime, both have one permutation
    factor, along which shards exchange elements.

    Example:
        stablehlo.reshape %a : (tensor<18xf32>) -> tensor<3x1x6xf32>
        // ([ik])->([i, j, k]) {i=3, j=1, k=6} need_replication={j}
        stablehlo.reshape %a : (tensor<2x15xf32>) -> tensor<6x5xf32>
        // ([i, jk])->([ij, k]) {i=2, j=3, k=5}
        stablehlo.reshape %a : (tensor<5x7xf32>) -> tensor<7x5xf32>
        // ([i, j])->([i, k]) {i=5, j=7, k=5} need_replication={j, k} permutation={i}
        stablehlo.reshape %a : (tensor<4x9xf32>) -> tensor<6x6xf32>
        // ([ij, km])->([ij, lm]) {i=2, j=2, k=3, l=2, m=3} need_replication={k, l} permutation={j}
        stablehlo.reshape %a : (tensor<10x9xf32>) -> tensor<6x15xf32>
        // ([ij, lm])->([ij, km]) {i=2, j=5, k=5, l=3, m=3} need_replication={k, l} permutation={j}
    """
    return None if 0 in op.operand_shape() else _reshape(op).build()


def reshape_factors(op: OperationSignature) -> OpShardingRule:
    """Return the rule of a reshape whose shards hold the same data before and after it.

    Factors of only one shape pass through: they divide its own dimensions.

    Example: from 4 x 9 to 6 x 6 elements,
    `([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=3}`.
    """
    return _reshape(op, own_kind=PASS_THROUGH, exchanges=False).build()


@sharding_rule("stablehlo.dynamic_reshape", reads=(), beyond_shardy=True)
def dynamic_reshape_rule(op: OperationSignature) -> OpShardingRule | None:
    """Same rule as for the static operation; all devices need the shape.

    Example:
        stablehlo.dynamic_reshape %a, %b : (tensor<18xf32>, tensor<2xi32>) -> tensor<3x6xf32>
        // ([ij], [k])->([i, j]) {i=3, j=6, k=2} need_replication={k}
    """
    return None if 0 in op.operand_shape() else _reshape(op).replicated_operands(1).build()


def _reshape(
    op: OperationSignature, own_kind: FactorType = NEED_REPLICATION, *, exchanges: bool = True
) -> RuleBuilder:
    """Add the factors of both shapes, from major to minor.

    Args:
        op: the operation.
        own_kind: the kind of factors that only one shape has.
        exchanges: whether dimensions with coprime rests have one factor, along which shards
            exchange elements, instead of one each.
    """
    builder = RuleBuilder(op)
    operand, result = _Side(op.operand_shape()), _Side(op.result_shape())
    while not (operand.is_done and result.is_done):
        if operand.at_size_one:
            builder.factor(1, (operand.take(1),), kind=own_kind)
            continue
        if result.at_size_one:
            builder.factor(1, (), (result.take(1),), own_kind)
            continue
        operand.open()
        result.open()
        if operand.emitted == result.emitted:
            common = math.gcd(operand.left, result.left)
            if common > 1:
                builder.factor(common, (operand.take(common),), (result.take(common),))
            else:
                for_operand, for_result = operand.left, result.left
                dims = (operand.take(for_operand),), (result.take(for_result),)
                if exchanges:
                    builder.factor(for_operand, *dims, PERMUTATION)
                else:
                    builder.factor(for_operand, dims[0], kind=own_kind)
                    builder.factor(for_result, (), dims[1], own_kind)
        elif operand.emitted < result.emitted:
            size = operand.next_own_factor(result)
            builder.factor(size, (operand.take(size),), kind=own_kind)
        else:
            size = result.next_own_factor(operand)
            builder.factor(size, (), (result.take(size),), own_kind)
        operand.close()
        result.close()
    return builder


@dataclass
class _Side:
    """One of the two shapes, visited from major to minor.

    Attributes:
        shape: the sizes of the dimensions.
        dim: the current dimension.
        opened: the product of the sizes of the dimensions opened so far.
        emitted: the product of the factors given to them.
    """

    shape: tuple[int, ...]
    dim: int = 0
    opened: int = 1
    emitted: int = 1

    @property
    def is_done(self) -> bool:
        return self.dim == len(self.shape)

    @property
    def at_size_one(self) -> bool:
        return not self.is_done and self.shape[self.dim] == 1

    @property
    def left(self) -> int:
        """The part of the current dimension's size without a factor."""
        return self.opened // self.emitted

    def open(self) -> None:
        """Begin the current dimension, unless it has begun."""
        if not self.is_done and self.opened == self.emitted:
            self.opened *= self.shape[self.dim]

    def close(self) -> None:
        """Go on to the next dimension if the factors of the current one are complete."""
        if not self.is_done and self.opened == self.emitted:
            self.dim += 1

    def take(self, size: int) -> int:
        """Give a factor to the current dimension; return the dimension."""
        dim = self.dim
        self.emitted *= size
        if size == 1 and self.at_size_one:
            self.dim += 1
        return dim

    def next_own_factor(self, other: _Side) -> int:
        """Return the next factor of this side, which is behind the other.

        It is the factor with which this side catches up, if there is one; otherwise the part of its
        size that is coprime to the other side.
        """
        distance, rest = divmod(other.emitted, self.emitted)
        if rest == 0 and self.left % distance == 0:
            return distance
        common = math.gcd(self.left, other.left)
        return self.left // common if self.left > common else self.left


# --- Permutations ---------------------------------------------------------------------------------


@sharding_rule("stablehlo.transpose", reads=("permutation",))
def transpose_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions are permuted.

    Example:
        stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
        // ([j, k, i])->([i, j, k]) {i=5, j=2, k=3}
    """
    builder = RuleBuilder(op)
    for result_dim, operand_dim in enumerate(op.integers("permutation")):
        builder.factor(op.operand_shape()[operand_dim], (operand_dim,), (result_dim,))
    return builder.build()


@sharding_rule("stablehlo.reverse", reads=("dimensions",))
def reverse_rule(op: OperationSignature) -> OpShardingRule:
    """Shards are permuted along reversed dimensions.

    Example:
        stablehlo.reverse %a, dims = [1] : tensor<4x6xf32>
        // ([i, j])->([i, j]) {i=4, j=6} permutation={j}
    """
    reversed_dims = op.integers("dimensions")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, PERMUTATION if dim in reversed_dims else PASS_THROUGH)
    return builder.build()


# --- Concatenation --------------------------------------------------------------------------------


def _rearranges_slices(operation: ir.Operation) -> bool:
    """Whether a concatenation rearranges parts of tensors.

    1. All operands are slices, or
    2. all are slices of one tensor or, except for at least one slice, the tensor itself.
    """
    found = [behind_slice(operand) for operand in operation.operands]
    if all(is_slice for _, is_slice in found):
        return True
    source = found[0][0]
    return any(is_slice for _, is_slice in found) and all(value == source for value, _ in found)


@sharding_rule("stablehlo.concatenate", reads=("dimension",), observes=_rearranges_slices)
def concatenate_rule(op: OperationSignature) -> OpShardingRule:
    """The concatenated dimension has one factor in all operands and in the result.

    It is a permutation factor if slices are rearranged, since shards exchange elements; otherwise
    it needs replication.

    Example:
        stablehlo.concatenate %a, %b, dim = 1
            : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
        // ([i, j], [i, j])->([i, j]) {i=4, j=8} need_replication={j}
        // conservative: ([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}
    """
    concatenated = op.integer("dimension")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if dim != concatenated:
            builder.point_factor(dim, size, PASS_THROUGH)
        elif not op.conservative:
            builder.point_factor(dim, size, PERMUTATION if op.observed else NEED_REPLICATION)
    return builder.build()


# --- Sizes and positions along one dimension ------------------------------------------------------


@sharding_rule(
    "stablehlo.get_dimension_size",
    "stablehlo.set_dimension_size",
    reads=("dimension",),
    beyond_shardy=True,
)
def dimension_size_rule(op: OperationSignature) -> OpShardingRule:
    """The dimension whose size is read or set needs replication.

    Example:
        stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
        // ([i, j])->([]) {i=4, j=6} need_replication={j}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        kind = NEED_REPLICATION if dim == op.integer("dimension") else PASS_THROUGH
        builder.point_factor(dim, size, kind)
    return builder.build()


@sharding_rule("stablehlo.dynamic_iota", reads=("iota_dimension",), beyond_shardy=True)
def dynamic_iota_rule(op: OperationSignature) -> OpShardingRule:
    """The counted dimension needs replication; all devices need the shape.

    Example:
        stablehlo.dynamic_iota %a, dim = 1 : (tensor<2xi32>) -> tensor<4x6xi32>
        // ([k])->([i, j]) {i=4, j=6, k=2} need_replication={j, k}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        kind = NEED_REPLICATION if dim == op.integer("iota_dimension") else PASS_THROUGH
        builder.factor(size, (), (dim,), kind)
    return builder.replicated_operands(0).build()


# --- Repetition along dimensions ------------------------------------------------------------------


def _broadcast_in_dim(op: OperationSignature) -> RuleBuilder:
    operand_dims = {
        result_dim: dim for dim, result_dim in enumerate(op.integers("broadcast_dimensions"))
    }
    builder = RuleBuilder(op)
    for result_dim, size in enumerate(op.result_shape()):
        dim = operand_dims.get(result_dim)
        if dim is not None and op.operand_shape()[dim] == 1 and size != 1:
            builder.factor(1, (dim,))
            builder.factor(size, (), (result_dim,))
        else:
            builder.factor(size, (dim,), (result_dim,))
    return builder


@sharding_rule("stablehlo.broadcast_in_dim", reads=("broadcast_dimensions",))
def broadcast_in_dim_rule(op: OperationSignature) -> OpShardingRule:
    """Operand dimensions of size 1 that are expanded have factors of their own.

    Example:
        stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<4x1xf32>) -> tensor<6x3x4xf32>
        // ([l, i])->([j, k, l]) {i=1, j=6, k=3, l=4}
    """
    return _broadcast_in_dim(op).build()


@sharding_rule(
    "stablehlo.dynamic_broadcast_in_dim", reads=("broadcast_dimensions",), beyond_shardy=True
)
def dynamic_broadcast_in_dim_rule(op: OperationSignature) -> OpShardingRule:
    """Same rule as for the static operation; all devices need the sizes of the result.

    Example:
        stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [1]
            : (tensor<4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
        // ([j], [k])->([i, j]) {i=6, j=4, k=2} need_replication={k}
    """
    return _broadcast_in_dim(op).replicated_operands(1).build()


@sharding_rule("stablehlo.broadcast", reads=("broadcast_sizes",), beyond_shardy=True)
def broadcast_rule(op: OperationSignature) -> OpShardingRule:
    """New dimensions precede those of the operand.

    Example:
        stablehlo.broadcast %a, sizes = [6] : (tensor<4xf32>) -> tensor<6x4xf32>
        // ([j])->([i, j]) {i=6, j=4}
    """
    num_new = len(op.integers("broadcast_sizes"))
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.factor(size, (dim - num_new if dim >= num_new else None,), (dim,))
    return builder.build()


BROADCASTING_OPERATIONS = tuple(
    f"chlo.broadcast_{name}"
    for name in """
        add and atan2 compare complex divide maximum minimum multiply next_after or polygamma power
        remainder select shift_left shift_right_arithmetic shift_right_logical subtract xor zeta
    """.split()  # noqa: SIM905 (a list would be taller than the screen)
)
"""Operations that repeat their operands to the shape of the result."""


@sharding_rule(
    *BROADCASTING_OPERATIONS,
    reads=("broadcast_dimensions",),
    beyond_shardy=True,
)
def broadcasting_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions are counted from the last one, unless `broadcast_dimensions` says otherwise.

    Example:
        chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
        // ([i, k], [j])->([i, j]) {i=4, j=6, k=1} need_replication={k}
    """
    shape = op.result_shape()
    given = op.integers("broadcast_dimensions")
    builder = RuleBuilder(op)
    dims: list[dict[int, int]] = []
    for index in range(len(op.operands)):
        rank = len(op.operand_shape(index))
        is_lower = rank < len(shape)
        targets = given if given and is_lower else range(len(shape) - rank, len(shape))
        dims.append({target: dim for dim, target in enumerate(targets)})
    for target, size in enumerate(shape):
        shared = [
            dim if dim is not None and op.operand_shape(index)[dim] == size else None
            for index, dim in enumerate(of.get(target) for of in dims)
        ]
        builder.factor(size, shared, (target,))
    for index, of in enumerate(dims):
        for target, dim in of.items():
            if op.operand_shape(index)[dim] != shape[target]:
                builder.factor(1, (*[None] * index, dim), kind=NEED_REPLICATION)
    return builder.build()
