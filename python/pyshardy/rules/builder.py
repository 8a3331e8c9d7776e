# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building a sharding rule factor by factor."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.model import DimMapping, FactorType, OpShardingRule, TensorMapping
from pyshardy.rules.signature import OperationSignature, RuleError

Dims = Sequence[int | None]
"""For each operand (or result) the dimension that has the factor; None where none has it."""

PASS_THROUGH = FactorType.PASS_THROUGH
REDUCTION = FactorType.REDUCTION
NEED_REPLICATION = FactorType.NEED_REPLICATION
PERMUTATION = FactorType.PERMUTATION


class RuleBuilder:
    """Collects the factors of an operation's rule.

        builder = RuleBuilder(op)              # op: "m k" times "k n"
        builder.factor(m, (0, None), (0,))
        builder.factor(n, (None, 1), (1,))
        builder.factor(k, (1, 0), (None,), REDUCTION)
        builder.build()

    Factors are numbered as they are added. Each dimension without a factor finally gets one of
    size 1 of its own, along which nothing propagates to other tensors.
    """

    def __init__(self, op: OperationSignature):
        self._num_operands = len(op.operands)
        self._operand_shape = op.operand_shape
        self._dims: list[list[list[int]]] = [
            [[] for _ in range(0 if tensor is None else tensor.rank)] for tensor in op.tensors
        ]
        self._sizes: list[int] = []
        self._special: dict[FactorType, list[int]] = {
            REDUCTION: [],
            NEED_REPLICATION: [],
            PERMUTATION: [],
        }
        self._blocked: list[int] = []

    def factor(
        self,
        size: int,
        operands: Dims = (),
        results: Dims = (),
        kind: FactorType = PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> RuleBuilder:
        """Add a factor to at most one dimension of every tensor.

        A factor of size 1 is omitted from dimensions that already have another factor, where it
        would have no effect.

        Args:
            size: the size of the factor.
            operands: the dimension of each operand; operands left out at the end have none.
            results: the dimension of each result, likewise.
            kind: the kind of the factor.
            blocked: whether nothing may propagate along the factor.

        Raises:
            RuleError: a tensor or a dimension does not exist.
        """
        factor = self._new(size, kind, blocked)
        for first, dims in ((0, operands), (self._num_operands, results)):
            for tensor, dim in enumerate(dims, first):
                if dim is not None:
                    factors = self._factors(tensor, dim)
                    if not (size == 1 and factors):
                        factors.append(factor)
        return self

    def point_factor(
        self,
        dim: int,
        size: int,
        kind: FactorType = PASS_THROUGH,
        *,
        blocked: bool = False,
        on_operands: bool = True,
        on_results: bool = True,
    ) -> RuleBuilder:
        """Add a factor to dimension `dim` of every tensor that isn't a scalar.

        Args:
            dim: the dimension.
            size: the size of the factor.
            kind: the kind of the factor.
            blocked: whether nothing may propagate along the factor.
            on_operands: whether operands have it.
            on_results: whether results have it.

        Raises:
            RuleError: a tensor that is not a scalar lacks the dimension.
        """
        factor = self._new(size, kind, blocked)
        first = 0 if on_operands else self._num_operands
        end = len(self._dims) if on_results else self._num_operands
        for tensor in range(first, end):
            if self._dims[tensor]:
                self._factors(tensor, dim).append(factor)
        return self

    def pointwise(self, shape: Sequence[int]) -> RuleBuilder:
        """Add a pass-through point factor for each dimension of `shape`."""
        for dim, size in enumerate(shape):
            self.point_factor(dim, size)
        return self

    def pointwise_where_equal(
        self,
        shape: Sequence[int],
        other: Sequence[int],
        kind: FactorType,
        *,
        blocked: bool = False,
    ) -> RuleBuilder:
        """Add a point factor for each dimension, pass-through where both shapes have equal sizes.

        Args:
            shape: the sizes of the factors.
            other: the shape to compare with.
            kind: the kind of factors of dimensions whose sizes differ.
            blocked: whether nothing may propagate along such a dimension.

        Raises:
            RuleError: the shapes don't have the same number of dimensions.
        """
        if len(shape) != len(other):
            raise RuleError(f"shapes {list(shape)} and {list(other)} must have the same rank")
        for dim, (size, other_size) in enumerate(zip(shape, other, strict=True)):
            if size == other_size:
                self.point_factor(dim, size)
            else:
                self.point_factor(dim, size, kind, blocked=blocked)
        return self

    def replicated_operands(self, *operands: int) -> RuleBuilder:
        """Add a need-replication factor to each dimension of the given operands.

        These are parameters of the operation that all devices need, such as sizes and offsets.
        """
        for operand in operands:
            for dim, size in enumerate(self._operand_shape(operand)):
                self.factor(size, (*[None] * operand, dim), kind=NEED_REPLICATION)
        return self

    def build(self) -> OpShardingRule:
        """The rule."""
        for dims in self._dims:
            for factors in dims:
                if not factors:
                    factors.append(self._new(1, PASS_THROUGH, False))
        mappings = tuple(
            TensorMapping(tuple(DimMapping(tuple(factors)) for factors in dims))
            for dims in self._dims
        )
        return OpShardingRule(
            tuple(self._sizes),
            mappings[: self._num_operands],
            mappings[self._num_operands :],
            tuple(self._special[REDUCTION]),
            tuple(self._special[NEED_REPLICATION]),
            tuple(self._special[PERMUTATION]),
            tuple(self._blocked),
        )

    def _factors(self, tensor: int, dim: int) -> list[int]:
        """Return the factors of a dimension.

        Args:
            tensor: the position among operands, then results.
            dim: the dimension.
        """
        is_operand = tensor < self._num_operands
        index = tensor if is_operand else tensor - self._num_operands
        what = f"{'operand' if is_operand else 'result'} {index}"
        if tensor >= len(self._dims):
            raise RuleError(f"the rule refers to {what}, which the operation does not have")
        if not -len(self._dims[tensor]) <= dim < len(self._dims[tensor]):
            raise RuleError(
                f"the rule refers to dimension {dim} of {what}, whose rank is "
                f"{len(self._dims[tensor])}"
            )
        return self._dims[tensor][dim]

    def _new(self, size: int, kind: FactorType, blocked: bool) -> int:
        factor = len(self._sizes)
        self._sizes.append(size)
        if kind is not PASS_THROUGH:
            self._special[kind].append(factor)
        if blocked:
            self._blocked.append(factor)
        return factor


def pointwise(op: OperationSignature) -> OpShardingRule | None:
    """Return the rule with a factor for each dimension of the first result, in all tensors."""
    result = op.results[0] if op.results else None
    return None if result is None else RuleBuilder(op).pointwise(result.shape).build()


def identity_rule(shape: Sequence[int], num_operands: int = 1) -> OpShardingRule:
    """Return the rule that relates tensors of one shape dimension by dimension."""
    mapping = TensorMapping(tuple(DimMapping((dim,)) for dim in range(len(shape))))
    return OpShardingRule(tuple(shape), (mapping,) * num_operands, (mapping,))
