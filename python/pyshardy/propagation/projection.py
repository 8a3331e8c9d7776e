# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of dimensions as shardings of factors, and back.

A sharding rule maps each dimension to factors, so the axes of a dimension can be distributed to
its factors. By factors, the shardings of all operands and results of an operation are comparable;
propagation and the partitioner work on this projection. Collecting the axes of the factors gives
the new shardings of the dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    DimensionSharding,
    Mesh,
    OpShardingRule,
    ReductionOp,
    TensorMapping,
    TensorSharding,
    add_or_merge,
    common_prefix,
    is_strict_prefix,
)


@dataclass(frozen=True, slots=True)
class FactorSharding:
    """The sharding of a tensor along a factor.

    Attributes:
        axes: the axes of the factor, major to minor.
        is_closed: whether the factor may not be sharded further.
        is_minor_most: whether it is the last factor of its dimension.
        overflow_axes: axes of the dimension that neither this factor nor a later one can take.
    """

    axes: AxisTuple = ()
    is_closed: bool = False
    is_minor_most: bool = True
    overflow_axes: AxisTuple = ()


@dataclass(slots=True)
class TensorProjection:
    """The sharding of one tensor by factors.

    A factor that is not in `factors` counts as one that the tensor does not have. Propagation
    changes only `factors`.
    """

    factors: dict[int, FactorSharding] = field(default_factory=dict[int, FactorSharding])
    replicated_axes: AxisTuple = ()
    unreduced_axes: AxisTuple = ()
    reduction_kind: ReductionOp = ReductionOp.SUM

    @classmethod
    def of(
        cls,
        mapping: TensorMapping,
        factor_sizes: Sequence[int],
        sharding: TensorSharding | None,
        mesh: Mesh,
        *,
        closed_if_missing: bool = False,
    ) -> TensorProjection:
        """Distribute the axes of each dimension to its factors; see `deal_axes`.

        Without a sharding no factor has axes, and all are open unless `closed_if_missing`.
        """
        if sharding is None:
            unsharded = DimensionSharding((), closed_if_missing)
            tensor, dims = cls(), (unsharded,) * mapping.rank
        else:
            dims = sharding.dim_shardings
            tensor = cls(
                {}, sharding.replicated_axes, sharding.unreduced_axes, sharding.reduction_kind
            )
        for dim, dim_mapping in zip(dims, mapping.dim_mappings, strict=True):
            tensor.factors.update(deal_axes(dim, dim_mapping.factor_indices, factor_sizes, mesh))
        return tensor

    def axes(self, factor: int) -> AxisTuple:
        """Return the axes along `factor`; none if the tensor does not have it."""
        known = self.factors.get(factor)
        return () if known is None else known.axes

    def expand(self, factor: int, axes: AxisTuple) -> bool:
        """Shard `factor` by `axes` if these extend its axes; return whether they did."""
        known = self.factors.get(factor)
        if known is None or not is_strict_prefix(known.axes, axes):
            return False
        self.factors[factor] = replace(known, axes=axes)
        return True

    def update(self, factor: int, axes: AxisTuple, overflow_axes: AxisTuple = ()) -> bool:
        """Overwrite the axes of `factor`, if the tensor has it; return whether they changed."""
        known = self.factors.get(factor)
        if known is None or (known.axes == axes and known.overflow_axes == overflow_axes):
            return False
        self.factors[factor] = replace(known, axes=axes, overflow_axes=overflow_axes)
        return True

    @property
    def has_overflow(self) -> bool:
        """Whether some axes could not be assigned to any factor."""
        return any(sharding.overflow_axes for sharding in self.factors.values())

    def sharding_size(self, mesh: Mesh) -> int:
        """The number of shards of the tensor, overflow axes included."""
        return math.prod(
            mesh.axes_size(sharding.axes) * mesh.axes_size(sharding.overflow_axes)
            for sharding in self.factors.values()
        )

    def sharding(
        self,
        mapping: TensorMapping,
        factor_sizes: Sequence[int],
        mesh_or_ref: str | Mesh,
        mesh: Mesh,
    ) -> TensorSharding:
        """Return the sharding by dimensions, without priorities; see `gather_axes`.

        Args:
            mapping: the factors of each dimension.
            factor_sizes: the size of each factor of the rule.
            mesh_or_ref: the mesh or mesh name to write in the sharding.
            mesh: the mesh.
        """
        return TensorSharding(
            mesh_or_ref,
            tuple(
                gather_axes(self.factors, dim.factor_indices, factor_sizes, mesh)
                for dim in mapping.dim_mappings
            ),
            self.replicated_axes,
            self.unreduced_axes,
            self.reduction_kind,
        )


@dataclass(slots=True)
class ShardingProjection:
    """The shardings of all operands, then results, of one operation by factors."""

    tensors: list[TensorProjection]
    num_operands: int

    @classmethod
    def of(
        cls,
        rule: OpShardingRule,
        shardings: Sequence[TensorSharding | None],
        mesh: Mesh,
        *,
        closed_if_missing: bool = False,
    ) -> ShardingProjection:
        """Project the shardings of all operands, then results, all of them on `mesh`.

        Args:
            rule: the rule of the operation.
            shardings: a sharding or None for each mapping of the rule.
            mesh: the mesh that all of them refer to.
            closed_if_missing: whether tensors without a sharding may not be sharded.
        """
        return cls(
            [
                TensorProjection.of(
                    mapping,
                    rule.factor_sizes,
                    sharding,
                    mesh,
                    closed_if_missing=closed_if_missing,
                )
                for mapping, sharding in zip(rule.mappings, shardings, strict=True)
            ],
            len(rule.operand_mappings),
        )

    @classmethod
    def from_factor_axes(
        cls, rule: OpShardingRule, axes_per_factor: Sequence[AxisTuple]
    ) -> ShardingProjection:
        """Shard all tensors by the given axes along each factor, closed and without overflow."""
        return cls(
            [
                TensorProjection(
                    {
                        factor: FactorSharding(
                            axes_per_factor[factor], True, dim.is_minor_most(factor)
                        )
                        for dim in mapping.dim_mappings
                        for factor in dim.factor_indices
                    }
                )
                for mapping in rule.mappings
            ],
            len(rule.operand_mappings),
        )

    @property
    def operands(self) -> list[TensorProjection]:
        """The projections of the operands."""
        return self.tensors[: self.num_operands]

    @property
    def results(self) -> list[TensorProjection]:
        """The projections of the results."""
        return self.tensors[self.num_operands :]

    def expand(self, factor: int, axes: AxisTuple) -> list[int]:
        """Expand `factor` in every tensor; return the positions of those that took the axes."""
        return [at for at, tensor in enumerate(self.tensors) if tensor.expand(factor, axes)]

    def update(self, factor: int, axes: AxisTuple, overflow_axes: AxisTuple = ()) -> list[int]:
        """Overwrite `factor` in the tensors that have it; return the positions of changed ones."""
        return [
            at
            for at, tensor in enumerate(self.tensors)
            if tensor.update(factor, axes, overflow_axes)
        ]

    def greatest_common_prefix(self, factor: int) -> AxisTuple:
        """Return the longest common prefix of the axes of `factor` in the tensors that have it."""
        lists = [tensor.factors[factor].axes for tensor in self.having(factor)]
        prefix = lists[0] if lists else ()
        for axes in lists[1:]:
            prefix = common_prefix(prefix, axes)
        return prefix

    def having(self, factor: int) -> Iterator[TensorProjection]:
        """Return the tensors that have `factor`."""
        return (tensor for tensor in self.tensors if factor in tensor.factors)

    def sharding(
        self, rule: OpShardingRule, index: int, mesh_or_ref: str | Mesh, mesh: Mesh
    ) -> TensorSharding:
        """Return the sharding by dimensions of the tensor at `index`."""
        mapping = rule.mappings[index]
        return self.tensors[index].sharding(mapping, rule.factor_sizes, mesh_or_ref, mesh)


def deal_axes(
    dim: DimensionSharding, factors: Sequence[int], factor_sizes: Sequence[int], mesh: Mesh
) -> dict[int, FactorSharding]:
    """Distribute the axes of a dimension to its factors, major to minor.

    1. The last factor takes all axes that are left, whether they divide it or not.
    2. Any other factor takes axes while they share a divisor with the rest of its size. Of an
       axis that does not divide the rest, it takes the major sub-axis of the greatest common
       size; the minor sub-axis is next.
    3. If such a factor is not full when it stops, the axes left are its *overflow*: the next
       factor has no axes and is closed, and factors after that get no entry.

    For axes `{"p", "q"}` of sizes 8 and 3:

    | factor sizes | factors                                                   |
    |--------------|-----------------------------------------------------------|
    | 4, 6         | `{"p":(1)4}`, `{"p":(4)2, "q"}`                           |
    | 6, 12        | `{"p":(1)2}` with overflow `{"p":(2)4, "q"}`, closed `{}` |
    """
    dealt: dict[int, FactorSharding] = {}
    rest = list(dim.axes)
    overflow: AxisTuple = ()
    for factor in factors[:-1]:
        if overflow:
            dealt[factor] = FactorSharding((), True, False)
            return dealt
        axes, is_full = _take_axes(rest, factor_sizes[factor], mesh)
        if not is_full:
            overflow, rest = tuple(rest), []
        dealt[factor] = FactorSharding(axes, dim.is_closed, False, overflow)
    for factor in factors[-1:]:
        dealt[factor] = FactorSharding(tuple(rest), dim.is_closed or bool(overflow), True)
    return dealt


def _take_axes(rest: list[AxisRef], size: int, mesh: Mesh) -> tuple[AxisTuple, bool]:
    """Take axes that divide `size` from the front of `rest`; return whether `size` is used up."""
    taken: list[AxisRef] = []
    while rest:
        axis_size = rest[0].size(mesh)
        shared = math.gcd(size, axis_size)
        if shared == 1 and axis_size != 1:
            break
        size //= shared
        if shared == axis_size:
            taken.append(rest.pop(0))
        else:
            leading, rest[0] = split_axis(rest[0], shared, mesh)
            taken.append(leading)
    return tuple(taken), size == 1


def split_axis(axis: AxisRef, size: int, mesh: Mesh) -> tuple[AxisRef, AxisRef]:
    """Split `axis` into a major sub-axis of `size`, which divides its size, and the minor rest.

    `"p"` of size 8 split at 2 gives `"p":(1)2` and `"p":(2)4`.
    """
    return (
        AxisRef.sub(axis.name, axis.pre_size, size),
        AxisRef.sub(axis.name, axis.pre_size * size, axis.size(mesh) // size),
    )


def gather_axes(
    shardings: Mapping[int, FactorSharding],
    factors: Iterable[int],
    factor_sizes: Sequence[int],
    mesh: Mesh,
) -> DimensionSharding:
    """Return the sharding of a dimension from those of its factors, major to minor.

    1. The axes of a factor follow those of the one before; adjacent sub-axes of one axis are
       merged.
    2. After a factor with overflow axes, which follow its own, the dimension ends.
    3. After a factor that is not sharded fully it ends as well: axes of later factors would need
       a strided sharding, which shardings cannot express.
    4. The dimension is closed if one of the factors visited is.

    A dimension of factors 4 and 6 with `{"p":(1)4}` and `{"p":(4)2, "q"}` gets `{"p", "q"}`; with
    `{}` and `{"q"}` it gets `{}`.
    """
    axes: AxisTuple = ()
    is_closed = False
    for factor in factors:
        sharding = shardings.get(factor)
        if sharding is None:
            break
        is_closed = is_closed or sharding.is_closed
        axes = _append_axes(axes, sharding.axes, mesh)
        if sharding.overflow_axes:
            axes = _append_axes(axes, sharding.overflow_axes, mesh)
            break
        if mesh.axes_size(sharding.axes) < factor_sizes[factor]:
            break
    return DimensionSharding(axes, is_closed)


def _append_axes(axes: AxisTuple, more: AxisTuple, mesh: Mesh) -> AxisTuple:
    return (*add_or_merge(axes, more[0], mesh), *more[1:]) if more else axes
