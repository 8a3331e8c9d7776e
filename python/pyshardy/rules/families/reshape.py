# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes: the common factors of the dimensions before and after."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.model import FactorType, OpShardingRule
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
